"""A dataset takes its place whole or not at all, and never the place of something else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder import write

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from geolookup.filesystem import atomic
from tests.builder.building import fails, isps, unwritable
from tests.conftest import Build, build_at

OLD: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,old\n"}
NEW: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,new\n"}
BAD: dict[str, str | bytes] = {"a.csv": "network,isp\nnowhere,x\n"}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("content", ["network,isp\nnowhere,x\n", "network,ips\n", b"\xff"])
def test_a_failed_build_leaves_nothing(tmp_path: Path, content: str | bytes) -> None:
    fails(tmp_path, {"a.csv": content}, max_rejects=0)
    assert names(tmp_path) == {"a.csv", "recipe.toml"}


def test_a_failed_build_leaves_the_old_dataset(build: Build, tmp_path: Path) -> None:
    output, _ = build(OLD)
    fails(tmp_path, BAD, max_rejects=0)
    assert isps(output, "8.8.8.8") == ["old"]
    assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}


@pytest.mark.parametrize("step", ["write_tables", "write_manifest", "_rename_into", "fsync_folder"])
def test_a_full_disk_leaves_the_old_dataset(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    output, _ = build(OLD)

    def full(*_arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write if hasattr(write, step) else atomic, step, full)
    error = unwritable(tmp_path, NEW)
    problem = "cannot be written (No space left on device); check space and permissions"
    assert str(error) == f"{output}: {problem}"
    assert isps(output, "8.8.8.8") == ["old"]
    assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "write_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build_at(tmp_path, NEW)
    assert names(tmp_path) == {"a.csv", "recipe.toml"}


@pytest.mark.parametrize("exchange", [True, False])
def test_force_replaces(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    build(OLD)
    if not exchange:  # as on systems that cannot swap two folders in one step
        monkeypatch.setattr(atomic, "_exchange", lambda *_: False)
    output, _ = build(NEW)
    assert isps(output, "8.8.8.8") == ["new"]
    assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}


def test_a_rename_that_fails_puts_the_old_back(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, _ = build(OLD)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == output and self.name != "old":
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(atomic, "_exchange", lambda *_: False)
    monkeypatch.setattr(Path, "rename", failing)
    unwritable(tmp_path, NEW)
    assert isps(output, "8.8.8.8") == ["old"]
    assert names(tmp_path) == {"a.csv", "recipe.toml", "dataset"}


def test_without_force_nothing_is_replaced(build: Build, tmp_path: Path) -> None:
    output, _ = build(OLD)
    error = unwritable(tmp_path, NEW, force=False)
    remedy = "choose another name or use --force"
    assert str(error) == f"{output}: exists already; {remedy}"
    assert isps(output, "8.8.8.8") == ["old"]


SOMETHING_ELSE = {
    "notes.txt": "mine",
    "manifest.json": '{"name": "a web application"}',
    "manifest.json ": "{}",
    "ipv4.arrow": "ARROW1",
}


@pytest.mark.parametrize("name", SOMETHING_ELSE)
def test_a_folder_that_holds_something_else_is_kept(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / name).write_text(SOMETHING_ELSE[name], encoding="utf-8")
    error = unwritable(tmp_path, NEW)
    assert str(error) == f"{folder}: is not empty and not a dataset; choose another name"
    assert (folder / name).read_text(encoding="utf-8") == SOMETHING_ELSE[name]


def test_a_dataset_of_another_version_may_be_replaced(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / fmt.MANIFEST).write_bytes(canonical({"format": fmt.FORMAT, "format_version": 99}))
    output, _ = build(NEW)
    assert isps(output, "8.8.8.8") == ["new"]


def test_an_empty_folder_is_taken_with_force(build: Build, tmp_path: Path) -> None:
    (tmp_path / "dataset").mkdir()
    assert isps(build(NEW)[0], "8.8.8.8") == ["new"]


def test_a_file_or_link_in_the_place(tmp_path: Path) -> None:
    place = tmp_path / "dataset"
    place.write_text("mine", encoding="utf-8")
    assert (
        str(unwritable(tmp_path, NEW)) == f"{place}: is not a dataset folder; choose another name"
    )
    place.unlink()
    place.symlink_to(tmp_path / "nowhere")
    assert (
        str(unwritable(tmp_path, NEW)) == f"{place}: is not a dataset folder; choose another name"
    )
    assert "exists already" in str(unwritable(tmp_path, NEW, force=False))


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_others_may_read_it_as_the_umask_says(build: Build) -> None:
    before = os.umask(0o027)
    try:
        output, _ = build(NEW)
    finally:
        os.umask(before)
    assert output.stat().st_mode & 0o777 == 0o750
    assert {path.stat().st_mode & 0o777 for path in output.iterdir()} == {0o640}


def test_the_umask_of_the_process_is_never_changed(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may create a file at any moment."""

    def refused(_mask: int) -> int:
        raise AssertionError

    monkeypatch.setattr(os, "umask", refused)
    build(OLD)
    assert isps(build(NEW)[0], "8.8.8.8") == ["new"]
