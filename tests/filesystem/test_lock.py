"""A lock is held by one process at a time, and ends with its holder."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from geolookup.filesystem.lock import locked, locked_if_free
from tests.conftest import ROOT

_HOLDER = """
import sys
from pathlib import Path
from geolookup.filesystem.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until its standard input ends."""
    started = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "held\n"
    return started


def test_a_held_lock_is_not_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as other:
        with locked_if_free(path) as mine:
            assert not mine
        other.kill()
    with locked_if_free(path) as mine:
        assert mine
    with locked_if_free(path) as mine:  # released by the block before
        assert mine


def test_one_waits_for_the_other(tmp_path: Path) -> None:
    path, held = tmp_path / "lock", threading.Event()

    def wait() -> None:
        with locked(path):
            held.set()

    waiting = threading.Thread(target=wait)
    with locked(path):
        waiting.start()
        assert not held.wait(0.1)
    waiting.join()
    assert held.is_set()


def test_the_file_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    path.write_bytes(b"content")
    with locked(path), locked_if_free(path) as mine:
        assert not mine  # another open file, even of the same process
    assert path.read_bytes() == b"content"
