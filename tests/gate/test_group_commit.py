"""What one turn of an event loop asks is answered as if it had been asked one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.errors import AccountsError, ContractError, RateLimitError
from geolookup.gate import Accounts, open_accounts
from geolookup.gate.group_commit import GroupCommit
from tests.gate.conftest import SECOND, FakeClock, Open, Outcome, outcomes
from tests.tiers import scaled


@pytest.fixture
def in_file(file: Path, plans: Path, clock: FakeClock) -> Iterator[Accounts]:
    with open_accounts(f"sqlite:///{file}", plans, clock=clock) as accounts:
        yield accounts


async def asked(gate: GroupCommit, key: object) -> Outcome:
    """Return what is raised for one request, None if it is admitted."""
    try:
        await gate.admit(key)
    except (ContractError, AccountsError) as error:
        return type(error)
    return None


def together(gate: GroupCommit, keys: Sequence[object]) -> list[Outcome]:
    """Return the outcomes of requests that come in one turn."""

    async def turn() -> list[Outcome]:
        return await asyncio.gather(*(asked(gate, key) for key in keys))

    return asyncio.run(turn())


@settings(
    max_examples=scaled(10, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    turns=st.lists(
        st.tuples(
            st.integers(0, 2 * SECOND),
            st.lists(st.sampled_from(["tiny", "mid", "endless", "wrong", None]), max_size=12),
        ),
        max_size=6,
    )
)
def test_a_turn_is_as_its_requests_one_by_one(
    worker: Open, clock: FakeClock, turns: list[tuple[int, list[str | None]]]
) -> None:
    accounts, name = worker(), f"account {clock.now}"
    names = ("tiny", "mid", "endless")
    keys: list[dict[str | None, str | None]] = [
        {plan: accounts.create_key(f"{name} {plan} {way}", plan) for plan in names}
        for way in ("together", "alone")
    ]
    gate = GroupCommit(accounts)
    for later, plans in turns:
        clock.now += later
        first, second = ([of.get(plan, plan) for plan in plans] for of in keys)
        assert together(gate, first) == outcomes(accounts, second)
    clock.now += 10 * SECOND
    used = {row.name: row.used for row in accounts.usage()}
    for plan in ("tiny", "mid"):
        assert used[f"{name} {plan} together"] == used[f"{name} {plan} alone"]


def test_a_turn_asks_the_store_once(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    accounts = worker()
    keys = [accounts.create_key(str(number), "mid") for number in range(5)]
    decide = Mock(wraps=accounts.decide)
    monkeypatch.setattr(accounts, "decide", decide)
    gate = GroupCommit(accounts)
    assert together(gate, keys * 4) == [None] * 20
    assert together(gate, keys[:1]) == [None]
    numbers = [[argument.number for argument in call.args[0]] for call in decide.call_args_list]
    assert numbers == [[4] * 5, [1]]


def test_a_refusal_among_many_is_of_its_account_alone(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    for count in (2, 5, scaled(40, 600)):
        names = [f"account {count} {number}" for number in range(count)]
        keys = [accounts.create_key(name, "tiny" if name[-1] == "1" else "mid") for name in names]
        gate = GroupCommit(accounts)
        assert together(gate, keys) == [None] * len(keys)
        at_rate = [key for key, name in zip(keys, names, strict=True) if name[-1] == "1"]
        for key in at_rate:
            assert outcomes(accounts, [key] * 3) == [None, None, RateLimitError]
        clock.now += SECOND // 2
        expected = [RateLimitError if key in at_rate else None for key in keys]
        assert together(gate, keys) == expected
        used = {row.name: row.used for row in accounts.usage()}
        assert [used[name] for name in names] == [2 if value is None else 3 for value in expected]


def test_a_client_that_has_gone_changes_nothing_for_others(worker: Open) -> None:
    accounts = worker()
    keys = [accounts.create_key(str(number), "tiny") for number in range(3)]
    gate = GroupCommit(accounts)

    async def turn() -> list[Outcome | BaseException]:
        tasks = [asyncio.ensure_future(asked(gate, key)) for key in keys * 2]
        await asyncio.sleep(0)  # all of them wait now
        tasks[0].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    gone, *others = asyncio.run(turn())
    assert isinstance(gone, asyncio.CancelledError)
    assert others == [None] * 5


def test_a_decision_of_a_file_comes_in_the_next_turn(in_file: Accounts) -> None:
    key, gate = in_file.create_key("Acme", "tiny"), GroupCommit(in_file)

    async def turns() -> list[bool]:
        tasks = [asyncio.ensure_future(asked(gate, key)) for _ in range(3)]
        await asyncio.sleep(0)  # all of them have asked
        await asyncio.sleep(0)
        return [task.done() for task in tasks]

    assert asyncio.run(turns()) == [True] * 3


def test_a_client_that_was_alone_and_has_gone_is_counted(in_file: Accounts) -> None:
    key, gate = in_file.create_key("Acme", "tiny"), GroupCommit(in_file)

    async def turn() -> None:
        task = asyncio.ensure_future(asked(gate, key))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(turn())
    assert in_file.usage()[0].used == 1
    assert together(gate, [key]) == [None]
    assert in_file.usage()[0].used == 2


def test_a_decision_may_be_awaited_after_those_of_others(in_file: Accounts) -> None:
    keys = [in_file.create_key(str(number), "tiny") for number in range(3)]
    gate = GroupCommit(in_file)

    async def turn() -> None:
        late = gate.admit(keys[0])
        assert await asyncio.gather(*(asked(gate, key) for key in keys[1:])) == [None, None]
        await late

    asyncio.run(turn())
    assert [row.used for row in in_file.usage()] == [1, 1, 1]


def test_without_its_store_nobody_waits_and_nobody_passes(in_file: Accounts, file: Path) -> None:
    keys = [in_file.create_key(str(number), "tiny") for number in range(3)]
    gate = GroupCommit(in_file)
    assert together(gate, keys) == [None] * 3
    in_file.close()
    for path in file.parent.glob("accounts.db*"):
        path.unlink()
    assert together(gate, keys) == [AccountsError] * 3


def test_an_unforeseen_error_reaches_all(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "tiny")
    monkeypatch.setattr(accounts, "decide", Mock(side_effect=ZeroDivisionError))
    gate = GroupCommit(accounts)

    async def turn() -> list[object]:
        return await asyncio.gather(*(asked(gate, key) for _ in range(3)), return_exceptions=True)

    assert [type(item) for item in asyncio.run(turn())] == [ZeroDivisionError] * 3
