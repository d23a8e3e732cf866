"""A folder takes its place whole or not at all, and never the place of something else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import OutputError
from tests.builder.building import fails, isps, unwritable
from tests.cli.program import umask
from tests.conftest import Build, build_at
from tests.datasets import SMALL
from tests.internals.builder import output_files
from tests.internals.dataset import canonical, is_dataset
from tests.internals.dataset import layout as fmt
from tests.internals.filesystem import atomic

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and FIFOs are POSIX")
OLD: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,old\n"}
NEW: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,new\n"}
FULL = "cannot be written (No space left on device); check space and permissions"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_failed_build_leaves_nothing_or_the_old_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or one that is interrupted, or refused because a dataset is there."""

    def interrupt(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    for content in ("network,isp\nnowhere,x\n", "network,ips\n", b"\xff"):
        fails(tmp_path, {"a.csv": content}, max_rejected=0)
        assert names(tmp_path) == {"a.csv", "recipe.toml"}
    with monkeypatch.context() as patch:
        patch.setattr(output_files, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            build_at(tmp_path, NEW)
    assert names(tmp_path) == {"a.csv", "recipe.toml"}
    output, _ = build_at(tmp_path, OLD)
    fails(tmp_path, {"a.csv": "network,isp\nnowhere,x\n"}, max_rejected=0)
    error = unwritable(tmp_path, NEW, force=False)
    assert str(error) == f"{output}: exists already; choose another name or use --force"
    assert isps(output, "8.8.8.8") == ["old"]
    build_at(tmp_path, NEW)
    assert isps(output, "8.8.8.8") == ["new"]
    assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}
    shutil.rmtree(output)
    output.mkdir()
    (output / "notes.txt").touch()
    error = unwritable(tmp_path, NEW)
    assert str(error) == f"{output}: is not empty and not a dataset; choose another name"
    assert names(output) == {"notes.txt"}


def test_a_full_disk_leaves_the_old_dataset(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    output, _ = build(OLD)
    for step in ("write_tables", "write", "_rename_into", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(output_files if hasattr(output_files, step) else atomic, step, full)
            error = unwritable(tmp_path, NEW)
        assert str(error) == f"{output}: {FULL}", step
        assert isps(output, "8.8.8.8") == ["old"]
        assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}


def _holding(name: str, content: bytes) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        path.mkdir()
        (path / name).write_bytes(content)

    return make


NO_FOLDER, NO_DATASET = "is not a dataset folder", "is not empty and not a dataset"
OTHER_VERSION = canonical({"format": fmt.FORMAT, "format_version": 99})
#: What is there, and why no folder and no file may replace it, even with --force.
PLACES: tuple[tuple[Callable[[Path], object], str, str], ...] = (
    (lambda path: None, "", ""),
    (Path.mkdir, "", "is a folder"),
    (_holding(fmt.MANIFEST, OTHER_VERSION), "", "is a folder"),
    (_holding("notes.txt", b"mine"), NO_DATASET, "is a folder"),
    (_holding("manifest.json", b'{"name": "a web application"}'), NO_DATASET, "is a folder"),
    (_holding("manifest.json ", b"{}"), NO_DATASET, "is a folder"),
    (_holding("ipv4.arrow", b"ARROW1"), NO_DATASET, "is a folder"),
    (Path.touch, NO_FOLDER, ""),
    (os.mkfifo, NO_FOLDER, "is not a regular file"),
    (lambda path: path.symlink_to("nowhere"), NO_FOLDER, ""),
    (lambda path: path.symlink_to(SMALL), NO_FOLDER, "is a folder"),
)


def test_what_may_be_replaced(tmp_path: Path) -> None:
    check_folder = partial(atomic.check_folder, replaceable=is_dataset)
    for at, (make, of_folder, of_file) in enumerate(PLACES):
        place = tmp_path / f"{at}"
        make(place)
        taken = "exists already" if os.path.lexists(place) else ""
        for check, force, problem in (
            (check_folder, True, of_folder),
            (check_folder, False, taken),
            (atomic.check_file, True, of_file),
            (atomic.check_file, False, of_file or taken),
        ):
            refused = pytest.raises(OutputError, match=f"^{place}: {problem}; ")
            with refused if problem else nullcontext():
                check(place, force=force)
    for check in (check_folder, atomic.check_file):
        with pytest.raises(OutputError, match=r"nowhere: no such folder; create it first"):
            check(tmp_path / "nowhere" / "x", force=True)


@contextmanager
def replacing(output: Path) -> Iterator[None]:
    output.mkdir(exist_ok=True)
    (output / "a").write_text("old", encoding="utf-8")
    with atomic.staged_folder(output) as fresh:
        (fresh / "a").write_text("new", encoding="utf-8")
        yield


def test_a_folder_is_replaced(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may read it as the umask says; it is never changed: a thread may create a file."""
    output = tmp_path / "data"

    def refused(_mask: int) -> int:
        raise AssertionError

    with umask(0o027):
        for exchange in (True, False):  # as on systems that cannot swap two folders in one step
            with monkeypatch.context() as patch:
                patch.setattr(os, "umask", refused)
                if not exchange:
                    patch.setattr(atomic, "exchange", lambda *_: False)
                with replacing(output):
                    assert (output / "a").read_text(encoding="utf-8") == "old"
                dataset, _ = build(NEW)
            assert (output / "a").read_text(encoding="utf-8") == "new"
            assert names(tmp_path) == {"data", "dataset", "a.csv", "recipe.toml"}
            for folder in (output, dataset):
                assert folder.stat().st_mode & 0o777 == 0o750
                assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o640}


def test_a_rename_that_fails_puts_the_old_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, rename = tmp_path / "data", Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == output and self.name != "old":
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError, match="Permission denied"), replacing(output):
        pass
    assert (output / "a").read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == {"data"}
