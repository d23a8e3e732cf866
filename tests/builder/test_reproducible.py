"""The same inputs give the same bytes; rows are texts of up to 2 GiB."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from geolookup.errors import BuildError
from tests.archives.test_pack import digests
from tests.builder.building import recipe
from tests.conftest import ROOT, build_at
from tests.internals.builder import delimited, json_texts, row_texts
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import read_manifest
from tests.internals.parallel import parallel

TEXT = "network,country_code,city_name,asn,user_type\n" + "".join(
    f"8.{n}.0.0/{16 + n % 8},{'US' if n % 3 else 'SE'},City {n % 7},{n % 5},"
    f"{'hosting' if n % 2 else ''}\n"
    f"2a00:{n:x}::/{32 + n % 9},CY,,{n},\n"
    for n in range(100)
)


def compiled(folder: Path, text: str, name: str = "a.csv") -> Path:
    folder.mkdir()
    return build_at(folder, {name: text}, recipe(f'path = "{name}"\nname = "N"'))[0]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("one") / "1", TEXT)


def test_the_same_bytes_twice_and_other_content_another_generation(
    one: Path, tmp_path: Path
) -> None:
    # And another name of the file, whose source has a name of its own, leaves no trace.
    assert set(digests(one)) == {*fmt.FILES, fmt.MANIFEST}
    for name in ("a.csv", "b.csv"):
        assert digests(compiled(tmp_path / name, TEXT, name)) == digests(one)
    generations = {read_manifest(one).generation}
    for old, new in ((",SE,", ",DE,"), ("hosting", "business"), ("/17", "/18")):
        assert old in TEXT
        other = compiled(tmp_path / new.strip(",/"), TEXT.replace(old, new, 1))
        generations.add(read_manifest(other).generation)
    assert len(generations) == 4


@pytest.mark.parametrize("threads", [1, 5])
def test_blocks_and_the_number_of_cores_leave_no_trace(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 300)
    monkeypatch.setattr(parallel, "cores", lambda: threads)
    monkeypatch.setattr(parallel, "WORTH_THREADS", 0)
    assert digests(one) == digests(compiled(tmp_path / "2", TEXT))


def test_the_order_of_disjoint_rows_leaves_no_trace(tmp_path: Path) -> None:
    header, *rows = TEXT.splitlines(keepends=True)
    distinct = list({row.split("/", 1)[0]: row for row in rows}.values())
    one = compiled(tmp_path / "1", header + "".join(distinct))
    assert digests(one) == digests(compiled(tmp_path / "2", header + "".join(reversed(distinct))))


FILES: dict[str, str | bytes] = {
    "a.csv": "network,country_code,city_name,latitude,longitude,asn,user_type\n"
    "8.8.8.0/24,US,Boston,42.36,-71.06,1,hosting\n2a00::/16,SE,,,,,\n"
}


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders are not synced")
def test_each_file_is_synced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: Counter[int] = Counter()

    def sync(descriptor: int) -> None:
        synced[os.fstat(descriptor).st_ino] += 1

    monkeypatch.setattr(os, "fsync", sync)
    dataset, _ = build_at(tmp_path, FILES)
    paths = [*dataset.iterdir(), dataset, tmp_path]
    assert synced == Counter(path.stat().st_ino for path in paths)


@pytest.mark.long
def test_the_same_bytes_in_another_process(one: Path, tmp_path: Path) -> None:
    """Another seed of hashes, another folder, another time zone."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from tests.builder.test_reproducible import TEXT, compiled;"
        "compiled(Path(sys.argv[1]), TEXT)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "other"), str(ROOT)]
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    assert digests(one) == digests(tmp_path / "other" / "dataset")


def test_rows_are_joined_by_line_feeds_up_to_2_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    one = json_texts(pa.array(["a\nb", None], pa.string()))
    assert row_texts([one, json_texts(pa.array([1, 2]))]).to_pylist() == ['"a\\nb"\n1', "null\n2"]
    monkeypatch.setattr(pc, "binary_join_element_wise", lambda *texts: len(texts))
    column = pa.array(["x" * (1 << 20)], pa.string())
    assert row_texts([column] * 2047) == 2048
    with pytest.raises(BuildError, match="more than 2 GiB"):
        row_texts([column] * 2048)
