"""A store that cannot be used: always AccountsError, never an open gate, and good again after."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import Accounts, accounts_file, open_accounts, outage, sqlite
from geolookup.gate.group_commit import GroupCommit
from geolookup.gate.keys import make
from tests.conftest import ROOT
from tests.gate.conftest import FakeClock, free_port, wait_for
from tests.gate.sliding_log import SECOND


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "accounts.db"


@pytest.fixture
def made(file: Path, plans: Path) -> list[str]:
    """Keys of an exact and of a leased plan in the file."""
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        return [accounts.create_key(plan, plan) for plan in ("mid", "endless")]


def all_fail(accounts: Accounts, made: list[str], says: str) -> None:
    for key in made:
        with pytest.raises(AccountsError, match=says) as wrong:
            accounts.admit(key)
        assert "\n" not in str(wrong.value)
        assert wrong.value.http_status == 503
        assert wrong.value.retry_after > 0


def test_a_missing_file_is_not_made_by_asking(file: Path) -> None:
    with open_accounts(f"sqlite:///{file}") as accounts:
        for ask in (accounts.keys, accounts.usage):
            with pytest.raises(AccountsError, match="geolookup keys create"):
                ask()
    assert not file.exists()


def test_a_file_that_cannot_be_opened_need_not_be_created(file: Path) -> None:
    file.mkdir()
    with (
        open_accounts(f"sqlite:///{file}") as accounts,
        pytest.raises(AccountsError, match="permissions"),
    ):
        accounts.keys()


def nonsense(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 64)


def foreign(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY)")
    db.close()


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def newer(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1500])


def scrambled(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[1024:] = b"\xa5" * (len(content) - 1024)
    file.write_bytes(content)


def zero_bytes(file: Path) -> None:
    file.write_bytes(b"")


DAMAGES = [nonsense, foreign, folder, newer, truncated, scrambled, zero_bytes]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_none_of_ours(
    file: Path, plans: Path, made: list[str], damage: Callable[[Path], None]
) -> None:
    damage(file)
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        all_fail(accounts, made, str(file))


def test_a_file_locked_by_another(
    file: Path, plans: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_file, "_BUSY_TIMEOUT", 0.05)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        all_fail(accounts, made, "locked")
        other.execute("ROLLBACK")
        until_admitted(accounts, made)
    other.close()


def test_a_file_locked_for_a_moment_is_asked_again_at_once(
    file: Path, plans: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other, pauses = sqlite3.connect(file, isolation_level=None), list[float]()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            other.execute("ROLLBACK")

    monkeypatch.setattr(sqlite, "sleep", pause)
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        before = sum(row.used for row in accounts.usage())
        other.execute("BEGIN IMMEDIATE")
        accounts.admit(made[0])
        assert sum(row.used for row in accounts.usage()) == before + 1
    assert pauses == [50e-6, 100e-6, 200e-6]
    other.close()


_LIMITED = """
import os, resource, sys
from geolookup.errors import AccountsError
from geolookup.gate import open_accounts
how, url, plans, *keys = sys.argv[1:]
accounts = open_accounts(url, plans)
if how == "full":
    size = os.stat(url.removeprefix("sqlite:///")).st_size // 2
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
elif os.geteuid() == 0:
    os.seteuid(65534)
for key in keys:
    try:
        accounts.admit(key)
    except AccountsError as error:
        print(error)
