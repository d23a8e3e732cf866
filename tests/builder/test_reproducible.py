"""The same inputs give the same bytes; with --previous, unchanged columns keep their bytes."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geolookup_builder.sources.reading import delimited

import geolookup
from geolookup import parallel
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from tests.archives.test_pack import digests
from tests.builder.building import recipe
from tests.cli.program import run
from tests.conftest import ROOT, build_at
from tests.corrupt.forging import replaced, table, write
from tests.damage import copied, without
from tests.property.compiled import content, keeps_numbers, says_the_same

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
    for old, new in (("City 1", "City 9"), ("hosting", "business"), (",SE,", ",DE,")):
        assert old in TEXT
        other = compiled(tmp_path / new, TEXT.replace(old, new, 1))
        generations.add(read_manifest(other).generation)
    other = compiled(tmp_path / "range", TEXT.replace("/17", "/18", 1))
    assert len({*generations, read_manifest(other).generation}) == 5


@pytest.mark.parametrize("threads", [1, 5])
def test_blocks_and_the_number_of_cores_leave_no_trace(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 300)
    monkeypatch.setattr(parallel, "cores", lambda: threads)
    monkeypatch.setattr(parallel, "_WORTH_THREADS", 0)
    assert digests(one) == digests(compiled(tmp_path / "2", TEXT))


def test_the_order_of_disjoint_rows_leaves_no_trace(tmp_path: Path) -> None:
    header, *rows = TEXT.splitlines(keepends=True)
    distinct = list({row.split("/", 1)[0]: row for row in rows}.values())
    one = compiled(tmp_path / "1", header + "".join(distinct))
    assert digests(one) == digests(compiled(tmp_path / "2", header + "".join(reversed(distinct))))


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


#: Each city and network is used by as many rows as its number says, so that all orders are known.
ROWS = [
    (f"8.{at}.{2 * part}.0/24", "US" if at % 2 else "SE", f"City {at}", at)
    for at in range(1, 9)
    for part in range(at)
] + [(f"2a00:{at:x}::/32", "CY", f"City {at}", at) for at in range(1, 9)]


def text(rows: list[tuple[str, str, str, int]]) -> str:
    lines = (f"{net},{country},{city},{asn}\n" for net, country, city, asn in rows)
    return "network,country_code,city_name,asn\n" + "".join(lines)


def built(
    folder: Path,
    rows: list[tuple[str, str, str, int]],
    previous: Path | None = None,
    name: str = "N",
) -> Path:
    folder.mkdir()
    source = recipe(f'path = "a.csv"\nname = "{name}"').replace('"test"', f'"{name}"')
    return build_at(folder, {"a.csv": text(rows)}, source, previous=previous)[0]


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("previous") / "d", ROWS)


def moved(at: int, city: str) -> list[tuple[str, str, str, int]]:
    """The rows, of which one is in another city."""
    rows = [*ROWS]
    rows[at] = (*rows[at][:2], city, rows[at][3])
    return rows


def cities(dataset: Path) -> list[str | None]:
    result: list[str | None] = read(dataset / fmt.LOCATION)[0].column("city_name").to_pylist()
    return result


def test_unchanged_intervals_are_unchanged_bytes(previous: Path, tmp_path: Path) -> None:
    """One row of eight in a city moves to a new one; without --previous cities change places."""
    dataset = built(tmp_path / "d", moved(30, "New"), previous)
    alone = built(tmp_path / "alone", moved(30, "New"))
    same = {*fmt.FILES} - {fmt.IPV4, fmt.LOCATION}
    assert {name for name in fmt.FILES if content(previous)[name] == content(dataset)[name]} == same
    before, after = (read(item / fmt.IPV4)[0] for item in (previous, dataset))
    differs = before.column("location").to_numpy() != after.column("location").to_numpy()
    assert np.count_nonzero(differs) == 1
    assert before.column("network").equals(after.column("network"))
    assert content(alone)[fmt.IPV6] != content(previous)[fmt.IPV6]
    says_the_same(alone, dataset)


def test_a_row_that_is_gone_leaves_no_gap(previous: Path, tmp_path: Path) -> None:
    """The last row takes its number where there is no new one."""
    rows = [row for row in ROWS if row[2] != "City 8"]
    dataset = built(tmp_path / "d", rows, previous)
    before, after = cities(previous), cities(dataset)
    assert len(after) == len(before) - 2  # in Sweden and in Cyprus
    gone = [at for at, city in enumerate(before) if city == "City 8"]
    assert min(gone) < len(after)
    assert all(after[at] in before[len(after) :] for at in gone if at < len(after))
    keeps_numbers(previous, dataset)


def test_a_country_that_is_new_leaves_the_others_their_rows(previous: Path, tmp_path: Path) -> None:
    rows = [*ROWS, ("9.9.9.0/24", "CH", "Zürich", 1)]
    dataset = built(tmp_path / "d", rows, previous)
    before, after = (read(item / fmt.COUNTRY)[0].to_pylist() for item in (previous, dataset))
    assert after[: len(before)] == before
    assert content(dataset)[fmt.IPV6] == content(previous)[fmt.IPV6]


def test_the_manifest_states_the_previous_generation(previous: Path, tmp_path: Path) -> None:
    # The same sources again give the previous dataset, to the byte.
    assert read_manifest(previous).metadata().previous is None
    assert content(built(tmp_path / "same", ROWS, previous)) == content(previous)
    second = built(tmp_path / "2", moved(0, "New"), previous)
    assert read_manifest(second).metadata().previous == read_manifest(previous).generation
    assert content(built(tmp_path / "again", moved(0, "New"), second)) == content(second)
    third = built(tmp_path / "3", moved(0, "Newer"), second)
    assert read_manifest(third).metadata().previous == read_manifest(second).generation
    # A dataset may get another name. Of a previous dataset with nothing in common nothing is left.
    dataset = built(tmp_path / "d", moved(0, "New"), previous, name="other")
    keeps_numbers(previous, dataset)
    assert read_manifest(dataset).metadata().previous == read_manifest(previous).generation
    assert geolookup.verify(dataset, deep=True).generation != read_manifest(previous).generation
    rows = [("9.9.9.0/24", "CH", "Zürich", 19281), ("9.9.8.0/24", "FR", "Lyon", 3215)]
    dataset, alone = built(tmp_path / "4", rows, previous), built(tmp_path / "alone", rows)
    assert {**content(dataset), fmt.MANIFEST: b""} == {**content(alone), fmt.MANIFEST: b""}


@pytest.mark.long
def test_the_same_bytes_in_another_process(previous: Path, tmp_path: Path) -> None:
    """With --previous and without: another seed of hashes, another folder, another time zone."""
    one = built(tmp_path / "1", moved(3, "New"), previous)
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[3]);"
        "from tests.builder.test_reproducible import ROWS, built, moved;"
        "folder = Path(sys.argv[1]); built(folder / '2', moved(3, 'New'), Path(sys.argv[2]));"
        "built(folder / '3', ROWS)"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(previous), str(ROOT)]
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    for ours, theirs in ((one, "2"), (previous, "3")):
        assert digests(ours) == digests(tmp_path / theirs / "dataset")


def test_the_output_may_be_the_previous_dataset(previous: Path, tmp_path: Path) -> None:
    """And a previous dataset may be a store, of which it is the current generation."""
    copy, store = copied(previous, tmp_path / "copy"), tmp_path / "store"
    (tmp_path / "a.csv").write_text(text(moved(0, "New")), encoding="utf-8")
    geolookup.build(tmp_path / "a.csv", copy, force=True, previous=copy)
    geolookup.verify(copy)
    assert read_manifest(copy).metadata().previous == read_manifest(previous).generation
    generation = geolookup.publish(previous, store)
    dataset = built(tmp_path / "d", moved(0, "New"), store)
    assert read_manifest(dataset).metadata().previous == generation


def test_a_damaged_previous_dataset_is_refused(previous: Path, tmp_path: Path) -> None:
    """A flipped byte, a missing file, another version."""
    copy = copied(previous, tmp_path / "copy")
    for name in (fmt.LOCATION, fmt.IPV6, fmt.ZONE):
        with without(copy / name) as data:
            flipped = bytearray(data)
            flipped[len(data) // 2] ^= 1
            (copy / name).write_bytes(flipped)
            _refused(copy, tmp_path / f"flipped {name}", f"{name}: its digest differs")
    with without(copy / fmt.NETWORK):
        _refused(copy, tmp_path / "missing", f"{fmt.NETWORK}: missing")
    document = json.loads((copy / fmt.MANIFEST).read_bytes())
    (copy / fmt.MANIFEST).write_text(json.dumps({**document, "format_version": 1}), "utf-8")
    _refused(copy, tmp_path / "version", "format version 1, but this geolookup reads 2")


def _refused(previous: Path, folder: Path, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        built(folder, ROWS, previous)
    assert not (folder / "dataset").exists()


def test_a_forged_previous_dataset_changes_only_numbers(previous: Path, tmp_path: Path) -> None:
    """Rows that lead nowhere, and each row twice: its numbers are compared, never followed."""
    copy = copied(previous, tmp_path / "copy")
    replaced(copy, fmt.LOCATION, "country", lambda rows: rows.__setitem__(slice(3, 6), [999] * 3))
    rows = table(copy, fmt.NETWORK)
    write(copy, fmt.NETWORK, rows.take([*range(len(rows)), *range(len(rows))]))
    dataset = built(tmp_path / "d", moved(0, "New"), copy)
    geolookup.verify(dataset, deep=True)
    says_the_same(built(tmp_path / "alone", moved(0, "New")), dataset)


@pytest.mark.long
def test_the_command(previous: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text(moved(0, "New")), encoding="utf-8")
    source, output = str(tmp_path / "a.csv"), str(tmp_path / "dataset")
    done = run("build", source, "--output", output, "--previous", str(previous))
    assert done.returncode == 0
    generation = read_manifest(previous).generation
    assert f"previous    {generation}\n" in run("info", output).stdout
    assert json.loads(run("info", output, "--json").stdout)["previous"] == generation
    refused = run("build", source, "--output", output, "--previous", str(tmp_path), "--force")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "no dataset here" in refused.stderr
