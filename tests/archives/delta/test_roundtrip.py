"""A patch of each changed file gives its bytes, and is about as large as the change."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.archives.delta.random_files import edited, table, write
from tests.internals.archives import apply_patch, file_patches, largest_patch
from tests.internals.dataset import layout as fmt
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


@pytest.mark.long
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
