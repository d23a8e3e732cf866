"""A patch of each changed file, applied to the base, gives the bytes of the file.

Strategy: random files of every name in the layout, edited at random, with values that no
compiler would write; then datasets that were compiled.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.archives.delta.applied import applied, largest_patch
from geolookup.archives.delta.changed import changed
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.integrity import verify
from tests.archives.delta.random_files import edited, table, write
from tests.builder.building import recipe
from tests.conftest import build_at
from tests.datasets import once
from tests.store.numbered import shared
from tests.tiers import one_of_each, scaled

EVERY = sorted({*fmt.FILES, *fmt.EXPLAINING})


def rebuilt(base: Path, target: Path, folder: Path) -> dict[str, bytes]:
    """Apply the patches of ``target`` over ``base`` in a folder, compare, return the patches."""
    folder.mkdir()
    shutil.copy(target / fmt.MANIFEST, folder)
    patches = dict(changed(base, target))
    for name in {each.name for each in target.iterdir()} - {fmt.MANIFEST, *patches}:
        shutil.copy(base / name, folder)
    for name, patch in patches.items():
        found = bytes(applied(base, folder, name, patch))
        assert found == (target / name).read_bytes(), name
        assert len(patch) <= largest_patch(len(found))
        (folder / name).write_bytes(found)
    return patches


def written(folder: Path, tables: dict[str, pa.Table]) -> Path:
    """Write tables; the intervals that indexes follow from are always there."""
    rng = np.random.default_rng(len(tables))
    needed = {name: table(name, rng, 9) for name in (fmt.IPV4, fmt.IPV6)}
    write(folder, {**needed, **tables})
    return folder


def schema(name: str) -> frozenset[str]:
    """Return the types of the columns of a file."""
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
                Path(made, each),
                {n: table(n, rng, count + (n in (fmt.IPV4, fmt.IPV6))) for n in EVERY},
            )
            for each, count in counts.items()
        )
        rebuilt(base, target, Path(made, "rebuilt"))


def compiled(folder: Path, change: int) -> Path:
    """A dataset with all its files; another number changes, inserts and deletes rows of it."""
    rows = [f"{n + 1}.0.0.0/{9 + n % 8},{n % 40},Town {n % 40},AS{n % 9}" for n in range(120)]
    rows += [
        f"2001:{n:x}::/{32 + n % 40},{n % 40},Town {n % 40},AS{n % 9}" for n in range(4096, 4196)
    ]
    if change:
        rows[30:60:7] = [row.replace("Town", f"New {change}") for row in rows[30:60:7]]
        rows[90:92] = ["9.0.0.0/24,1,Town 1,AS5", "9.0.9.0/24,2,Village,AS99"]
        del rows[130:140:3]
    cells = "\n".join(rows).replace("AS", "")
    folder.mkdir()
    text = recipe('path = "a.csv"', 'path = "b.csv"').replace('"test"', '"test"\nexplain = "full"')
    csv: dict[str, str | bytes] = {"a.csv": f"network,latitude,city_name,asn\n{cells}\n"}
    csv["b.csv"] = f"network,user_type\n8.0.0.0/8,hosting\n9.9.0.{change}/32,business\n"
    return build_at(folder, csv, text)[0]


@pytest.fixture(scope="module")
def line() -> tuple[Path, Path]:
    """A dataset, and the next one of the same source; nobody may change them."""
    old, new = (once(f"archives-{n}", partial(compiled, change=n)) for n in (0, 1))
    return old / "dataset", new / "dataset"


@pytest.mark.parametrize("forward", [True, False])
def test_compiled_datasets(line: tuple[Path, Path], tmp_path: Path, *, forward: bool) -> None:
    base, target = line if forward else line[::-1]
    patches = rebuilt(base, target, tmp_path / "rebuilt")
    former, fresh = read_manifest(base).files, read_manifest(target).files
    assert list(patches) == sorted(n for n in fresh if former[n].sha256 != fresh[n].sha256)
    assert {fmt.IPV4, fmt.LOCATION, *fmt.EXPLAINED.values()} <= set(patches)
    verify(tmp_path / "rebuilt", deep=True)


def test_a_dataset_with_files_that_its_base_does_not_have(
    line: tuple[Path, Path], tmp_path: Path
) -> None:
    base = shared(1)
    assert set(rebuilt(base, line[0], tmp_path / "more")) >= set(fmt.EXPLAINING)
    rebuilt(line[0], base, tmp_path / "fewer")


def test_a_dataset_over_itself_has_no_patches() -> None:
    assert list(changed(shared(1), shared(1))) == []


@pytest.mark.long
def test_the_same_files_give_the_same_patches(line: tuple[Path, Path]) -> None:
    """In this process and in another."""
    base, target = line
    program = (
        "import hashlib, sys; from pathlib import Path\n"
        "from geolookup.archives.delta.changed import changed\n"
        "patches = b''.join(patch for _, patch in changed(*map(Path, sys.argv[1:])))\n"
        "print(hashlib.sha256(patches).hexdigest())\n"
    )
    command = [sys.executable, "-c", program, str(base), str(target)]
    other = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    patches = b"".join(patch for _, patch in changed(base, target))
    assert hashlib.sha256(patches).hexdigest() == other


def test_a_damaged_dataset_is_one_clear_error(line: tuple[Path, Path], tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(line[1], tmp_path / "damaged"))
    (damaged / fmt.IPV4).write_bytes((damaged / fmt.IPV4).read_bytes()[:-1])
    with pytest.raises(DatasetError, match=r"ipv4\.arrow differs from its manifest"):
        list(changed(line[0], damaged))


def test_texts_with_bytes_between_them(tmp_path: Path) -> None:
    """Arrow allows offsets that leave bytes out; the bytes of the file are kept all the same."""
    offsets, data = np.array([1, 2, 4], np.int32), b"abcdefgh"
    gappy = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
    one, other = tmp_path / "plain", tmp_path / "gappy"
    write(one, {fmt.ZONE: pa.table({"zone": ["a", "b"]})})
    write(other, {fmt.ZONE: pa.table({"zone": gappy})})
    rebuilt(one, other, tmp_path / "there")
    rebuilt(other, one, tmp_path / "back")
