"""Workers killed with SIGKILL under load: ``python -m tests.gate.kills COUNT [URL]``."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from geolookup.gate import open_accounts
from geolookup.gate.plans import MAX_QUOTA
from tests.gate import hammer
from tests.servers import PATIENCE

_WORKERS = 3
#: Requests that a worker has under way at once; one worker after the other.
_TURNS = (1, 8)
#: Seconds from the first admission of a worker that is watched to its death, at most.
_LONGEST = 0.1
#: Plans: requests a second, and the pause between two turns of a worker. With a pause they stay
#: under the rate.
_PLANS = ((100, 0.0), (1000, 0.0), (8000, 0.002))


class Outcome(NamedTuple):
    """What workers were admitted, what the store says was used, the quota, and what may be lost."""

    admitted: int
    used: int
    quota: int
    allowed: int


class Worker(NamedTuple):
    """A process under load, its requests under way at once, and the log of its admissions."""

    process: subprocess.Popen[bytes]
    turn: int
    log: Path

    def kill(self, delay: float) -> int:
        """Kill the worker some time after an admission of now; return what may be lost.

        These are the requests in progress, which the store counted and no log has.
        """
        before = self.size()
        self.wait(lambda: self.size() > before)
        time.sleep(delay)
        self.process.kill()
        self.process.wait()
        return self.turn

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait for what a worker under load brings about."""
        until = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, "ended by itself"
            assert time.monotonic() < until, "not admitted, so its death would show nothing"
            time.sleep(0.001)

    def end(self) -> None:
        """Let the worker end."""
        self.wait(lambda: self.size() > 0)
        self.process.terminate()
        assert self.process.wait() == 0

    def size(self) -> int:
        return self.log.stat().st_size


def run(url: str, folder: Path, count: int, *, rate: int, pause: float) -> Outcome:
    """Load one key by workers, kill them one by one, let others use up a quota."""
    plans = folder / "plans.toml"
    plan(plans, rate, MAX_QUOTA)
    turns, logs, allowed = cycle(_TURNS), list[Path](), 0
    delays = random.Random(rate)
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key(f"kills {rate} {time.time_ns()}", "p")

        def start(pause: float) -> Worker:
            logs.append(folder / f"kills-{rate}-{len(logs)}.log")
            logs[-1].write_bytes(b"")
            turn = next(turns)
            worker = hammer.start(url, plans, key, logs[-1], turn=turn, pause=pause)
            return Worker(worker, turn, logs[-1])

        workers = [start(pause) for _ in range(_WORKERS)]
        for _ in range(count):
            allowed += workers.pop(0).kill(delays.uniform(0, _LONGEST))
            workers.append(start(pause))
        for worker in workers:
            worker.end()
        quota = accounts.usage()[-1].used + rate * 3 // 2
        plan(plans, rate, quota)
        last = [start(0) for _ in range(_WORKERS)]
        assert [worker.process.wait() for worker in last] == [0] * _WORKERS
        used = accounts.usage()[-1].used
    return Outcome(sum(len(hammer.admissions(log)) for log in logs), used, quota, allowed)


def plan(file: Path, rate: int, quota: int) -> None:
    file.write_text(f"[plan.p]\nrate = {rate}\nquota = {quota}\n", encoding="utf-8")


def check(url: str, folder: Path, count: int) -> None:
    """Fail if more was admitted than the quota, or more lost than promised."""
    for rate, pause in _PLANS:
        result = run(url, folder, count, rate=rate, pause=pause)
        lost = result.quota - result.admitted
        print(f"rate {rate}: {result}, {count} kills, {lost} lost")
        assert result.admitted <= result.used == result.quota
        assert lost <= result.allowed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        where = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{scratch}/accounts.db"
        check(where, Path(scratch), int(sys.argv[1]))
