"""A patch of each changed file gives its bytes, and is about as large as the change."""

from __future__ import annotations

import filecmp
import gzip
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.archives.delta import apply_patch, file_patches, largest_patch
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import jump_table, sparse_index
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.integrity import verify
from tests.archives.delta.random_files import edited, table, write
from tests.archives.deltas import line
from tests.cli.program import python
from tests.conftest import build_at
from tests.tiers import one_of_each, scaled

EVERY = sorted({*fmt.FILES, *fmt.EXPLAINING})


def rebuilt(base: Path, target: Path, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    shutil.copy(target / fmt.MANIFEST, folder)
    patches = dict(file_patches(base, target))
    for name in {path.name for path in target.iterdir()} - {fmt.MANIFEST, *patches}:
        shutil.copy(base / name, folder)
    for name, patch in patches.items():
        result = bytes(apply_patch(base, folder, name, patch))
        assert result == (target / name).read_bytes(), name
        assert len(patch) <= largest_patch(len(result))
        (folder / name).write_bytes(result)
    return patches


def written(folder: Path, tables: dict[str, pa.Table]) -> Path:
    """Write tables; the intervals that indexes follow from are always there."""
    rng = np.random.default_rng(len(tables))
    needed = {name: table(name, rng, 9) for name in (fmt.IPV4, fmt.IPV6)}
    write(folder, {**needed, **tables})
    return folder


def schema(name: str) -> frozenset[str]:
    return frozenset(column.type for column in fmt.COLUMNS[name].values())


@pytest.mark.parametrize("name", one_of_each(EVERY, schema))
@settings(max_examples=scaled(3, 12))
@given(
    seed=st.integers(0, 1 << 32),
    rows=st.sampled_from([1, 2, 7, 64, 300]),
    changes=st.sampled_from([0, 1, 5, 200]),
)
def test_random_files(name: str, seed: int, rows: int, changes: int) -> None:
    rng = np.random.default_rng(seed)
    former = table(name, rng, rows)
    with TemporaryDirectory() as made:
        base = written(Path(made, "base"), {name: former})
        target = written(Path(made, "target"), {name: edited(name, former, rng, changes)})
        rebuilt(base, target, Path(made, "rebuilt"))


@pytest.mark.long
@settings(max_examples=8)
@given(seed=st.integers(0, 1 << 32), former=st.integers(0, 40), rows=st.integers(0, 40))
def test_files_without_a_common_history(seed: int, former: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    with TemporaryDirectory() as made:
        counts = {"base": former, "target": rows}
        base, target = (
            written(
                Path(made, item),
                {n: table(n, rng, count + (n in (fmt.IPV4, fmt.IPV6))) for n in EVERY},
            )
            for item, count in counts.items()
        )
        rebuilt(base, target, Path(made, "rebuilt"))


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (0, 2), (2, 0)], ids=str)
def test_compiled_datasets(tmp_path: Path, pair: tuple[int, int]) -> None:
    """The last one has files that the others do not have."""
    base, target = (line().datasets[item] for item in pair)
    patches = rebuilt(base, target, tmp_path / "rebuilt")
    former, fresh = read_manifest(base).files, read_manifest(target).files
    assert list(patches) == sorted(
        name for name in fresh if name not in former or former[name].sha256 != fresh[name].sha256
    )
    assert {fmt.IPV4, fmt.IPV6, fmt.NETWORK, *fmt.PROVENANCE.values()} <= set(patches)
    verify(tmp_path / "rebuilt", deep=True)
    assert list(file_patches(base, base)) == []


@pytest.mark.long
def test_the_same_files_give_the_same_patches() -> None:
    base, target, _ = line().datasets
    program = (
        "import hashlib, sys; from pathlib import Path\n"
        "from geolookup.archives.delta import file_patches\n"
        "patches = b''.join(patch for _, patch in file_patches(*map(Path, sys.argv[1:])))\n"
        "print(hashlib.sha256(patches).hexdigest())\n"
    )
    other = python(program, str(base), str(target)).stdout.strip()
    patches = b"".join(patch for _, patch in file_patches(base, target))
    assert hashlib.sha256(patches).hexdigest() == other


