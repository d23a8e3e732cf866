"""Several processes on one store, by the real clock: hammering, killed, forked, idle."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate import open_accounts
from tests.cli.program import python
from tests.gate import hammer, kills


@pytest.mark.long
@pytest.mark.parametrize(
    ("rate", "quota", "turn"), [(1000, 2000, 1), (1000, 2000, 8), (100, 150, 16)]
)
def test_processes_get_exactly_the_rate_and_the_quota(
    url: str, tmp_path: Path, rate: int, quota: int, turn: int
) -> None:
    """Runs and rings, requests one by one and those of an event loop."""
    plans, log = tmp_path / "own.toml", tmp_path / "log"
    kills.plan(plans, rate, quota)
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key("Acme", "p")
        workers = [hammer.start(url, plans, key, log, turn=turn) for _ in range(5)]
        assert [worker.wait() for worker in workers] == [0] * 5
        assert accounts.usage()[0].used == quota
    moments = hammer.admissions(log)
    assert len(moments) == quota
    # They asked for more than the rate, and in no second did they get more.
    assert sum(hammer.refusals(log)) > 0
    assert not hammer.exceeds(moments, rate)


@pytest.mark.long
def test_killed_workers_cost_what_is_promised_and_no_more(url: str, tmp_path: Path) -> None:
    kills.check(url, tmp_path, 4)


@pytest.mark.long
def test_eight_threads_get_exactly_the_rate_and_the_quota(url: str, plans: Path) -> None:
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key("Acme", "fast")  # 1,000 a second, 2,000 in all
        admitted: list[tuple[int, int]] = []
        too_fast: list[RateLimitError] = []

        def ask() -> None:
            """Ask until the quota is used up."""
            with suppress(QuotaError):
                while True:
                    before = time.time_ns()
                    try:
                        accounts.admit(key)
                        admitted.append((before, time.time_ns()))
                    except RateLimitError as error:
                        too_fast.append(error)
                        time.sleep(0.001)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(admitted) == 2000
    assert too_fast
    assert not hammer.exceeds(admitted, 1000)


_FORK = """
import os, sys
from geolookup.gate import open_accounts
accounts = open_accounts(sys.argv[1], sys.argv[2])
keys = [accounts.create_key(plan, plan) for plan in ("mid", "endless")]
for key in keys:
    accounts.admit(key)
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        for key in keys * 5:
            accounts.admit(key)
        accounts.close()
        os._exit(0)
    children.append(child)
for key in keys * 5:
    accounts.admit(key)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
accounts.close()
print([usage.used for usage in accounts.usage()])
"""


def test_accounts_go_on_after_a_fork(url: str, plans: Path) -> None:
    warnings = "ignore:This process:DeprecationWarning"
    done = python(_FORK, url, str(plans), PYTHONWARNINGS=warnings)
    assert done.stdout == "[26, 26]\n"
