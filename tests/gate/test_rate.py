"""The rate against a plain list of admissions, with a fake clock, in every store."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from geolookup.errors import RateLimitError
from geolookup.gate.account_store import NewKey
from geolookup.gate.accounts import Accounts
from geolookup.gate.admission import Exact, Leased
from geolookup.gate.leases import BUCKET, BUCKETS, Lease, Table
from geolookup.gate.plans import Plan
from tests.gate.conftest import SECOND, START, FakeClock, Open, SlidingLog, most_in_a_second, passes
from tests.tiers import one_of_each, scaled

#: Waits that lie on, before and after every edge there is, and any others.
WAITS = st.one_of(
    st.sampled_from(
        [0, 1, BUCKET - 1, BUCKET, SECOND - BUCKET, SECOND - 1, SECOND, BUCKETS * BUCKET]
    ),
    st.integers(0, 3 * BUCKET),
    st.integers(0, SECOND + 2 * BUCKET),
)
#: (wait, worker, requests at once)
REQUESTS = st.lists(st.tuples(WAITS, st.integers(0, 2), st.integers(1, 5)), max_size=60)
#: So slow that tokens are granted one by one, or several at once.
RATES = st.integers(1, 12) | st.integers(40, 120)
MANY = settings(
    max_examples=scaled(15, 60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_names = itertools.count()


def account(accounts: Accounts) -> int:
    """Make an account and return its number in the store."""
    name = f"account {next(_names)}"
    digest = name.encode().ljust(32, b".")
    accounts._store.add(NewKey(digest, "live", name, "tiny", START, None))
    found = accounts._store.find(digest)
    assert found is not None
    return found.account


def exact(accounts: Accounts, number: int, rate: int, quota: int | None = None) -> Exact:
    return Exact(accounts._store, number, Plan("p", rate, quota))


def leased(accounts: Accounts, number: int, rate: int, quota: int | None = None) -> Leased:
    record = accounts._held_tokens.record(bytes(32))
    return Leased(accounts._store, number, Plan("p", rate, quota), lambda _: None, record)


@MANY
@given(rate=st.integers(1, 6), requests=REQUESTS)
@example(rate=1, requests=[(0, 0, 1), (SECOND - 1, 1, 1), (1, 2, 1)])
@example(rate=2, requests=[(0, 0, 2), (SECOND, 1, 3), (SECOND - 1, 2, 1), (1, 0, 3)])
def test_exact_plans_among_workers_equal_the_list(
    worker: Open, clock: FakeClock, rate: int, requests: list[tuple[int, int, int]]
) -> None:
    number = account(worker())
    workers = [exact(worker(), number, rate) for _ in range(3)]
    log = SlidingLog(rate)
    for wait, who, times in requests:
        clock.now += wait
        for _ in range(times):
            allowed = log.allows(clock.now)
            assert passes(workers[who]) is allowed
            log.admitted += [clock.now] * allowed
    assert most_in_a_second(log.admitted) <= rate


@MANY
@given(rate=RATES, requests=REQUESTS)
@example(rate=1, requests=[(0, 0, 1), (SECOND - 1, 0, 1), (1, 0, 1)])
@example(rate=80, requests=[(0, 0, 5)] * 12 + [(SECOND - BUCKET, 0, 5)] * 12)
def test_a_leased_plan_of_one_worker_equals_the_list(
    worker: Open, clock: FakeClock, rate: int, requests: list[tuple[int, int, int]]
) -> None:
    accounts = worker()
    alone = leased(accounts, account(accounts), rate)
    log = SlidingLog(rate)
    for wait, leftovers, times in requests:
        clock.now += wait
        if leftovers == 2:
            alone.give_back()
        for _ in range(times):
            allowed = log.allows(clock.now)
            assert passes(alone) is allowed
            log.admitted += [clock.now] * allowed


@MANY
@given(
    rate=RATES,
    quota=st.integers(1, 40) | st.integers(40, 300),
    requests=REQUESTS,
    crash=st.integers(0, 60),
)
def test_leases_among_workers_keep_rate_and_quota(
    worker: Open,
    clock: FakeClock,
    rate: int,
    quota: int,
    requests: list[tuple[int, int, int]],
    crash: int,
) -> None:
    accounts = worker()
    number = account(accounts)
    workers = [leased(worker(), number, rate, quota) for _ in range(3)]
    stamps: list[int] = []
    for step, (wait, who, times) in enumerate(requests):
        clock.now += wait
        if step == crash:  # what the worker held is lost
            workers[who] = leased(worker(), number, rate, quota)
        stamps += [clock.now] * sum(passes(workers[who]) is True for _ in range(times))
    for one in workers:
        one.give_back(at_end=True)
    assert most_in_a_second(stamps) <= rate
    used = used_of(accounts, number)
    lost = used - len(stamps)
    assert used <= quota
    assert 0 <= lost <= (rate if crash < len(requests) else 0)


@MANY
@given(
    kind=st.sampled_from([Exact, Leased]),
    rate=st.integers(1, 12),
    requests=st.lists(REQUESTS, min_size=2, max_size=2),
    back=st.one_of(st.integers(1, 3 * BUCKET), st.integers(1, 2 * SECOND)),
)
def test_after_a_clock_was_set_back_the_rate_holds_again(
    worker: Open,
    clock: FakeClock,
    kind: type[Exact | Leased],
    rate: int,
    requests: list[list[tuple[int, int, int]]],
    back: int,
) -> None:
    accounts = worker()
    number = account(accounts)
    make = leased if kind is Leased else exact
    workers = [make(worker(), number, rate) for _ in range(3)]
    for part in requests:
        stamps: list[int] = []
        for wait, who, times in part:
            clock.now += wait
            stamps += [clock.now] * sum(passes(workers[who]) is True for _ in range(times))
        assert most_in_a_second(stamps) <= rate
        clock.now -= back


def test_stamps_from_the_future_count_as_of_now(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    one = exact(accounts, account(accounts), 2)
    one.admit()
    clock.now -= SECOND // 2
    assert passes(one) is True
    clock.now += SECOND
    assert [passes(one), passes(one)] == [True, True]


def test_a_worker_that_slept_frees_nothing_of_others(worker: Open, clock: FakeClock) -> None:
    number = account(worker())
    awake, asleep = leased(worker(), number, 4), leased(worker(), number, 4)
    assert passes(asleep) is True is passes(asleep)
    clock.now += 15_000 - 10 * BUCKET
    passes(awake)  # the store sees the clock set back
    clock.now += 10 * BUCKET
    stamps = [clock.now] * sum(passes(awake) is True for _ in range(4))
    clock.now += SECOND - 10_000
    stamps += [clock.now] * sum(passes(asleep) is True for _ in range(4))
    assert 4 >= most_in_a_second(stamps) > 1


def test_a_worker_that_closes_leaves_the_rate_as_it_is(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    number = account(accounts)
    one, next_one = leased(accounts, number, 300), leased(worker(), number, 300)
    stamps = []
    for clock.now in paced(300, random.Random(1))[:452]:  # into a bucket
        stamps += [clock.now] * (passes(one) is True)
    assert one._moved
    one.give_back(at_end=True)
    assert used_of(accounts, number) == len(stamps)
    for _ in range(2500):
        stamps += [clock.now] * (passes(next_one) is True)
        clock.now += 97
    assert most_in_a_second(stamps) <= 300


def test_a_worker_alone_at_the_rate_asks_the_store_seldom(
    worker: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = worker()
    alone = leased(accounts, account(accounts), 1000)
    lease, calls = accounts._store.lease, 0

    def counted(*args: Any) -> Lease:
        nonlocal calls
        calls += 1
        return lease(*args)

    monkeypatch.setattr(accounts._store, "lease", counted)
    for now in paced(1000, random.Random(1)):
        clock.now = now
        assert passes(alone) is True
        if now == START + SECOND:
            calls = 0
    assert 50 <= calls <= 400  # of 2,000 admissions in 100 buckets


def test_the_last_requests_of_a_quota_are_granted_one_by_one() -> None:
    rate, later = 1000, START + (BUCKETS - 1) * BUCKET  # the first bucket is the oldest then
    for left, most in ((10**6, rate // 20), (rate, 0)):
        table = Table()
        while table.lease(1, rate, 10**6, START).fresh:
            pass
        granted = table.lease(1, rate, left, later)
        assert (granted.fresh, granted.moved) == (0, most)


def used_of(accounts: Accounts, number: int) -> int:
    """Return what the account of a number has used; numbers count from 1, as rows do."""
    return accounts.usage()[number - 1].used


def paced(rate: int, _: random.Random) -> list[int]:
    return [START + SECOND * n // rate for n in range(3 * rate)]


def at_once(rate: int, _: random.Random) -> list[int]:
    return [START + 7 + SECOND * (n // rate) for n in range(3 * rate)]


def at_random(rate: int, rng: random.Random) -> list[int]:
    """As many as the rate allows, at any moments of three seconds."""
    log: list[int] = []
    for now in sorted(START + rng.randrange(3 * SECOND) for _ in range(4 * rate)):
        if len(log) < rate or log[-rate] <= now - SECOND:
            log.append(now)
    return log


ARRIVALS = [paced, at_once, at_random]


Arrivals = Callable[[int, random.Random], list[int]]
#: Arrivals, rate and workers: the first three have one of each.
CALLERS = [(paced, 1000, 8), (at_once, 250, 2), (at_random, 101, 8)]
CALLERS += [(how, *more) for how in ARRIVALS for more in ((101, 8), (250, 2), (1000, 8))]


@pytest.mark.parametrize("caller", one_of_each(dict.fromkeys(CALLERS), itemgetter(0)))
def test_a_caller_at_the_rate_of_a_fast_plan_loses_at_most_5_percent(
    worker: Open, clock: FakeClock, caller: tuple[Arrivals, int, int]
) -> None:
    arrivals, rate, count = caller
    number = account(worker())
    rng = random.Random(f"{rate} {count}")
    workers = [leased(worker(), number, rate) for _ in range(count)]
    asked = arrivals(rate, rng)
    assert most_in_a_second(asked) <= rate
    admitted, swept = [], START
    for now in asked:
        clock.now = now
        if now - swept >= 50_000:  # as the background does
            swept = now
            for one in workers:
                one.give_back()
        admitted += [now] * (passes(rng.choice(workers)) is True)
    assert most_in_a_second(admitted) <= rate
    assert len(admitted) >= 0.95 * len(asked), len(admitted) / len(asked)


def test_a_caller_at_the_rate_with_one_worker_loses_nothing(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    for arrivals in ARRIVALS:
        alone = leased(accounts, account(accounts), 300)
        for clock.now in arrivals(300, random.Random(1)):
            assert passes(alone) is True


def test_a_clock_set_back_delays_by_two_seconds_at_most(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    for kind in (exact, leased):
        for back in (1, BUCKET, SECOND // 2, SECOND, 3600 * SECOND):
            one = kind(accounts, account(accounts), 5)
            assert [passes(one) for _ in range(6)] == [True] * 5 + [False]
            clock.now -= back
            asked = []
            for _ in range(21):
                asked.append(passes(one))
                clock.now += SECOND // 10
            assert True in asked, (kind, back)


def test_retry_after_is_when_a_request_is_admitted(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    for one in (
        exact(accounts, account(accounts), 2),
        leased(accounts, account(accounts), 2),
    ):
        one.admit()
        clock.now += 300_000
        one.admit()
        for wait in (0, 100_000):
            clock.now += wait
            with pytest.raises(RateLimitError) as refused:
                one.admit()
        clock.now += round(refused.value.retry_after * SECOND)
        assert passes(one) is True


def test_rate_comes_before_quota_and_may_change(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    both = [make(accounts, account(accounts), 2, 2) for make in (exact, leased)]
    for one in both:
        assert [passes(one) for _ in range(3)] == [True, True, False]
    clock.now += 2 * SECOND
    for one in both:
        assert [passes(one) for _ in range(3)] == [None, None, None]
    accounts = worker()
    number = account(accounts)
    for rate in (5, 2, 5, 300, 5):
        clock.now += SECOND
        one = (exact if rate < 100 else leased)(accounts, number, rate)
        assert [passes(one) for _ in range(rate + 1)] == [True] * rate + [False], rate


@settings(MANY, max_examples=scaled(4, 25))
@given(
    rate=st.integers(101, 2000),
    quota=st.integers(1, 400),
    before=st.integers(0, 800),
    rng=st.randoms(use_true_random=False),
)
@example(rate=1000, quota=300, before=0, rng=random.Random(1))
def test_a_leased_quota_is_refused_when_it_is_used_up_and_not_before(
    worker: Open, clock: FakeClock, rate: int, quota: int, before: int, rng: random.Random
) -> None:
    """Four workers, any of which may lease many tokens ``before`` the end and then be idle."""
    number, quota = account(worker()), quota + before
    workers = [leased(worker(), number, rate, quota) for _ in range(4)]
    admitted, swept = 0, clock.now
    while (passed := passes(rng.choice(workers))) is not None:
        admitted += passed
        clock.now += rng.randrange(2 * SECOND // rate)
        if clock.now - swept >= SECOND // 4:  # as the background does, and more seldom
            swept = clock.now
            for one in workers:
                one.give_back()
    assert admitted == quota == used_of(worker(), number)
