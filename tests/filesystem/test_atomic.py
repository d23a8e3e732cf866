"""A folder takes its place whole or not at all, and never the place of something else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
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
        fails(tmp_path, {"a.csv": content}, max_rejects=0)
        assert names(tmp_path) == {"a.csv", "recipe.toml"}
    with monkeypatch.context() as patch:
        patch.setattr(output_files, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            build_at(tmp_path, NEW)
    assert names(tmp_path) == {"a.csv", "recipe.toml"}
    output, _ = build_at(tmp_path, OLD)
    fails(tmp_path, {"a.csv": "network,isp\nnowhere,x\n"}, max_rejects=0)
    error = unwritable(tmp_path, NEW, force=False)
    assert str(error) == f"{output}: exists already; choose another name or use --force"
    assert isps(output, "8.8.8.8") == ["old"]
    build_at(tmp_path, NEW)
    assert isps(output, "8.8.8.8") == ["new"]
    assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}


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


SOMETHING_ELSE = {
    "notes.txt": "mine",
    "manifest.json": '{"name": "a web application"}',
    "manifest.json ": "{}",
    "ipv4.arrow": "ARROW1",
}


def test_a_folder_that_holds_something_else_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    for name, text in SOMETHING_ELSE.items():
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        error = unwritable(tmp_path, NEW)
        assert str(error) == f"{folder}: is not empty and not a dataset; choose another name"
        assert (folder / name).read_text(encoding="utf-8") == text
        shutil.rmtree(folder)


def test_folders_that_may_be_replaced(tmp_path: Path) -> None:
    def check(*, force: bool) -> None:
        atomic.check_folder(target, force=force, replaceable=is_dataset)

    target = tmp_path / "place"
    check(force=False)
    target.mkdir()
    check(force=True)  # empty
    manifest = canonical({"format": fmt.FORMAT, "format_version": 99})
    (target / fmt.MANIFEST).write_bytes(manifest)  # of another version
    check(force=True)
    with pytest.raises(OutputError, match="exists already; choose another name or use --force"):
        check(force=False)


def test_files_and_links_are_no_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for link, target in (("dangling", "nowhere"), ("to-dataset", SMALL)):
        (tmp_path / link).symlink_to(target)
    for name in ("file", "dangling", "to-dataset"):
        destination = tmp_path / name
        with pytest.raises(OutputError) as caught:
            atomic.check_folder(destination, force=True, replaceable=is_dataset)
        assert str(caught.value) == f"{destination}: is not a dataset folder; choose another name"
        with pytest.raises(OutputError, match="exists already"):
            atomic.check_folder(destination, force=False, replaceable=is_dataset)
    with pytest.raises(OutputError, match=r"nowhere: no such folder; create it first"):
        atomic.check_folder(tmp_path / "nowhere" / "x", force=True, replaceable=is_dataset)


@pytest.mark.skipif(os.name != "posix", reason="a FIFO is POSIX")
def test_files_that_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    atomic.check_file(tmp_path / "new", force=False)
    atomic.check_file(tmp_path / "file", force=True)
    for name, force, problem in (
        ("file", False, "exists already"),
        (".", True, "is a folder"),
        ("nowhere/file", True, "no such folder"),
        ("fifo", True, "is not a regular file"),
    ):
        with pytest.raises(OutputError, match=problem):
            atomic.check_file(tmp_path / name, force=force)


@contextmanager
def replacing(output: Path) -> Iterator[None]:
    output.mkdir(exist_ok=True)
    (output / "a").write_text("old", encoding="utf-8")
    with atomic.staged_folder(output) as fresh:
        (fresh / "a").write_text("new", encoding="utf-8")
        yield


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
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
