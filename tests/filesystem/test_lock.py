"""Locks: one process at a time holds one; and files that are opened if they are regular."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.internals.filesystem import hold_lock, hold_lock_if_free, open_regular

_HOLDER = """
import sys
from pathlib import Path
from geolookup.filesystem.locks import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_held_lock_is_not_free(tmp_path: Path) -> None:
    path, pipe = tmp_path / "lock", subprocess.PIPE
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with hold_lock_if_free(path) as mine:
            assert not mine
        other.kill()
    for _ in range(2):  # released by the block before
        with hold_lock_if_free(path) as mine:
            assert mine


def test_one_waits_for_the_other(tmp_path: Path) -> None:
    path, held = tmp_path / "lock", threading.Event()

    def wait() -> None:
        with hold_lock(path):
            held.set()

    waiting = threading.Thread(target=wait)
    with hold_lock(path):
        waiting.start()
        assert not held.wait(0.1)
    waiting.join()
    assert held.is_set()


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
