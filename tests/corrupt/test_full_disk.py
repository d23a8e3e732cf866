"""A disk that is full or changes a byte, and pages of files that are given back."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geolookup import publish
from geolookup.errors import OutputError
from tests.builder.building import unwritable
from tests.conftest import build_at
from tests.damage import CSV
from tests.datasets import SMALL
from tests.internals.builder import output_files
from tests.internals.dataset import layout as fmt
from tests.internals.filesystem import limits
from tests.internals.history import generations, prune, rollback
from tests.internals.integrity import read_tables, verify
from tests.store.numbered import id_of, shared
from tests.test_engine import mapping


@contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """Mount something on a folder for the block, or skip the test."""
    mount = ["mount", *arguments, str(folder)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("mount is not permitted here; run as root on Linux")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KiB: it holds less than the small dataset."""
    folder = tmp_path / "small"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=128k", "none"):
        yield folder


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.root
def test_build(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"20.{n}.0.0/16,{'city' * 60} {n}\n" for n in range(256))
    (small / "filler").write_bytes(bytes(40_000))
    # An input on the same disk, and no room for the dataset.
    error = unwritable(small, {"a.csv": f"network,city_name\n{rows}"})
    assert "are free on its disk" in str(error)
    # Other files take the space while the dataset is written.
    monkeypatch.setattr(limits, "check_space", lambda *_: None)
    error = unwritable(small, {"a.csv": f"network,city_name\n{rows}"})
    assert "No space left" in str(error)
    assert left(small) == ["a.csv", "filler", "recipe.toml"]


def test_a_dataset_that_reads_back_otherwise_gets_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a disk that changes a byte behind the compiler's back."""
    kept, report = build_at(tmp_path, {"a.csv": CSV})
    before = sorted(path.name for path in tmp_path.iterdir())
    written = output_files.write

    def then_changed(path: Path, text: bytes) -> None:
        written(path, text)
        locations = path.with_name(fmt.LOCATION)
        content = bytearray(locations.read_bytes())
        content[content.index(b"Dublin")] ^= 1
        locations.write_bytes(content)

    monkeypatch.setattr(output_files, "write", then_changed)
    error = unwritable(tmp_path, {"a.csv": CSV})
    assert error.path == str(tmp_path / "dataset")
    assert "the written dataset is damaged: location.arrow: its digest" in str(error)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert verify(kept).generation == report.generation


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/smaps")
def test_no_page_of_a_verified_dataset_is_in_memory(tmp_path: Path) -> None:
    tables = read_tables(shutil.copytree(SMALL, tmp_path / "dataset"))
    assert not mapping(path := tables.folder / fmt.LOCATION)[1]
    assert tables.batches[fmt.LOCATION].to_pydict()  # reads its pages
    assert mapping(path)[1]
    tables.release()
    assert not mapping(path)[1]


@pytest.mark.root
def test_prune_frees_a_full_disk(tmp_path: Path) -> None:
    """It has no room for a new pointer before it has removed a generation."""
    folder = tmp_path / "full"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=2m", "none"):
        store = folder / "store"
        for number in range(4):
            publish(shared(number), store)
        (store / "generations" / ("0" * 64)).mkdir()  # of no publication
        (folder / "filler").write_bytes(bytes(shutil.disk_usage(folder).free))
        assert not shutil.disk_usage(folder).free
        with pytest.raises(OutputError, match="No space left on device"):
            publish(shared(0), store)
        removed = prune(store, 2).removed
        assert sorted(removed) == sorted([id_of(0), id_of(1), "0" * 64])
        assert [entry.generation for entry in generations(store)] == [id_of(3), id_of(2)]
        assert shutil.disk_usage(folder).free
        verify(store)
        assert rollback(store).generation == id_of(2)
        assert {path.name for path in (store / "generations").iterdir()} == {id_of(2), id_of(3)}
