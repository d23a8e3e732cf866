"""A patch is about as large as the change: where rows are inserted, moved or renumbered too."""

from __future__ import annotations

import filecmp
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from geolookup.archives.delta.changed import changed
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import jump_table, sparse_index
from geolookup.dataset.manifest import read_manifest
from tests.archives.delta.random_files import write
from tests.archives.delta.test_roundtrip import rebuilt
from tests.conftest import build_at

COUNT = 20_000
#: Bytes of a patch in which nothing differs but a few rows: each array has a head of 16 bytes.
SMALL_PATCH = 1200


def starts(rng: np.random.Generator) -> Any:
    drawn = rng.choice(1 << 32, COUNT, replace=False)
    return np.unique(np.append(drawn, 0)).astype(np.uint32)


def write_ipv4(folder: Path, start: Any, location: Any) -> Path:
    network = np.arange(len(start), dtype=np.uint32) % 97
    columns = {"start": start, "location": location.astype(np.uint32), "network": network}
    write(
        folder,
        {fmt.IPV4: pa.table(columns), fmt.IPV4_JUMP: pa.table({"interval": jump_table(start)})},
    )
    return folder


def test_inserted_and_deleted_intervals(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    start = starts(rng)
    location = rng.integers(0, 1 << 17, len(start))
    base = write_ipv4(tmp_path / "base", start, location)
    start, location = np.delete(start, [7, 5000]), np.delete(location, [7, 5000])
    start, location = np.insert(start, 900, start[899] + 1), np.insert(location, 900, 5)
    target = write_ipv4(tmp_path / "target", start, location)
    patches = rebuilt(base, target, tmp_path / "rebuilt")
    assert len(patches[fmt.IPV4]) < SMALL_PATCH
    assert len(patches[fmt.IPV4_JUMP]) < SMALL_PATCH


def test_the_sparse_index_follows_from_the_starts(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    high = np.append(np.uint64(0), np.sort(rng.integers(1, 1 << 62, COUNT, np.uint64)))
    for name, highs in {"base": high, "target": np.delete(high, 5)}.items():
        low = pa.array(np.zeros(len(highs), np.uint64)).dictionary_encode()
        rows = np.arange(len(highs), dtype=np.uint32) // 2
        columns = {"start_high": highs, "start_low": low, "location": rows, "network": rows}
        index = pa.table({"start_high": sparse_index(highs)})
        write(tmp_path / name, {fmt.IPV6: pa.table(columns), fmt.IPV6_SPARSE_INDEX: index})
    patches = rebuilt(tmp_path / "base", tmp_path / "target", tmp_path / "rebuilt")
    assert len(patches[fmt.IPV6_SPARSE_INDEX]) < SMALL_PATCH


@pytest.mark.parametrize("name", [fmt.EXPLAINED[4], fmt.PROVENANCE[4]])
def test_rows_that_are_renumbered(tmp_path: Path, name: str) -> None:
    start = starts(np.random.default_rng(7))
    numbers = np.arange(len(start), dtype=np.uint32)
    column = "row" if name in fmt.EXPLAINED.values() else "location"
    numbers = numbers if column == "row" else (numbers % 200).astype(np.uint8)
    for folder, rows in {"base": numbers, "target": numbers + numbers.dtype.type(1)}.items():
        write(tmp_path / folder, {name: pa.table({"start": start, column: rows})})
    assert (
        len(rebuilt(tmp_path / "base", tmp_path / "target", tmp_path / "made")[name]) < SMALL_PATCH
    )


def test_new_rows_of_texts(tmp_path: Path) -> None:
    texts = [f"Town {number * 7919 % COUNT}" for number in range(COUNT)]
    for folder, zones in {"base": texts, "target": [*texts[:99], "X", *texts[100:], "Y"]}.items():
        write(tmp_path / folder, {fmt.ZONE: pa.table({"zone": zones})})
    assert (
        len(rebuilt(tmp_path / "base", tmp_path / "target", tmp_path / "made")[fmt.ZONE])
        < SMALL_PATCH
    )


def test_random_bytes_grow_by_little(tmp_path: Path) -> None:
    """Where nothing is common, the patch is the values, not their differences and positions."""
    rng = np.random.default_rng(8)
    for folder in ("base", "target"):
        values = rng.integers(0, 1 << 32, COUNT, np.uint32)
        write(tmp_path / folder, {fmt.EXPLAINED_NUMBERS: pa.table({"value": values})})
    (_, patch), *more = changed(tmp_path / "base", tmp_path / "target")
    assert not more
    assert len(patch) < 4 * COUNT + SMALL_PATCH


#: Rows of a table of routes; about as many are intervals where they are nested.
ROUTES = 300_000


def routes(folder: Path) -> list[tuple[str, int]]:
    """Prefixes and their AS: a real table of the year 2014 if it is there, else a drawn one."""
    table = folder / "bgp" / "ipasn_20140513.dat.gz"
    if table.exists():
        with gzip.open(table, "rt", encoding="utf-8") as stream:
            split = (line.rstrip().split("\t") for line in stream if not line.startswith(";"))
            return [(prefix, int(asn)) for prefix, asn in split if prefix != "0.0.0.0/0"]
    rng = np.random.default_rng(9)
    networks = np.unique(rng.integers(1 << 16, 223 << 16, ROUTES)).tolist()
    systems = rng.integers(1, 60_000, len(networks)).tolist()
    return [
        (f"{n >> 16}.{n >> 8 & 255}.{n & 255}.0/24", asn)
        for n, asn in zip(networks, systems, strict=True)
    ]


def routed(folder: Path, table: list[tuple[str, int]], **options: Any) -> Path:
    folder.mkdir()
    text = "".join(["network,asn\n", *(f"{prefix},{asn}\n" for prefix, asn in table)])
    return build_at(folder, {"a.csv": text}, **options)[0]


def edited(table: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """One route in a thousand goes, changes, or has a part that is routed elsewhere."""
    for number, (prefix, asn) in enumerate(table):
        kind = number % 3_000
        if kind != 1_000:
            yield prefix, (asn + number) % 60_000 + 1 if kind == 2_000 else asn
        if kind == 0 and prefix.endswith("/24"):
            yield prefix.replace("/24", "/26"), number % 60_000 + 1


def is_made(base: Path, target: Path, delta: Path, output: Path) -> bool:
    """Return whether a delta makes the bytes of its target."""
    unpack(delta, output, base=base)
    names = sorted(path.name for path in target.iterdir())
    return filecmp.cmpfiles(target, output, names, shallow=False)[0] == names


@pytest.mark.long
def test_a_delta_of_a_realistic_size(tmp_path: Path) -> None:
    former = routes(Path(os.environ.get("GEOLOOKUP_SHARED_DATA", "none")))
    base = routed(tmp_path / "base", former)
    target = routed(tmp_path / "target", list(edited(former)), base=base)
    for each in (base, target):
        assert read_manifest(each).metadata().counts["ipv4_intervals"] > 200_000
    whole, delta = pack(target, tmp_path / "whole.tar.zst"), tmp_path / "delta.tar.zst"
    assert pack(target, delta, base=base) < whole / 20
    assert is_made(base, target, delta, tmp_path / "made")
    # Over a dataset with which it shares little, it is not much larger than the whole.
    other = routed(tmp_path / "other", [(prefix, 65_000 - asn // 2) for prefix, asn in former[::2]])
    assert pack(target, delta, base=other, force=True) < whole * 1.1
    assert is_made(other, target, delta, tmp_path / "made-too")
