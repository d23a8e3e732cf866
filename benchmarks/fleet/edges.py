"""The edges: a store and a ``geolookup follow`` each, started, killed and watched.

Strategy: an edge is a session of its own: SIGKILL ends the follower together with its children. The
kernel ends a follower whose parent has died. What an edge has is read from the pointer of its
store, whose ``stat`` says whether it changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.mirrors.polling import STATUS
from geolookup.store import pointer

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
#: Seconds that followers get to end after SIGTERM, and between two looks at them.
_PATIENCE, _PAUSE = 10.0, 0.05


@dataclass(slots=True)
class Edge:
    """A store, the command that follows, and the process that runs it."""

    store: Path
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    generation: str = ""
    _seen: tuple[int, int] | None = field(default=None)

    def start(self) -> None:
        """Start the follower; its output goes into a file beside the store."""
        with self.store.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - this process has one thread
            )

    def ask_to_end(self) -> None:
        """Send SIGTERM to the follower."""
        if self.process is not None:
            os.kill(self.process.pid, signal.SIGTERM)

    @property
    def has_ended(self) -> bool:
        """Whether the follower has ended; not waited for, it keeps its number and its group."""
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return self.process is None or bool(os.waitid(os.P_PID, self.process.pid, options))

    def kill(self) -> None:
        """Kill the follower and its children, and wait for it."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def look(self) -> bool:
        """Read what the store has now; return whether it has a whole generation."""
        status = (self.store / pointer.CURRENT).stat()
        if self._seen != (status.st_ino, status.st_mtime_ns):
            self._seen = status.st_ino, status.st_mtime_ns
            self.generation = pointer.not_withdrawn(pointer.read(self.store))[-1].generation
        return Path(pointer.folder_of(self.store, self.generation), fmt.MANIFEST).is_file()

    @property
    def has_polled(self) -> bool:
        """Whether the follower has stated the result of a poll."""
        return (self.store / STATUS).is_file()

    def children(self) -> list[int]:
        """Return the processes that the follower has started and not yet waited for."""
        pid = self.process.pid if self.process else 0
        with contextlib.suppress(OSError):
            return [
                int(number)
                for number in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
            ]
        return []

    def memory(self) -> int | None:
        """Return the resident bytes of the follower, those that it shares included."""
        return status_bytes(self.process.pid, "VmRSS") if self.process else None


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def status_bytes(pid: int, name: str) -> int | None:
    """Return a size of /proc/PID/status in bytes, None if the process has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
    return None


def install(store: Path, edges: Path, count: int) -> list[Path]:
    """Return copies of a store whose generations share the bytes of the first one."""
    names = [edges / f"edge-{number:04}" for number in range(count)]
    for name in names:
        shutil.copytree(store, name)
        for file in (name / pointer.GENERATIONS).glob("*/*"):
            file.unlink()
            os.link(store / file.relative_to(name), file)
    return names


@contextlib.contextmanager
def run_edges(
    stores: Sequence[Path], command: Callable[[Path], Sequence[str]]
) -> Iterator[list[Edge]]:
    """Give an edge for each store, not yet started; end all that run, on every way out."""
    edges = [Edge(store, command(store)) for store in stores]
    try:
        yield edges
    finally:
        for edge in edges:
            edge.ask_to_end()
        ends = time.monotonic() + _PATIENCE
        while not all(edge.has_ended for edge in edges) and time.monotonic() < ends:
            time.sleep(_PAUSE)
        for edge in edges:
            edge.kill()
