"""What only a remote store can do: a clock of its own, lost data, writes that a crash undoes."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from geolookup.errors import AccountsError, InvalidKeyError, RateLimitError
from geolookup.gate import Accounts, open_accounts
from geolookup.gate.account_store import wall_clock
from geolookup.gate.keys import digest, identifier, make
from tests.cli.program import run
from tests.gate.conftest import free_port, wait_for

HOUR = 3_600_000_000


@pytest.fixture(params=[-HOUR, -1_500_000, 1_500_000, HOUR], ids=lambda by: f"{by / 1e6:+g}s")
def skewed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock of this machine beside that of the server."""
    from geolookup.gate import redis as redis_module

    by: int = request.param
    monkeypatch.setattr(redis_module, "wall_clock", lambda: wall_clock() + by)


@pytest.mark.usefixtures("skewed")
@pytest.mark.parametrize(("plan", "rate"), [("tiny", 3), ("fast", 1000)])
def test_a_retry_is_never_later_than_the_plan_means(
    emptied: str, plans: Path, plan: str, rate: int
) -> None:
    with open_accounts(emptied, plans) as accounts:
        key = accounts.create_key("Acme", plan)
        waits = []
        for _ in range(2 * rate):
            try:
                accounts.admit(key)
            except RateLimitError as error:
                waits.append(error.retry_after)
        assert waits
        assert 0 <= min(waits) <= max(waits) <= 1.02
        time.sleep(waits[-1] + 0.05)
        accounts.admit(key)


@pytest.mark.usefixtures("skewed")
def test_a_key_expires_by_the_clock_of_the_server(emptied: str, plans: Path) -> None:
    with open_accounts(emptied, plans) as accounts:
        now = time.time_ns() // 10**9
        expired = accounts.create_key("Acme", "mid", expires=now - 10)
        valid = accounts.create_key("Acme", "mid", expires=now + 10)
    with open_accounts(emptied, plans) as accounts, pytest.raises(InvalidKeyError):
        accounts.admit(expired)
    with open_accounts(emptied, plans) as accounts:
        accounts.admit(valid)


def asked(accounts: Accounts, keys: list[str]) -> None:
    for key in keys:
        with pytest.raises(AccountsError, match="no accounts"):
            accounts.admit(key)


def test_lost_data_admit_nobody_and_refuse_no_key(emptied: str, plans: Path) -> None:
    import redis

    with open_accounts(emptied, plans) as running:
        keys = [running.create_key(plan, plan) for plan in ("mid", "endless")]
        for key in keys:
            running.admit(key)
        with redis.Redis.from_url(emptied) as client:
            client.flushall()
        time.sleep(1.1)
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


Start = Callable[..., str]


@pytest.fixture
def start(redis_server: str, tmp_path: Path) -> Iterator[Start]:
    """Start a server with options; return its URL."""
    assert redis_server  # skips where there is no server
    program = shutil.which("redis-server") or shutil.which("valkey-server") or ""
    running: list[subprocess.Popen[bytes]] = []

    def begin(*options: str) -> str:
        port = free_port()
        at = ("--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path))
        running.append(subprocess.Popen([program, *at, *options], stdout=subprocess.DEVNULL))
        wait_for(port)
        return f"redis://127.0.0.1:{port}/0"

    yield begin
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--appendonly", "no"), "appendonly"),
        (("--appendonly", "yes", "--appendfsync", "no"), "appendfsync"),
        (
            *(("--appendonly", "yes", "--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"),),
            "maxmemory-policy",
        ),
    ],
)
def test_a_server_that_forgets_revocations_is_named(
    start: Start, options: tuple[str, ...], says: str
) -> None:
    url = start("--save", "", *options)
    with open_accounts(url) as accounts:
        accounts.create_key("Acme", "free")
        with pytest.raises(AccountsError, match=says):
            accounts.check_durability()


@pytest.mark.parametrize("sync", ["everysec", "always"])
def test_a_durable_server_is_no_problem(start: Start, sync: str) -> None:
    url = start("--save", "", "--appendonly", "yes", "--appendfsync", sync)
    with open_accounts(url) as accounts:
        assert accounts.check_durability() is None


def test_a_server_that_does_not_tell_is_a_warning(start: Start) -> None:
    url = start("--save", "", "--rename-command", "CONFIG", "")
    with open_accounts(url) as accounts:
        assert "appendonly" in (accounts.check_durability() or "")


def test_a_revocation_survives_a_killed_server(start: Start, tmp_path: Path) -> None:
    options = ("--save", "", "--appendonly", "yes")
    url = start(*options)
    with open_accounts(url) as accounts:
        key = accounts.create_key("Acme", "free")
        accounts.revoke(identifier(digest(key) or b""))
    import redis

    with redis.Redis.from_url(url) as client, suppress(redis.ConnectionError):
        client.execute_command("SHUTDOWN", "NOSAVE", "NOW", "FORCE")
    with open_accounts(start(*options)) as accounts, pytest.raises(InvalidKeyError):
        accounts.admit(key)


def test_a_command_that_revokes_says_that_a_crash_undoes_it(start: Start) -> None:
    url = start("--save", "", "--appendonly", "no")
    with open_accounts(url) as accounts:
        key = accounts.create_key("Acme", "free")
    done = run("keys", "revoke", identifier(digest(key) or b""), "--accounts", url)
    assert done.stdout.startswith("revoked ")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "appendonly" in done.stderr
