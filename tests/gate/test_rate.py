"""The rate and the quota in every store, by the table of cases and by a plain list."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.gate import cases
from tests.gate.cases import CASES, Case
from tests.gate.conftest import (
    SECOND,
    START,
    FakeClock,
    Open,
    SlidingLog,
    Worker,
    most_in_a_second,
    passes,
)
from tests.internals.gate import (
    ADMITTED,
    EXHAUSTED,
    Accounts,
    Admission,
    NewKey,
    Plan,
    Requests,
    audit,
    sqlite_admission,
)
from tests.tiers import scaled

#: Waits that lie on, before and after every edge there is, and any others.
WAITS = st.sampled_from([0, 1, SECOND // 2, SECOND - 1, SECOND]) | st.integers(0, 2 * SECOND)
#: (wait, worker, requests at once)
REQUESTS = st.lists(st.tuples(WAITS, st.integers(0, 2), st.integers(1, 5)), max_size=60)
MANY = settings(
    max_examples=scaled(8, 60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_names = itertools.count()


@pytest.fixture(params=["rings", "runs", "script"])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a store that counts in one of the ways."""
    kept: str = request.getfixturevalue("emptied" if request.param == "script" else "file_url")
    return kept


def account(accounts: Worker) -> int:
    """Make an account and return its number in the store."""
    name = f"account {next(_names)}"
    digest = name.encode().ljust(32, b".")
    new = NewKey(digest, "live", name, "tiny", START, None)
    accounts.store.add(new, audit.creation(new))
    key = accounts.store.find(digest)
    assert key is not None
    return key.account


def admission(accounts: Worker, number: int, rate: int) -> Admission:
    return Admission(accounts.store, number, Plan("p", rate, None))


def used_of(accounts: Accounts, number: int) -> int:
    """Return what the account of a number has used; numbers count from 1, as rows do."""
    return accounts.usage()[number - 1].used


def decided(accounts: Accounts, requests: Requests, now: int) -> Iterator[str]:
    """Decide requests that come together; yield their outcomes, as ``cases`` words them."""
    ((admitted, refusal),) = accounts.decide([requests])
    if refusal == ADMITTED:
        admitted = requests.number
    yield from [cases.ADMITTED] * admitted
    outcome = cases.QUOTA if refusal == EXHAUSTED else cases.retry((refusal - now) / 1000)
    yield from [outcome] * (requests.number - admitted)


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_store_decides_every_case(
    case: Case, worker: Open, clock: FakeClock, *, one_by_one: bool
) -> None:
    accounts = worker()
    number, rate = account(accounts), case.rate
    for step in case.steps:
        clock.now, rate = START + round(step.at * 1000), step.rate or rate
        plan, count = Plan("p", rate, case.quota), len(step.outcomes)
        parts = [1] * count if one_by_one else [count]
        requests = [Requests(number, plan, part) for part in parts]
        actual = [outcome for some in requests for outcome in decided(accounts, some, clock.now)]
        assert actual == step.outcomes
        assert used_of(accounts, number) == step.used


@MANY
@given(rate=st.integers(1, 6), requests=REQUESTS)
@example(rate=1, requests=[(0, 0, 1), (SECOND - 1, 1, 1), (1, 2, 1)])
@example(rate=2, requests=[(0, 0, 2), (SECOND, 1, 3), (SECOND - 1, 2, 1), (1, 0, 3)])
def test_the_rate_among_workers_equals_the_list(
    worker: Open, clock: FakeClock, rate: int, requests: list[tuple[int, int, int]]
) -> None:
    number = account(worker())
    workers = [admission(worker(), number, rate) for _ in range(3)]
    log = SlidingLog(rate)
    for wait, who, times in requests:
        clock.now += wait
        for _ in range(times):
            allowed = log.allows(clock.now)
            assert passes(workers[who]) is allowed
            log.admitted += [clock.now] * allowed
    assert most_in_a_second(log.admitted) <= rate


@MANY
@given(
    rate=st.integers(1, 12),
    requests=st.lists(REQUESTS, min_size=2, max_size=2),
    back=st.integers(1, 2 * SECOND),
)
def test_after_a_clock_was_set_back_the_rate_holds_again(
    worker: Open,
    clock: FakeClock,
    rate: int,
    requests: list[list[tuple[int, int, int]]],
    back: int,
) -> None:
    number = account(worker())
    workers = [admission(worker(), number, rate) for _ in range(3)]
    for part in requests:
        stamps: list[int] = []
        for wait, who, times in part:
            clock.now += wait
            stamps += [clock.now] * sum(passes(workers[who]) is True for _ in range(times))
        assert most_in_a_second(stamps) <= rate
        clock.now -= back


def test_the_method_of_a_plan_follows_its_rate(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    number = account(accounts)
    for rate in (5, 2, 5, 300, 5):
        clock.now += SECOND
        one = admission(accounts, number, rate)
        assert [passes(one) for _ in range(rate + 1)] == [True] * rate + [False], rate


def test_requests_of_many_plans_and_accounts_are_decided_together(
    worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = worker()
    requests = [
        Requests(account(accounts), Plan(f"{rate} {quota}", rate, quota), number)
        for rate, quota, number in [(2, 1, 1), (9, 2, 4), (3, 9, 5), (9, 9, 1), (2, 9, 1)]
    ]
    decisions = accounts.decide(requests)
    refusals = [refusal for _, refusal in decisions]
    assert refusals == [ADMITTED, EXHAUSTED, START + SECOND, ADMITTED, ADMITTED]
    assert [decisions[at].admitted for at in (1, 2)] == [2, 3]
    assert [used_of(accounts, request.account) for request in requests] == [1, 2, 3, 1, 1]
