"""What only a remote store can do: a clock of its own, lost data, writes that a crash undoes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geolookup.errors import AccountsError, InvalidKeyError, RateLimitError
from geolookup.gate import Accounts, open_accounts
from tests.cli.program import run
from tests.gate.conftest import SECOND, FakeClock
from tests.internals.gate import digest, identifier, make, wall_clock
from tests.skips import optional

client_package, redis_module = optional("redis"), optional("geolookup.gate.redis")
HOUR = 3_600_000_000


def skewed(monkeypatch: pytest.MonkeyPatch, by: int) -> None:
    """Set the clock of this machine beside that of the server."""
    monkeypatch.setattr(redis_module, "wall_clock", lambda: wall_clock() + by)


def test_a_retry_is_in_time(emptied: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is so slow that a loaded machine asks faster than it allows."""
    plans = tmp_path / "own.toml"
    plans.write_text("[plan.p]\nrate = 3\n", encoding="utf-8")
    skews = (-HOUR, -1_500_000, 1_500_000, HOUR)
    with open_accounts(emptied, plans) as accounts:
        keys = [(by, accounts.create_key(f"account {by}", "p")) for by in skews]
        waits = []
        for by, key in keys:
            skewed(monkeypatch, by)
            waits.append(refused(accounts, key))
        assert 0 <= min(waits) <= max(waits) <= 1
        time.sleep(max(waits) + 0.05)
        for by, key in keys:
            skewed(monkeypatch, by)
            accounts.admit(key)


def refused(accounts: Accounts, key: str) -> float:
    """Ask until a request is refused; return when to ask again, in seconds."""
    for _ in range(10_000):  # one that takes 10 ms is not refused
        try:
            accounts.admit(key)
        except RateLimitError as error:
            return error.retry_after
    raise AssertionError("no request was refused")


@pytest.mark.parametrize("by", [-HOUR, HOUR])
def test_a_key_expires_by_the_clock_of_the_server(
    emptied: str, plans: Path, monkeypatch: pytest.MonkeyPatch, by: int
) -> None:
    skewed(monkeypatch, by)
    with open_accounts(emptied, plans) as accounts:
        now = time.time_ns() // 10**9
        expired, valid = (
            accounts.create_key("Acme", "mid", expires=now + after) for after in (-10, 1800)
        )
        with pytest.raises(InvalidKeyError):
            accounts.admit(expired)
        accounts.admit(valid)


def asked(accounts: Accounts, keys: list[str]) -> None:
    for key in keys:
        with pytest.raises(AccountsError, match="no accounts"):
            accounts.admit(key)


def test_lost_data_admit_and_refuse_nobody(emptied: str, plans: Path, clock: FakeClock) -> None:
    with open_accounts(emptied, plans, clock=clock) as running:
        keys = [running.create_key(plan, plan) for plan in ("mid", "endless")]
        for key in keys:
            running.admit(key)
        clock.now += SECOND
        with client_package.Redis.from_url(emptied) as client:
            client.flushall()
        asked(running, [*keys, make("live")])
    with open_accounts(emptied, plans) as fresh:
        asked(fresh, [*keys, make("live")])
        for ask in (fresh.keys, fresh.usage):
            with pytest.raises(AccountsError, match="no accounts"):
                ask()
        new = fresh.create_key("New", "mid")
        fresh.admit(new)
        with pytest.raises(InvalidKeyError):
            fresh.admit(keys[0])


def test_a_record_of_another_program_is_one_line(emptied: str) -> None:
    with open_accounts(emptied) as accounts, client_package.Redis.from_url(emptied) as client:
        key = accounts.create_key("Acme", "free")
        record = f"geolookup:key:{(digest(key) or b'').hex()}"
        account, malformed = "geolookup:account:1", ("x", b"\xff", "")
        for name, member in ((record, "created"), (record, "expires"), (record, "account")):
            kept = client.hget(name, member)
            for value in malformed:
                client.hset(name, member, value)
                with pytest.raises(AccountsError, match="redis://127"):
                    accounts.keys()
                with open_accounts(emptied) as fresh, pytest.raises(AccountsError, match="redis:"):
                    fresh.admit(key)
            client.hset(name, member, kept)
        for member in ("name", "created", "keys"):
            kept = client.hget(account, member)
            client.hset(account, member, b"\xff")
            with pytest.raises(AccountsError, match="a record is malformed"):
                accounts.usage()
            client.hset(account, member, kept)
        client.rpush("geolookup:keys", "not a digest")
        with pytest.raises(AccountsError, match="a record is malformed"):
            accounts.keys()
        client.set("geolookup:accounts", "many")
        with pytest.raises(AccountsError, match="a record is malformed"):
            accounts.usage()


DURABLE = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
#: Settings of a server, and the word of the problem: None if it writes each change to disk.
SETTINGS: tuple[tuple[dict[str, str], str | None], ...] = (
    ({"appendfsync": "always"}, None),
    ({"appendfsync": "always", "maxmemory-policy": "allkeys-lru"}, None),  # of no limit
    ({"appendonly": "no"}, "appendonly"),
    ({"appendfsync": "no"}, "appendfsync"),
    ({"maxmemory": "1gb", "maxmemory-policy": "allkeys-lru"}, "maxmemory-policy"),
)


@pytest.fixture
def with_settings(emptied: str) -> Iterator[Callable[[dict[str, str]], str]]:
    """Set the server of the tests; returns its URL."""
    with client_package.Redis.from_url(emptied) as client:

        def with_options(settings: dict[str, str]) -> str:
            for name, value in {**DURABLE, "maxmemory": "0", **settings}.items():
                client.config_set(name, value)
            return emptied

        yield with_options
        with_options({})


def test_a_forgetful_server_is_named(with_settings: Callable[[dict[str, str]], str]) -> None:
    for settings, problem in SETTINGS:
        with open_accounts(with_settings(settings)) as accounts:
            if problem is None:
                assert accounts.check_durability() is None, settings
            else:
                with pytest.raises(AccountsError, match=problem):
                    accounts.check_durability()
    url = with_settings({"appendonly": "no"})
    with open_accounts(url) as accounts:
        key = accounts.create_key("Acme", "free")
    done = run("accounts", "keys", "revoke", identifier(digest(key) or b""), "--accounts", url)
    assert done.stdout.endswith(" is revoked\n")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "appendonly" in done.stderr
