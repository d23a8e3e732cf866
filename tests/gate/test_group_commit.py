"""Requests that come together are decided as if they had come one by one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from threading import Event
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.errors import AccountsError, InvalidKeyError, MissingKeyError
from geolookup.gate import Accounts, open_accounts
from tests.gate.conftest import (
    SECOND,
    FakeClock,
    Open,
    counted,
    decisions,
    gate_of,
    outcomes,
    together,
)
from tests.internals.gate import MOST_STRANGERS, GroupCommit, Key, digest, make
from tests.servers import PATIENCE
from tests.tiers import scaled


@pytest.fixture
def in_file(file: Path, plans: Path, clock: FakeClock) -> Iterator[Accounts]:
    with open_accounts(f"sqlite:///{file}", plans, clock=clock) as accounts:
        yield accounts


#: Accounts by name, with two keys each; their names begin with their plans.
ACCOUNTS = ["tiny", "tiny 2", "mid", "endless"]
KEYS = st.sampled_from([*ACCOUNTS * 3, *(f"{name}, other key" for name in ACCOUNTS), "wrong", None])


@settings(
    max_examples=scaled(15, 80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(turns=st.lists(st.tuples(st.integers(0, 2 * SECOND), st.lists(KEYS, max_size=30))))
def test_a_turn_is_as_its_requests_one_by_one(
    worker: Open, clock: FakeClock, turns: list[tuple[int, list[str | None]]]
) -> None:
    accounts, stamp = worker(), str(clock.now)
    first, second = dict[str | None, str](), dict[str | None, str]()
    for name, way in product(ACCOUNTS, (first, second)):
        for key in (name, f"{name}, other key"):
            way[key] = accounts.create_key(f"{name} {id(way)} {stamp}", name.split()[0])
    gate = gate_of(accounts)
    for later, keys in turns:
        clock.now += later
        actual = together(gate, [first.get(key, key) for key in keys])
        expected = outcomes(accounts, [second.get(key, key) for key in keys])
        if accounts.remote:  # a new key waits, and another key of its account comes first
            of = [str(key).partition(",")[0] for key in keys]
            assert Counter(zip(of, actual, strict=True)) == Counter(zip(of, expected, strict=True))
        else:
            assert actual == expected
    clock.now += 10 * SECOND
    rows = [row for row in accounts.usage() if row.name.endswith(stamp)]
    assert [row.used for row in rows[::2]] == [row.used for row in rows[1::2]]


def test_a_turn_asks_the_store_once(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once about all keys, once about all accounts, however many keys are wrong."""
    accounts = worker()
    keys = [accounts.create_key(str(number), "mid") for number in range(5)]
    wrong = [make("live") for _ in range(300)]
    find, admit = counted(accounts, monkeypatch, "find"), counted(accounts, monkeypatch, "admit")
    gate = gate_of(accounts)
    assert together(gate, [*keys * 4, *wrong]) == [None] * 20 + [InvalidKeyError] * 300
    assert together(gate, [*keys[:1], *wrong]) == [None] + [InvalidKeyError] * 300
    assert [len(call.args[0]) for call in find.call_args_list] == [305]
    numbers = [[argument.number for argument in call.args[0]] for call in admit.call_args_list]
    assert numbers == [[4] * 5, [1]]


def test_a_valid_key_does_not_wait_for_strangers(
    worker: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it must be read again; beyond a bound strangers do not wait either."""
    accounts, released = worker(), Event()
    honest, new = accounts.create_key("Acme", "mid"), accounts.create_key("New", "mid")
    accounts.admit(honest)
    find, of_honest = accounts.store.find, digest(honest)

    def blocked_for_strangers(digests: Sequence[bytes]) -> Sequence[Key | AccountsError | None]:
        assert [*digests] == [of_honest] or released.wait(PATIENCE)
        return find(digests)

    monkeypatch.setattr(accounts.store, "find", blocked_for_strangers)
    monkeypatch.setattr(Accounts, "remote", True)

    async def flooded() -> None:
        gate = gate_of(accounts)
        # One more than may wait, beside those that the thread has taken.
        first = asyncio.ensure_future(decisions(gate, [new]))
        await asyncio.sleep(0)
        strangers = [make("live") for _ in range(MOST_STRANGERS + 1)]
        flood = asyncio.ensure_future(decisions(gate, strangers))
        for later in (0, SECOND):
            clock.now += later
            assert await decisions(gate, [honest]) == [None]
        assert [first.done(), flood.done()] == [False, False]
        released.set()
        assert await first == [None]
        outcomes = list(map(type, await flood))
        assert outcomes == [InvalidKeyError] * MOST_STRANGERS + [AccountsError]

    asyncio.run(flooded())


def test_a_store_on_this_machine_decides_at_once(in_file: Accounts) -> None:
    answers = list[object]()
    gate = GroupCommit[int](in_file, lambda *decided: answers.append(decided))
    gate.admit([in_file.create_key("Acme", "tiny")], [7])
    assert answers == [([7], [None])]


def test_a_cached_refusal_does_not_wait_for_a_remote_store(
    in_file: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_file.create_key("Acme", "tiny")  # creates the file
    unknown = make("live")
    assert outcomes(in_file, [unknown]) == [InvalidKeyError]  # the store has no such key
    monkeypatch.setattr(Accounts, "remote", True)
    answers = list[object]()
    gate = GroupCommit[int](in_file, lambda _, errors: answers.extend(map(type, errors)))
    refused = [unknown, None, "malformed"]  # no event loop is running: nothing can be asked
    gate.admit(refused, [1, 2, 3])
    assert answers == [InvalidKeyError, MissingKeyError, InvalidKeyError]


@pytest.mark.parametrize("error", [ZeroDivisionError(), AccountsError("store", "gone", "wait")])
def test_an_error_of_the_store_reaches_all_that_asked_it(
    worker: Open, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "tiny")
    monkeypatch.setattr(accounts.store, "admit", Mock(side_effect=error))
    assert together(gate_of(accounts), [key] * 3) == [type(error)] * 3
