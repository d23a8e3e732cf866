"""Whose files decide about trust: owners, modes, parents and links, with real users."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from geolookup.errors import DatasetError
from tests.cli.program import umask
from tests.internals.filesystem import check_dataset, check_strictly, create
from tests.skips import as_root

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
OTHER = 54321


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / "parent" / "folder"
    target.mkdir(parents=True)
    for path in (tmp_path, target.parent, target):
        path.chmod(0o755)
    return target


def refused(path: Path, check: Path, problem: str, remedy: str) -> None:
    with pytest.raises(DatasetError) as caught:
        check_strictly([check])
    error = caught.value
    assert (Path(error.path), error.problem) == (path, problem)
    assert remedy in error.remedy
    assert "\n" not in str(error)


def test_a_new_file_is_for_its_owner_to_write(tmp_path: Path) -> None:
    for mask, mode in ((0, 0o644), (0o002, 0o644), (0o022, 0o644), (0o077, 0o600)):
        with umask(mask):
            create(tmp_path / f"{mask}").close()
        assert stat.S_IMODE((tmp_path / f"{mask}").stat().st_mode) == mode
    with pytest.raises(FileExistsError):
        create(tmp_path / "0")


def test_modes(folder: Path) -> None:
    file = folder / "file"
    file.touch(0o644)
    check_strictly([folder, file])
    for path in (folder.parent, folder, file):
        mode = path.stat().st_mode
        for more, problem, remedy in (
            (0o020, "its group may write it", f"chmod g-w {path}"),
            (0o002, "every user may write it", f"chmod go-w {path}"),
            (0o022, "every user may write it", f"chmod go-w {path}"),
        ):
            path.chmod(mode | more)
            refused(path, file, problem, remedy)
        path.chmod(mode)
    check_strictly([file])
    check_strictly([folder / "missing"])


def test_a_sticky_parent_may_be_writable(folder: Path) -> None:
    """As /tmp: nobody renames what belongs to others there. A checked folder may not be."""
    folder.parent.chmod(0o1777)
    check_strictly([folder])
    folder.chmod(0o1777)
    check_strictly([folder / "file"])
    refused(folder, folder, "every user may write it", "chmod go-w")


@as_root
def test_owners(folder: Path) -> None:
    file = folder / "file"
    file.touch()
    for path in (folder.parent, folder, file):
        os.chown(path, OTHER, -1)
        refused(path, file, f"belongs to {OTHER}, who can change it", f"chown root {path}")
        os.chown(path, 0, -1)
    os.chown(folder, OTHER, -1)
    os.chown(file, OTHER, -1)
    check_dataset(folder)  # of its owner, whom this user has named
    os.chown(folder, 0, -1)
    with pytest.raises(DatasetError, match=f"file: belongs to {OTHER}"):
        check_dataset(folder)


@as_root
def test_links(folder: Path, tmp_path: Path) -> None:
    """Each link, its target, and the parents of both: who owns one of them makes it lead elsewhere.

    Whoever writes a parent puts another file of that name there.
    """
    between, link = tmp_path / "between", tmp_path / "link"
    between.mkdir(0o755)
    (between / "link").symlink_to(Path("..", "parent", "folder"))
    link.symlink_to(between / "link")
    names = link, link / "file"
    check_strictly(names)
    for path in (link, between, between / "link", folder.parent, folder):
        os.chown(path, OTHER, -1, follow_symlinks=False)
        for name in names:
            refused(path, name, f"belongs to {OTHER}, who can change it", f"chown root {path}")
        os.chown(path, 0, -1, follow_symlinks=False)
    for path in (between, folder.parent):
        path.chmod(0o777)
        for name in names:
            refused(path, name, "every user may write it", "chmod go-w")
        path.chmod(0o755)


def test_a_loop_of_links(folder: Path) -> None:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    check_strictly([folder / "a"])  # whoever reads it gets an error
    refused(
        folder / "a" / "file",
        folder / "a" / "file",
        "cannot be read (Too many levels of symbolic links)",
        "check",
    )


@as_root
def test_a_dataset_of_links(folder: Path, tmp_path: Path) -> None:
    """Links to the folder and to a file of it: also their targets are checked."""
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch(0o644)
    (folder / "file").symlink_to(file)
    link.symlink_to(folder)
    check_dataset(link)
    for path in (folder, file):
        path.chmod(path.stat().st_mode | 0o002)
        with pytest.raises(DatasetError, match=f"^{path}: every user may write it"):
            check_dataset(link)
        path.chmod(path.stat().st_mode & ~0o002)
    os.chown(file, OTHER, -1)
    with pytest.raises(DatasetError, match=f"^{file}: belongs to {OTHER}"):
        check_dataset(link)


@as_root
def test_another_user(tmp_path: Path) -> None:
    """Accepts the files of root. A folder that may not be entered is refused in one line."""
    (tmp_path / "closed").mkdir(0o700)
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        user = os.geteuid()
        os.seteuid(OTHER)
        try:
            check_strictly([Path(name)])
            with pytest.raises(DatasetError, match="cannot be read"):
                check_strictly([tmp_path / "closed" / "cache" / "datasets"])
        finally:
            os.seteuid(user)
