"""Locks: one process at a time holds one; and files that are opened if they are regular."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from geolookup.errors import OutputError
from tests.cli.program import umask
from tests.conftest import ROOT
from tests.internals.filesystem import hold_lock, hold_lock_if_free, locks, open_regular

_HOLDER = """
import sys
from pathlib import Path
from geolookup.filesystem.locks import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_that_another_process_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Waiting names the file, and ends. The end of the other process frees the lock."""
    path, pipe = tmp_path / "lock", subprocess.PIPE
    monkeypatch.setattr(locks, "NOTICE", 0)
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with hold_lock_if_free(path) as mine:
            assert not mine
        with pytest.raises(OutputError) as caught, hold_lock(path):
            pass
        other.kill()
        monkeypatch.setattr(locks, "PATIENCE", 60)
        with hold_lock(path):
            pass
    start = f"{re.escape(str(path))}: locked by another process"
    assert re.fullmatch(rf"{start} for 0\.2 s; end it, or try again", str(caught.value))
    notice = caplog.messages[0]
    assert re.fullmatch(rf"{start}; waiting for up to 0\.2 s", notice)
    for _ in range(2):  # released by the block before
        with hold_lock_if_free(path) as mine:
            assert mine


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_only_writers_of_the_folder_can_open_a_lock_file(tmp_path: Path) -> None:
    """Others could keep the lock. A file that they can open gets the narrow mode."""
    for mode, expected in ((0o755, 0o600), (0o775, 0o660)):
        folder = tmp_path / f"{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        lock = folder / "lock"
        for mask in (0, 0o077):
            with umask(mask), hold_lock(lock):
                assert stat.S_IMODE(lock.stat().st_mode) == expected
            lock.chmod(0o666)
        with hold_lock_if_free(lock):
            assert stat.S_IMODE(lock.stat().st_mode) == expected
        (folder / "link").symlink_to(lock)
        with pytest.raises(OSError, match="symbolic links"), hold_lock(folder / "link"):
            pass


@pytest.mark.skipif(os.name != "posix", reason="FIFOs and devices are POSIX")
def test_anything_else(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path / "link", Path("/dev/zero"), Path("/dev/tty")):
        with pytest.raises(OSError, match=r"not a regular file|No such"):
            open_regular(path)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")
