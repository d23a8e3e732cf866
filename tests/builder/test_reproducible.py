"""The same inputs give the same bytes; what a build of few rows does besides its work."""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.sources.reading import delimited

from geolookup import parallel
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from tests.builder.building import recipe
from tests.conftest import build_at

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


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("one") / "1", TEXT)


def test_the_same_bytes_twice_and_other_content_another_generation(
    one: Path, tmp_path: Path
) -> None:
    # And another name of the file, whose source has a name of its own, leaves no trace.
    assert set(digests(one)) == {*fmt.FILES, fmt.MANIFEST}
    for name in ("a.csv", "b.csv"):
        assert digests(built(tmp_path / name, TEXT, name)) == digests(one)
    generations = {read_manifest(one).generation}
    for old, new in (("City 1", "City 9"), ("hosting", "business"), (",SE,", ",DE,")):
        assert old in TEXT
        other = built(tmp_path / new, TEXT.replace(old, new, 1))
        generations.add(read_manifest(other).generation)
    other = built(tmp_path / "range", TEXT.replace("/17", "/18", 1))
    assert len({*generations, read_manifest(other).generation}) == 5


@pytest.mark.parametrize("threads", [1, 5])
def test_blocks_and_the_number_of_cores_leave_no_trace(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 300)
    monkeypatch.setattr(parallel, "cores", lambda: threads)
    monkeypatch.setattr(parallel, "_WORTH_THREADS", 0)
    assert digests(one) == digests(built(tmp_path / "2", TEXT))


def test_the_order_of_disjoint_rows_leaves_no_trace(tmp_path: Path) -> None:
    header, *rows = TEXT.splitlines(keepends=True)
    distinct = list({row.split("/", 1)[0]: row for row in rows}.values())
    one = built(tmp_path / "1", header + "".join(distinct))
    assert digests(one) == digests(built(tmp_path / "2", header + "".join(reversed(distinct))))


def test_the_manifest_tells_nothing_of_the_build(one: Path) -> None:
    text = (one / fmt.MANIFEST).read_text(encoding="utf-8")
    assert str(one.parent) not in text
    assert "a.csv" not in text
    assert {"created", "time", "host", "pyarrow"}.isdisjoint(json.loads(text))


FILES: dict[str, str | bytes] = {
    "a.csv": "network,country_code,city_name,latitude,longitude,asn,user_type\n"
    "8.8.8.0/24,US,Boston,42.36,-71.06,1,hosting\n2a00::/16,SE,,,,,\n"
}


def test_no_thread_and_no_type_of_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    start = threading.Thread.start

    def starting(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starting)
    build_at(tmp_path, FILES)
    assert started == []
    # Where no type is stated, Arrow imports dateutil again for each value, present or not.
    imported: list[str] = []
    real = builtins.__import__

    def importing(name: str, *arguments: Any, **options: Any) -> Any:
        imported.append(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", importing)
    build_at(tmp_path, FILES)
    assert "dateutil.relativedelta" not in imported


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders are not synced")
def test_each_file_is_synced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: Counter[int] = Counter()

    def sync(descriptor: int) -> None:
        synced[os.fstat(descriptor).st_ino] += 1

    monkeypatch.setattr(os, "fsync", sync)
    dataset, _ = build_at(tmp_path, FILES)
    paths = [*dataset.iterdir(), dataset, tmp_path]
    assert synced == Counter(path.stat().st_ino for path in paths)
