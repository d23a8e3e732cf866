"""A store that cannot be used: always AccountsError, never an open gate, and good again after."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from geolookup.errors import AccountsError, InvalidKeyError
from geolookup.gate import Accounts, open_accounts
from tests.cli.program import refusal
from tests.damage import limited_files
from tests.gate.conftest import Gate, Worker, decisions, gate_of, outcomes
from tests.internals.gate import (
    AccountsFile,
    Key,
    audit,
    make,
    store_health,
    wall_clock,
)
from tests.servers import redis, until
from tests.skips import needs, optional


@pytest.fixture
def made(file: Path, plans: Path) -> list[str]:
    """Keys of two plans in the file."""
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        return [accounts.create_key(plan, plan) for plan in ("mid", "endless")]


def all_fail(accounts: Accounts, made: list[str], says: str) -> None:
    for key in made:
        with pytest.raises(AccountsError, match=says) as wrong:
            accounts.admit(key)
        assert "\n" not in str(wrong.value)
        assert wrong.value.http_status == 503
        assert wrong.value.retry_after > 0


NONSENSE = bytes(range(256)) * 64


def sql(statement: str) -> Callable[[Path], None]:
    """Run a statement on a file as if it were SQLite's."""

    def run(file: Path) -> None:
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.executescript(f"PRAGMA ignore_check_constraints = on; {statement}")

    return run


def foreign(file: Path) -> None:
    file.unlink()
    sql("CREATE TABLE account (id INTEGER PRIMARY KEY)")(file)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def test_a_file_that_is_none_of_ours(file: Path, plans: Path, made: list[str]) -> None:
    good = file.read_bytes()
    for number, damage in enumerate(
        (
            lambda file: file.write_bytes(NONSENSE),
            lambda file: file.write_bytes(b""),
            lambda file: file.write_bytes(good[:1500]),
            lambda file: file.write_bytes(good[:1024] + b"\xa5" * (len(good) - 1024)),
            sql("PRAGMA user_version = 99"),
            foreign,
            folder,
        )
    ):
        copy = file.with_name(f"{number}.db")
        copy.write_bytes(good)
        damage(copy)
        with open_accounts(f"sqlite:///{copy}", plans) as accounts:
            all_fail(accounts, made, str(copy))


@pytest.mark.parametrize(
    ("statement", "ask"),
    [
        ("UPDATE key SET created = 'now'", "list"),
        ("UPDATE key SET expires = '2027-01-01'", "list"),
        ("UPDATE account SET created = x'00'", "usage"),
        ("UPDATE run SET used = 'many'", "usage"),
        ("UPDATE log SET at = 1 << 62", "log"),
    ],
)
def test_a_row_of_another_program_is_one_line(
    file: Path, plans: Path, made: list[str], statement: str, ask: str
) -> None:
    sql(statement)(file)
    group = ("accounts", "keys") if ask == "list" else ("accounts",)
    told = refusal(*group, ask, "--accounts", f"sqlite:///{file}")
    assert told.startswith(f"{file}: a row is malformed; ")
    if ask == "list":
        with open_accounts(f"sqlite:///{file}", plans) as accounts:
            all_fail(accounts, made, "a row is malformed")


def test_a_file_locked_by_another(
    file: Path, plans: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wait is enough for all: the failure is remembered for a time."""
    monkeypatch.setattr(AccountsFile, "patience", 0.05)
    monkeypatch.setattr(store_health, "monotonic", lambda: 1000.0)
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        assert outcomes(accounts, made) == [None] * len(made)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(AccountsError, match="locked"):
                accounts.admit(made[0])
        all_fail(accounts, made, "locked")  # nobody asked the file, which is free
        monkeypatch.setattr(store_health, "monotonic", lambda: 1001.5)
        assert outcomes(accounts, made) == [None] * len(made)


def test_a_full_disk_admits_nobody(file: Path, plans: Path, made: list[str]) -> None:
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        assert outcomes(accounts, made) == [None] * len(made)
        with limited_files(1024):  # less than a page in the log
            all_fail(accounts, made, str(file))
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        assert outcomes(accounts, made) == [None] * len(made)


class Interrupting(bytes):
    """A value that interrupts the statement to which it is bound, as Ctrl-C does."""

    def __conform__(self, _protocol: object) -> object:
        raise KeyboardInterrupt


def test_an_interrupted_change_leaves_nothing_behind(
    file: Path, plans: Path, made: list[str]
) -> None:
    """No key, and no transaction that another process would wait for."""
    with Worker(f"sqlite:///{file}", plans, wall_clock) as accounts:
        store = accounts.store
        new = Key(Interrupting(), "live", 0, "Half", "free", 1, None)
        entry = audit.entry(1, audit.CREATED, new)
        for change in (
            lambda: store.revoke(new.digest, entry),
            lambda: store.add(new, entry),
        ):
            with pytest.raises(KeyboardInterrupt):
                change()
            assert len(accounts.usage()) == len(made)
            with closing(sqlite3.connect(file, 0, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")


@needs("redis")
def test_all_share_a_failure(tmp_path: Path, plans: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = store_health.Outage.note
    waits = patch.object(store_health.Outage, "note", autospec=True, side_effect=note)
    monkeypatch.setattr(store_health, "monotonic", lambda: 1000.0)
    with waits as noted, redis(tmp_path) as server:
        with open_accounts(server.url, plans) as accounts:
            keys = [accounts.create_key(f"account {number}", "mid") for number in range(20)]
        server.silence()
        with open_accounts(f"{server.url}?socket_timeout=0.1", plans, clock=wall_clock) as accounts:
            gate = gate_of(accounts)
            assert asyncio.run(answers(gate, keys)) == [AccountsError] * 20
            assert asyncio.run(answers(gate, [make("live") for _ in keys])) == [AccountsError] * 20
            all_fail(accounts, keys[:1], "redis://127.0.0.1")
            assert noted.call_count == 1
            server.answer()
            monkeypatch.setattr(store_health, "monotonic", lambda: 1003.5)
            until_admitted(accounts, keys)


def test_a_lost_account_fails_alone(url: str, plans: Path, file: Path) -> None:
    """Its key may be cached, and a restore may have removed it."""
    with open_accounts(url, plans) as accounts:
        kept, cached, lost = (accounts.create_key(name, "mid") for name in ("Kept", "1", "2"))
        assert outcomes(accounts, [kept, cached]) == [None] * 2
        if url.startswith("sqlite"):
            sql("DELETE FROM account WHERE name != 'Kept'; DELETE FROM run WHERE account > 1")(file)
        else:
            with optional("redis").Redis.from_url(url) as client:
                client.delete(
                    *(f"geolookup:{kind}:{n}" for kind in ("account", "runs") for n in (2, 3))
                )
            for ask in (accounts.keys, accounts.usage):
                with pytest.raises(AccountsError):
                    ask()
        result = asyncio.run(answers(gate_of(accounts), [kept, cached, lost, kept]))
        of_lost = InvalidKeyError if url.startswith("sqlite") else AccountsError
        assert result == [type(None), AccountsError, of_lost, type(None)]


async def answers(gate: Gate, keys: list[str]) -> list[object]:
    """Return the kinds of outcomes of requests that come together; the loop runs meanwhile."""
    waiting = asyncio.ensure_future(decisions(gate, keys))
    turns = 0
    while not waiting.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 0
    return [type(result) for result in await waiting]


def until_admitted(accounts: Accounts, keys: list[str]) -> None:
    """Ask with every key until the failure is forgotten."""
    for key in keys:
        until(lambda key=key: outcomes(accounts, [key]) == [None])  # type: ignore[misc]
