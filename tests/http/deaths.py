"""How workers and servers die in the tests, and when they are over it."""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

from geolookup.store.publish import publish
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.http.serving import Server
from tests.servers import accepts, until

_STARTED = re.compile(r"Spawning worker-\d+ with PID: (\d+)")


def workers(server: Server) -> list[int]:
    """Return the processes of all workers that were started, in order."""
    return [int(process) for process in _STARTED.findall(server.log)]


def kill_workers(server: Server, times: int) -> None:
    """Kill each worker as soon as it is started, so often."""
    killed: set[int] = set()

    def all_are() -> bool:
        for process in workers(server)[:times]:
            if process not in killed:
                killed.add(process)
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        return len(killed) == times

    until(all_are)


def two_generations(folder: Path) -> tuple[Path, str, Path]:
    """Make a store of two generations; return it, the first's id and the second's folder."""
    (folder / "new").mkdir()
    row = "8.8.8.0/24,FR"
    first, _ = build_at(folder / "new", {"a.csv": f"network,country_code\n{row}\n"})
    store = folder / "store"
    before = publish(first, store)
    # Copied: the files are damaged in place.
    return store, before, store / "generations" / publish(SMALL, store, copy=True)


def truncate(dataset: Path) -> None:
    """Cut off the files that each lookup reads; a worker that touches them gets SIGBUS."""
    for name in ("ipv4.arrow", "ipv4_jump.arrow", "location.arrow"):
        os.truncate(dataset / name, 64)


def until_answered(server: Server, key: str) -> str:
    """Wait for an answer; return its generation."""
    answers: list[str] = []

    def answered() -> list[str]:
        with suppress(OSError):
            answer = server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
            answers.extend([answer.headers["x-dataset-generation"]] * (answer.status == 200))
        return answers

    until(answered, lambda: server.log)
    return answers[0]


def until_free(port: int) -> None:
    """Wait until nobody listens on a port."""
    until(lambda: not accepts(port))
