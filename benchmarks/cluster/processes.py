"""The Python workers of a cluster on this machine: their memory, and the end of one of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

_PAUSE = 0.1


def memory_of(pid: int) -> dict[str, int]:
    """Return the bytes of a process: its own, and of mapped files; none if it has ended."""
    sizes = {}
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            name, _, size = line.partition(":")
            if name in ("RssAnon", "RssFile"):
                sizes[name] = int(size.split()[0]) << 10
    return sizes


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and their own in turn."""
    processes = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = (task / "children").read_text(encoding="utf-8").split()
            for child in map(int, children):
                processes += [child, *descendants(child)]
    return processes


def is_python(pid: int) -> bool:
    """Return whether a process runs Python: the others are Java."""
    with suppress(OSError):
        return b"python" in Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
    return False


class Workers(threading.Thread):
    """Samples the Python workers below this process; ends one of them after some seconds."""

    def __init__(self, kill_after: float | None) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[str, int] = {}
        self.killed: int | None = None
        self._ends = None if kill_after is None else time.monotonic() + kill_after
        self._stopped = threading.Event()

    def run(self) -> None:
        """Sample until stopped."""
        while not self._stopped.wait(_PAUSE):
            sizes = {pid: memory_of(pid) for pid in descendants(os.getpid()) if is_python(pid)}
            for size in sizes.values():
                for name, value in size.items():
                    self.peaks[name] = max(value, self.peaks.get(name, 0))
            if self._ends is not None and time.monotonic() > self._ends and sizes:
                self._ends = None
                # The one with the most memory is at work.
                self.killed = max(sizes, key=lambda pid: sizes[pid].get("RssAnon", 0))
                os.kill(self.killed, signal.SIGKILL)

    def stop(self) -> None:
        """Stop, and wait for the last sample."""
        self._stopped.set()
        self.join()