def test_a_damaged_dataset_is_one_clear_error(tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(line().datasets[1], tmp_path / "damaged"))
    (damaged / fmt.IPV4).write_bytes((damaged / fmt.IPV4).read_bytes()[:-1])
    with pytest.raises(DatasetError, match=r"ipv4\.arrow differs from its manifest"):
        list(file_patches(line().datasets[0], damaged))


def test_texts_with_bytes_between_them(tmp_path: Path) -> None:
    """Arrow allows offsets that leave bytes out; ``verify`` refuses such a dataset too."""
    offsets, data = np.array([1, 2, 4], np.int32), b"abcdefgh"
    gappy = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
    one, other = tmp_path / "plain", tmp_path / "gappy"
    write(one, {fmt.ZONE: pa.table({"zone": ["a", "b"]})})
    write(other, {fmt.ZONE: pa.table({"zone": gappy})})
    for pair in ((one, other), (other, one)):
        with pytest.raises(DatasetError, match="bytes between them"):
            list(file_patches(*pair))


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


def test_rows(tmp_path: Path) -> None:
    """A row inserted before others, whose numbers grow by one; new texts; nothing in common."""
    rng = np.random.default_rng(7)
    start = starts(rng)
    numbers = np.arange(len(start), dtype=np.uint32)
    small = (numbers % 200).astype(np.uint8)
    texts = [f"Town {number * 7919 % COUNT}" for number in range(COUNT)]
    drawn = [rng.integers(0, 1 << 32, COUNT, np.uint32) for _ in range(2)]
    for name, columns, changed_columns, most in (
        (fmt.EXPLAINED[4], {"start": start, "row": numbers}, {"row": numbers + 1}, 0),
        (fmt.PROVENANCE[4], {"start": start, "location": small}, {"location": small + 1}, 0),
        (fmt.ZONE, {"zone": texts}, {"zone": [*texts[:99], "X", *texts[100:], "Y"]}, 0),
        # The patch is the values, not their differences and positions.
        (fmt.EXPLAINED_NUMBERS, {"value": drawn[0]}, {"value": drawn[1]}, 4 * COUNT),
    ):
        folder = tmp_path / name
        folder.mkdir()
        write(folder / "base", {name: pa.table(columns)})
        write(folder / "target", {name: pa.table(columns | changed_columns)})
        patches = rebuilt(folder / "base", folder / "target", folder / "made")
        assert [*patches] == [name]
        assert len(patches[name]) < most + SMALL_PATCH, name


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


def updated(table: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """One route in a thousand goes, changes, or has a part that is routed elsewhere."""
    for number, (prefix, asn) in enumerate(table):
        kind = number % 3_000
        if kind != 1_000:
            yield prefix, (asn + number) % 60_000 + 1 if kind == 2_000 else asn
        if kind == 0 and prefix.endswith("/24"):
            yield prefix.replace("/24", "/26"), number % 60_000 + 1


@pytest.mark.long
def test_a_delta_of_a_realistic_size(tmp_path: Path) -> None:
    former = routes(Path(os.environ.get("GEOLOOKUP_SHARED_DATA", "none")))
    base = routed(tmp_path / "base", former)
    target = routed(tmp_path / "target", list(updated(former)), previous=base)
    # Over a dataset with which it shares little, it is not much larger than the whole.
    other = routed(tmp_path / "other", [(prefix, 65_000 - asn // 2) for prefix, asn in former[::2]])
    for item in (base, target):
        assert read_manifest(item).metadata().counts["ipv4_intervals"] > 200_000
    whole, delta = pack(target, tmp_path / "whole.tar.zst"), tmp_path / "delta.tar.zst"
    names = sorted(path.name for path in target.iterdir())
    for against, most in ((base, whole / 20), (other, whole * 1.1)):
        assert pack(target, delta, base=against, force=True) < most
        unpack(delta, tmp_path / "made", base=against, force=True)
        assert filecmp.cmpfiles(target, tmp_path / "made", names, shallow=False)[0] == names
