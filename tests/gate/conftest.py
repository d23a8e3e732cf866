"""Fake clock, every kind of account store (a SQLite file, a Redis server), and joint requests."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from geolookup.errors import AccountsError, ContractError
from geolookup.gate import Accounts, read_plans
from tests.internals.gate import (
    AccountsFile,
    Clock,
    GroupCommit,
    SQLiteStore,
    Store,
    digest,
    identifier,
)
from tests.servers import PATIENCE, redis
from tests.skips import optional

PLANS = """
[plan.tiny]
rate = 3
quota = 20
[plan.mid]
rate = 100
[plan.fast]
rate = 1000
quota = 2000
[plan.endless]
rate = 1000
"""
#: Gives the first account 1,999 others like it, by their numbers.
MORE_ACCOUNTS = """
WITH RECURSIVE number(id) AS (SELECT 10 UNION ALL SELECT id + 1 FROM number WHERE id < 2008)
INSERT INTO account (id, name, plan, created)
SELECT number.id, name || ' ' || number.id, plan, created FROM number, account WHERE account.id = 1;
INSERT INTO run (account, used) SELECT id, 0 FROM account WHERE id >= 10;
"""
#: 2026-11-20.
START = 1_795_132_800_000_000
SECOND = 1_000_000


class FakeClock:
    """A clock that goes on when told to; in microseconds."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


class Worker(Accounts):
    """The accounts of a worker process, whose store a test can watch."""

    def __init__(self, url: str, plans: Path, clock: Clock) -> None:
        is_file = url.startswith("sqlite")
        kind: Any = SQLiteStore if is_file else optional("geolookup.gate.redis").RedisStore
        self.store: Store = kind(url, clock)
        super().__init__(self.store, read_plans(plans))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    path = tmp_path / "plans.toml"
    path.write_text(PLANS, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis or Valkey server of our own; a loaded machine may be slow to answer."""
    with redis(tmp_path_factory.mktemp("redis")) as server:
        yield f"{server.url}?socket_timeout={PATIENCE}"


@pytest.fixture
def emptied(redis_server: str) -> str:
    """The URL of the server, emptied."""
    with optional("redis").Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of a store without accounts, of each kind."""
    kept: str = request.getfixturevalue("file_url" if request.param == "sqlite" else "emptied")
    return kept


@pytest.fixture
def file_url(file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an accounts file; nobody gives up on a loaded machine."""
    monkeypatch.setattr(AccountsFile, "patience", PATIENCE)
    return f"sqlite:///{file}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the accounts file of a test is, or will be."""
    return tmp_path / "accounts.db"


Open = Callable[[], Worker]
Outcome = type[Exception] | None


def outcomes(accounts: Accounts, keys: Iterable[object]) -> list[Outcome]:
    """Ask with each key; return what is raised, and None for an admission."""
    actual: list[Outcome] = []
    for key in keys:
        try:
            accounts.admit(key)
        except (ContractError, AccountsError) as error:
            actual.append(type(error))
        else:
            actual.append(None)
    return actual


def counted(worker: Worker, monkeypatch: pytest.MonkeyPatch, method: str) -> Mock:
    """Count the calls of a method of a worker's store."""
    mock = Mock(wraps=getattr(worker.store, method))
    monkeypatch.setattr(worker.store, method, mock)
    return mock


def of(key: str) -> str:
    """Return the identifier of a key."""
    return identifier(digest(key) or b"")


@pytest.fixture
def worker(url: str, plans: Path, clock: FakeClock) -> Generator[Open, None, None]:
    """Open the store once more, as another worker by the same clock would."""
    opened: list[Worker] = []

    def open_one() -> Worker:
        opened.append(Worker(url, plans, clock))
        return opened[-1]

    yield open_one
    for accounts in opened:
        accounts.close()


#: The outcome of each request, once it is decided.
Gate = GroupCommit[Future[Exception | None]]


def gate_of(accounts: Accounts) -> Gate:
    """Return a gate that sets the outcomes of requests; a second one is an error."""

    def decided(
        requests: Sequence[Future[Exception | None]], outcomes: Sequence[Exception | None]
    ) -> None:
        for request, outcome in zip(requests, outcomes, strict=True):
            request.set_result(outcome)

    return GroupCommit(accounts, decided)


async def decisions(gate: Gate, keys: Sequence[object]) -> list[Exception | None]:
    """Return the outcome of each request, when all are decided."""
    requests: list[Future[Exception | None]] = [Future() for _ in keys]
    gate.admit(keys, requests)
    return [await request for request in requests]


def together(gate: Gate, keys: Sequence[object]) -> list[type[Exception] | None]:
    """Return the kinds of the outcomes of requests that come together."""
    results = asyncio.run(decisions(gate, keys)) if keys else []
    return [None if result is None else type(result) for result in results]
