"""The rate and the quota in every store and process, by a plain list of all admissions."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from geolookup.errors import AccountsError
from tests.cli.program import python
from tests.gate.conftest import SECOND, START, FakeClock, Open, Worker
from tests.internals.gate import (
    ADMITTED,
    ALL_ADMITTED,
    EXHAUSTED,
    GONE,
    Decision,
    Key,
    Plan,
    Requests,
    audit,
    back_up,
    restore,
)
from tests.tiers import scaled

_names = itertools.count()
#: Waits at every edge of a second, and any others; below 0 the clock is set back.
WAITS = st.sampled_from(
    [0, 1, SECOND // 2, SECOND - 1, SECOND, -1, 1 - SECOND, -SECOND, -9 * SECOND]
) | st.integers(-SECOND, 2 * SECOND)
#: The wait, the rate, the quota, and how many requests of each account come together.
STEPS = st.lists(
    st.tuples(
        WAITS,
        st.sampled_from([1, 2, 3, 5, 200]),
        st.sampled_from([None, None, 20]),
        st.lists(st.integers(0, 6), min_size=3, max_size=3),
    ),
    max_size=40,
)
Steps = Sequence[tuple[int, int, int | None, list[int]]]


class Log:
    """All admissions of an account: the rule of the contract, by brute force."""

    def __init__(self) -> None:
        self.stamps: list[int] = []

    def decide(self, now: int, plan: Plan, number: int) -> Decision:
        if self.stamps and self.stamps[-1] > now:
            expired = self.stamps[-1] - SECOND
            self.stamps = [0 if stamp <= expired else min(stamp, now) for stamp in self.stamps]
        for admitted in range(number):
            free = self._free_at(now, plan.rate)
            if free > now:
                return Decision(admitted, free)
            if len(self.stamps) >= plan.limit:
                return Decision(admitted, EXHAUSTED)
            self.stamps.append(now)
        return ALL_ADMITTED

    def _free_at(self, now: int, rate: int) -> int:
        moments = [now, *(stamp + SECOND for stamp in self.stamps if stamp + SECOND > now)]
        return next(moment for moment in moments if self._recent(moment) < rate)

    def _recent(self, now: int) -> int:
        return sum(stamp > now - SECOND for stamp in self.stamps)


def account(accounts: Worker) -> int:
    """Make an account and return its number in the store."""
    name = f"account {next(_names)}"
    digest = name.encode().ljust(32, b".")
    new = Key(digest, "live", 0, name, "tiny", START, None)
    accounts.store.add(new, audit.entry(START, audit.CREATED, new))
    (key,) = accounts.store.find([digest])
    assert isinstance(key, Key)
    return key.account


def used(accounts: Worker, numbers: list[int]) -> list[int]:
    """Return the usage of accounts; numbers count from 1."""
    usage = accounts.usage()
    return [usage[number - 1].used for number in numbers]


#: The rate of 3, lowered from 5, raised from 2, and with the clock set back.
SLIDING: Steps = [(0, 3, None, [1]), (300, 3, None, [3]), (SECOND - 300, 3, None, [3])]
LOWERED: Steps = [(0, 5, None, [2]), (9, 5, None, [3]), (9, 2, None, [1]), (SECOND, 2, None, [3])]
RAISED: Steps = [(0, 2, None, [3]), (9, 5, None, [4]), (SECOND, 5, 9, [3]), (9, 200, 20, [99])]
SET_BACK: Steps = [(0, 3, None, [1]), (500, 3, None, [1]), (-300, 3, None, [2])]
#: One request a second, then the clock is set back by a minute: only the last one is recent.
SLOW_BEFORE_SET_BACK: Steps = [(SECOND, 5, None, [1])] * 20 + [(-60 * SECOND, 5, None, [5])]


@settings(
    max_examples=scaled(30, 300),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
@example(steps=SLIDING)
@example(steps=LOWERED)
@example(steps=RAISED)
@example(steps=SET_BACK)
@example(steps=SLOW_BEFORE_SET_BACK)
def test_every_store_decides_as_the_list(worker: Open, clock: FakeClock, steps: Steps) -> None:
    """Of several workers in turn; with a quota, rates that change, and a clock that is set back."""
    workers = itertools.cycle([worker(), worker()])
    numbers = [account(next(workers)) for _ in range(3)]
    logs = [Log() for _ in numbers]
    for wait, rate, quota, counts in steps:
        clock.now += wait
        plan = Plan("p", rate, quota)
        pairs = [pair for pair in zip(numbers, counts, strict=False) if pair[1]]
        decisions = next(workers).store.admit([Requests(one, plan, count) for one, count in pairs])
        for (number, count), actual in zip(pairs, decisions, strict=True):
            expected = logs[numbers.index(number)].decide(clock.now, plan, count)
            # If all are admitted, their number is not read.
            assert (actual if actual.refusal else ALL_ADMITTED) == expected
    assert used(next(workers), numbers) == [len(log.stamps) for log in logs]


def test_a_high_rate_is_exact_and_keeps_few_runs(
    worker: Open, clock: FakeClock, file: Path
) -> None:
    accounts, log = worker(), Log()
    number, plan = account(accounts), Plan("p", 500, None)
    for count in [1, 2] * 600:
        clock.now += 2500
        (actual,) = accounts.store.admit([Requests(number, plan, count)])
        expected = log.decide(clock.now, plan, count)
        assert (actual if actual.refusal else ALL_ADMITTED) == expected
    if not accounts.remote:
        with closing(sqlite3.connect(file)) as db:
            assert db.execute("SELECT count(*) FROM run").fetchone()[0] < 500 + 64


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # Redis has its own backups
def test_after_a_restore_no_request_is_recent(
    worker: Open, url: str, tmp_path: Path, clock: FakeClock
) -> None:
    accounts = worker()
    number, plan = account(accounts), Plan("p", 2, 5)
    assert accounts.store.admit([Requests(number, plan, 3)]) == [(2, clock.now + SECOND)]
    back_up(url, tmp_path / "backup")
    restore(url, tmp_path / "backup")
    assert accounts.store.admit([Requests(number, plan, 3)]) == [(2, clock.now + SECOND)]
    assert used(accounts, [number]) == [4]


def test_a_batch_is_admitted_whole_or_not_at_all(worker: Open, file: Path) -> None:
    """Whatever the plans of its accounts are; an account that is gone fails alone."""
    accounts = worker()
    fast, slow = account(accounts), account(accounts)
    requests = [Requests(fast, Plan("fast", 9000, None)), Requests(slow, Plan("slow", 5, None))]
    gone = Requests(slow + 1, Plan("slow", 5, None))
    decisions = accounts.store.admit([*requests, gone])
    assert [decision.refusal for decision in decisions] == [ADMITTED, ADMITTED, GONE]
    if not accounts.remote:
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.execute(
                "CREATE TRIGGER fails BEFORE INSERT ON run WHEN NEW.account = 2"
                " BEGIN SELECT raise(ABORT, 'no space'); END"
            )
        with pytest.raises(AccountsError, match="no space"):
            accounts.store.admit(requests)
    assert used(accounts, [fast, slow]) == [1, 1]


_FORK = """
import os, sys, time
from threading import Thread
from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate import open_accounts
url, plans, children, threads = sys.argv[1:]
# Ten times as fast: 300 requests at 100 a second take 0.2 seconds.
accounts = open_accounts(url, plans, clock=lambda: time.time_ns() // 100)
key = accounts.create_key("Acme", "p")
accounts.admit(key)
admitted = [1]

def ask():
    while True:
        try:
            accounts.admit(key)
            admitted.append(1)
        except RateLimitError:
            time.sleep(0.0005)
        except QuotaError:
            return

pipes = []
for _ in range(int(children)):
    read, write = os.pipe()
    if not os.fork():
        admitted.clear()
        ask()
        accounts.close()
        os.write(write, b"%d" % len(admitted))
        os._exit(0)
    os.close(write)
    pipes.append(read)
asking = [Thread(target=ask) for _ in range(int(threads))]
for thread in asking:
    thread.start()
for thread in asking:
    thread.join()
(usage,) = accounts.usage()
print(len(admitted) + sum(int(os.read(pipe, 9)) for pipe in pipes), usage.used)
"""


@pytest.mark.parametrize(("rate", "children", "threads"), [(100, 0, 1), (100, 1, 1), (1000, 3, 4)])
def test_a_quota_of_300_admits_300(
    url: str, tmp_path: Path, rate: int, children: int, threads: int
) -> None:
    """In 1, 2 or 4 processes, forked while the store was in use, and in threads."""
    plans = tmp_path / "own.toml"
    plans.write_text(f"[plan.p]\nrate = {rate}\nquota = 300\n", encoding="utf-8")
    arguments = (url, str(plans), str(children), str(threads))
    warnings = "ignore:This process:DeprecationWarning"
    assert python(_FORK, *arguments, PYTHONWARNINGS=warnings).stdout == "300 300\n"