"""


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_disk_that_takes_no_more(made: list[str], file: Path, plans: Path, how: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:  # open to others, as tmp_path is not
        place = Path(scratch)
        for path in (file, plans):
            shutil.copy(path, place)
            (place / path.name).chmod(0o444)
        place.chmod(0o555)
        url = f"sqlite:///{place / file.name}"
        command = [sys.executable, "-c", _LIMITED, how, url, str(place / plans.name), *made]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        place.chmod(0o755)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 2


def test_a_file_replaced_while_in_use(file: Path, plans: Path, made: list[str]) -> None:
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        for key in made:
            accounts.admit(key)
        content = file.read_bytes()
        nonsense(file)
        accounts.close()
        all_fail(accounts, made, str(file))
        file.write_bytes(content)
        for key in made:
            accounts.admit(key)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@host/x",
        "accounts.db",
        "sqlite://",
        "sqlite://host/path",
        "sqlite:///a.db?sync=full",
        "sqlite:///a.db?synchronous=off",
        "redis://user:secret@host:port/0",
        "",
    ],
)
def test_a_url_of_no_store(url: str) -> None:
    with pytest.raises(AccountsError) as wrong:
        open_accounts(url)
    assert "secret" not in str(wrong.value)


def test_writes_that_survive_power_loss(file: Path, made: list[str]) -> None:
    for option, level in (("", 1), ("?synchronous=full", 2)):
        with open_accounts(f"sqlite:///{file}{option}") as accounts:
            accounts.usage()
            db = vars(accounts._store)["_connection"]
            assert db.execute("PRAGMA synchronous").fetchone() == (level,)
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


Server = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def server(redis_server: str, tmp_path: Path) -> Iterator[tuple[str, Server]]:
    """The URL of a server of this test alone, and how to start it (again)."""
    port = free_port()
    program = shutil.which("redis-server") or shutil.which("valkey-server") or ""
    running: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        options = ["--port", str(port), "--dir", str(tmp_path), "--save", ""]
        durable = ["--appendonly", "yes", "--appendfsync", "always"]
        running.append(subprocess.Popen([program, *options, *durable], stdout=subprocess.DEVNULL))
        wait_for(port)
        return running[-1]

    yield f"redis://127.0.0.1:{port}/0", start
    for process in running:
        process.kill()
        process.wait()


def test_a_redis_that_is_killed_and_comes_back(
    server: tuple[str, Server], plans: Path, clock: FakeClock
) -> None:
    url, start = server
    process = start()
    with open_accounts(url, plans, clock=clock) as accounts:
        made = [accounts.create_key(plan, plan) for plan in ("mid", "endless")]
        for key in made:
            accounts.admit(key)
        process.kill()
        process.wait()
        clock.now += SECOND
        all_fail(accounts, made, "redis://127.0.0.1")
        start()
        until_admitted(accounts, made)
        accounts.give_back()
        assert accounts.usage()[0].used == 2


def test_a_redis_that_says_nothing(
    server: tuple[str, Server], plans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geolookup.gate import redis_server as redis_module

    monkeypatch.setattr(redis_module, "_TIMEOUT", 0.1)
    url, start = server
    process = start()
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key("mid", "mid")
        process.send_signal(signal.SIGSTOP)
        all_fail(accounts, [key], "redis://127.0.0.1")
        process.send_signal(signal.SIGCONT)
        until_admitted(accounts, [key])


def test_one_failure_is_remembered_by_all(
    server: tuple[str, Server], plans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geolookup.gate import redis_server as redis_module

    monkeypatch.setattr(redis_module, "_TIMEOUT", 0.5)
    url, start = server
    process = start()
    with open_accounts(url, plans) as accounts:
        keys = [accounts.create_key(f"account {number}", "mid") for number in range(20)]
        process.send_signal(signal.SIGSTOP)
        gate = GroupCommit(accounts)
        began = time.monotonic()
        assert asyncio.run(answers(gate, keys)) == [AccountsError] * len(keys)
        assert asyncio.run(answers(gate, [make("live") for _ in keys])) == [AccountsError] * 20
        assert time.monotonic() - began < 0.5 * len(keys)  # each of them waited in turn
        process.send_signal(signal.SIGCONT)
        until_admitted(accounts, keys)


def test_one_wait_for_a_locked_file_is_enough_for_all(
    file: Path, made: list[str], plans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_file, "_BUSY_TIMEOUT", 0.1)
    monkeypatch.setattr(outage, "_REMEMBERED", 3600)
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        for key in made:
            accounts.admit(key)
        lock = sqlite3.connect(file, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(AccountsError, match="locked"):
            accounts.admit(made[0])
        lock.close()
        all_fail(accounts, made, "locked")  # nobody asked the file, which is free
        monkeypatch.setattr(outage, "monotonic", lambda: time.monotonic() + 3601)
        for key in made:
            accounts.admit(key)


def test_a_lost_account_fails_alone(emptied: str, plans: Path) -> None:
    import redis

    with open_accounts(emptied, plans) as accounts:
        lost, other = (accounts.create_key(name, "mid") for name in ("Lost", "Other"))
        with redis.Redis.from_url(emptied) as client:
            client.delete("geolookup:account:1")
        gate = GroupCommit(accounts)
        found = asyncio.run(answers(gate, [other, lost, other]))
        assert found == [type(None), AccountsError, type(None)]
        for ask in (accounts.keys, accounts.usage):
            with pytest.raises(AccountsError):
                ask()


def test_an_account_that_a_restore_removes_fails_alone(url: str, plans: Path, file: Path) -> None:
    with open_accounts(url, plans) as accounts:
        keys = [accounts.create_key(name, "mid") for name in ("Kept", "Removed")]
        for key in keys:
            accounts.admit(key)  # cached from now on
        if url.startswith("sqlite"):
            with sqlite3.connect(file) as db:
                db.execute("DELETE FROM account WHERE name = 'Removed'")
            db.close()
        else:
            redis = pytest.importorskip("redis")
            with redis.Redis.from_url(url) as client:
                client.delete("geolookup:account:2")
        kept = type(None)
        found = asyncio.run(answers(GroupCommit(accounts), [*keys, keys[0]]))
        assert found == [kept, AccountsError, kept]


async def answers(gate: GroupCommit, keys: list[str]) -> list[object]:
    """Return what requests raise that come together; the loop runs meanwhile."""
    waiting = asyncio.gather(*filter(None, map(gate.admit, keys)), return_exceptions=True)
    turns = 0
    while not waiting.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 0
    return [type(each) for each in await waiting]


def until_admitted(accounts: Accounts, keys: list[str]) -> None:
    """Ask until the failure is forgotten, then with every key."""
    ends = time.monotonic() + 20
    while True:
        try:
            accounts.admit(keys[0])
        except AccountsError:
            assert time.monotonic() < ends
            time.sleep(0.05)
        else:
            break
    for key in keys[1:]:
        accounts.admit(key)


@pytest.mark.long
def test_a_watched_store_reports_its_state(
    url: str, plans: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    states: Queue[AccountsError | None] = Queue()
    with open_accounts(url, plans) as accounts:
        accounts.create_key("Acme", "mid")
        accounts.watch(states.put)
        assert states.get(timeout=20) is None
        if url.startswith("sqlite"):
            (tmp_path / "accounts.db").unlink()
        else:
            import redis

            with redis.Redis.from_url(request.getfixturevalue("redis_server")) as client:
                client.flushall()
        while states.get(timeout=20) is None:
            pass
        accounts.create_key("New", "mid")
        while states.get(timeout=20) is not None:
            pass


def test_a_redis_that_takes_no_writes(emptied: str, plans: Path) -> None:
    import redis

    with open_accounts(emptied, plans) as accounts, redis.Redis.from_url(emptied) as client:
        made = [accounts.create_key(plan, plan) for plan in ("mid", "endless")]
        client.config_set("maxmemory", 1)
        all_fail(accounts, made, "redis://127.0.0.1")
        client.config_set("maxmemory", 0)
        for key in made:
            accounts.admit(key)


_NO_CLIENT = """
import sys
sys.modules["redis"] = None
from geolookup.gate import open_accounts
open_accounts(sys.argv[1]).create_key("Acme", "free")
try:
    open_accounts("redis://localhost:1/0")
except Exception as error:
    print(error)
"""


def test_without_the_client_of_redis_only_redis_is_missed(file: Path) -> None:
    command = [sys.executable, "-c", _NO_CLIENT, f"sqlite:///{file}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "pip install 'geolookup[redis]'" in done.stdout
    assert file.exists()
