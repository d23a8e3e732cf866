"""The same inputs give the same bytes; the generation is of the content and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from geolookup_builder.sources.reading import delimited

from geolookup import parallel
from geolookup.dataset import layout as fmt
from tests.builder.building import recipe
from tests.conftest import ROOT, build_at

TEXT = "network,country_code,city_name,asn,user_type\n" + "".join(
    f"8.{n}.0.0/{16 + n % 8},{'US' if n % 3 else 'SE'},City {n % 7},{n % 5},"
    f"{'hosting' if n % 2 else ''}\n"
    f"2a00:{n:x}::/{32 + n % 9},CY,,{n},\n"
    for n in range(100)
)


def digests(folder: Path) -> dict[str, str]:
    """The content of each file, and that there is nothing but files."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def built(folder: Path, text: str, name: str = "a.csv") -> Path:
    folder.mkdir()
    return build_at(folder, {name: text}, recipe(f'path = "{name}"\nname = "N"'))[0]


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    one, other = built(tmp_path / "1", TEXT), built(tmp_path / "2", TEXT)
    assert digests(one) == digests(other)
    assert set(digests(one)) == {*fmt.FILES, fmt.MANIFEST}


@pytest.mark.long
def test_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Another seed of hashes, another folder, another time zone."""
    one = built(tmp_path / "1", TEXT)
    (tmp_path / "2").mkdir()
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from tests.builder.test_reproducible import TEXT, build_at, recipe;"
        "build_at(Path(sys.argv[1]), {'a.csv': TEXT}, recipe('path = \"a.csv\"\\nname = \"N\"'))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "2"), str(ROOT)]
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    assert digests(one) == digests(tmp_path / "2" / "dataset")


def test_blocks_leave_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = built(tmp_path / "1", TEXT)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 300)
    assert digests(one) == digests(built(tmp_path / "2", TEXT))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_cores_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    one = built(tmp_path / "1", TEXT)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 300)
    monkeypatch.setattr(parallel, "cores", lambda: threads)
    monkeypatch.setattr(parallel, "_WORTH_THREADS", 0)
    assert digests(one) == digests(built(tmp_path / "2", TEXT))


def test_the_order_of_disjoint_rows_leaves_no_trace(tmp_path: Path) -> None:
    header, *rows = TEXT.splitlines(keepends=True)
    distinct = list({row.split("/", 1)[0]: row for row in rows}.values())
    one = built(tmp_path / "1", header + "".join(distinct))
    assert digests(one) == digests(built(tmp_path / "2", header + "".join(reversed(distinct))))


def test_another_file_name_of_the_same_name_leaves_no_trace(tmp_path: Path) -> None:
    one, other = built(tmp_path / "1", TEXT), built(tmp_path / "2", TEXT, "b.csv")
    assert digests(one) == digests(other)


@pytest.mark.parametrize(
    ("old", "new"),
    [("City 1", "City 9"), ("hosting", "business"), (",SE,", ",DE,"), ("/17", "/18")],
)
def test_other_content_is_another_generation(tmp_path: Path, old: str, new: str) -> None:
    assert old in TEXT
    one, other = built(tmp_path / "1", TEXT), built(tmp_path / "2", TEXT.replace(old, new, 1))
    generations = [json.loads((f / fmt.MANIFEST).read_bytes())["generation"] for f in (one, other)]
    assert generations[0] != generations[1]


def test_the_manifest_tells_nothing_of_the_build(tmp_path: Path) -> None:
    text = (built(tmp_path / "1", TEXT) / fmt.MANIFEST).read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert "a.csv" not in text
    assert {"created", "time", "host", "pyarrow"}.isdisjoint(json.loads(text))
