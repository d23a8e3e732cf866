"""Temporary files and folders of dead processes are removed, files of living ones never."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.internals.filesystem import atomic, locks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="flock is POSIX")


@contextmanager
def writing(kind: str, output: Path) -> Iterator[str]:
    """The name of the temporary file or folder of a process; it is killed after the block."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with getattr(atomic, kind)(output) as fresh:
                (fresh / "data" if fresh.is_dir() else fresh).write_bytes(bytes(1 << 16))
                os.write(write, fresh.relative_to(output.parent).parts[0].encode())
                signal.pause()
        finally:
            os._exit(1)
    try:
        yield os.read(read, 255).decode()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
        os.close(write)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", ["staged_folder", "staged_file"])
def test_what_a_process_writes_stays_until_it_is_killed(tmp_path: Path, kind: str) -> None:
    with writing(kind, tmp_path / "old") as held:
        with atomic.staged_folder(tmp_path / "new"):
            pass
        assert {path.name for path in tmp_path.iterdir()} == {held, "new"}
    assert {path.name for path in tmp_path.iterdir()} == {held, "new"}
    locks.sweep_once.cache_clear()  # as in another process
    with atomic.staged_folder(tmp_path / "newer"):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"new", "newer"}


def test_what_is_not_ours_or_in_use_stays(tmp_path: Path) -> None:
    """Other names, links and FIFOs; what a link names is not touched."""
    mark = "0123456789abcdef"
    names = [f".a.{mark}", f"a.geolookup-{mark}", f".a.geolookup-{mark}0", f".a.geolookup-{mark}.x"]
    for name in (*names, "mine"):
        (tmp_path / name).mkdir()
    link, fifo = (locks.temporary_name(tmp_path / name) for name in ("link", "fifo"))
    link.symlink_to(tmp_path / "mine")
    os.mkfifo(fifo)
    locks.sweep(tmp_path)
    with atomic.staged_folder(tmp_path / "a") as one, atomic.staged_folder(tmp_path / "b") as two:
        assert one.is_dir()
        assert two.is_dir()
    expected = {*names, "mine", link.name, fifo.name, "a", "b"}
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_removed_before_it_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may find the new folder before its lock is held."""
    mkdir, created = Path.mkdir, []

    def swept(self: Path, mode: int) -> None:
        mkdir(self, mode)
        created.append(self)
        if len(created) < 3:
            locks.sweep(tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", swept)
        with locks.temporary_folder(tmp_path / "a") as folder:
            locks.sweep(tmp_path)
            assert folder.is_dir()
            assert [*tmp_path.iterdir()] == created[2:]
    assert [*tmp_path.iterdir()] == []
