"""Workers killed with SIGKILL under load: ``python -m tests.gate.kills COUNT [URL]``."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from geolookup.gate import open_accounts
from tests.gate import hammer

_WORKERS = 3
#: Requests that a worker has under way at once; one worker after the other.
_TURNS = (1, 8)
#: Seconds from kill to kill; a new worker takes up to half a second to be there.
_BETWEEN = 0.3


class Outcome(NamedTuple):
    """What workers were admitted, and what the store says was used."""

    admitted: int
    used: int


def run(url: str, folder: Path, count: int, *, rate: int, quota: int) -> Outcome:
    """Hammer one key with workers, kill one after another, let the last ones use up the quota."""
    plans, log = folder / "plans.toml", folder / f"kills-{rate}.log"
    plans.write_text(f"[plan.p]\nrate = {rate}\nquota = {quota}\n", encoding="utf-8")
    log.touch()
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key(f"kills {rate} {time.time_ns()}", "p")
        turns = cycle(_TURNS)
        workers = [hammer.start(url, plans, key, log, turn=next(turns)) for _ in range(_WORKERS)]
        for number in range(count):
            time.sleep(_BETWEEN * random.uniform(0.5, 1.5))
            victim = workers.pop(0)
            assert victim.poll() is None, f"no load any more after {number} kills"
            victim.kill()
            victim.wait()
            workers.append(hammer.start(url, plans, key, log, turn=next(turns)))
        assert [worker.wait() for worker in workers] == [0] * _WORKERS
        used = accounts.usage()[-1].used
    return Outcome(len(hammer.admissions(log)), used)


def check(url: str, folder: Path, count: int) -> None:
    """Fail if more was admitted than the quota, or more lost than promised."""
    seconds = count * _BETWEEN * 1.2 + 2
    for rate, loss in ((100, max(_TURNS)), (1000, 1000)):
        quota = round(rate * seconds)
        found = run(url, folder, count, rate=rate, quota=quota)
        print(f"rate {rate}: quota {quota}, {found}, {count} kills")
        assert found.admitted <= found.used == quota
        assert quota - found.admitted <= count * loss


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        where = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{scratch}/accounts.db"
        check(where, Path(scratch), int(sys.argv[1]))
