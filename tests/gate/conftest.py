"""A fake clock, and every kind of account store: a real SQLite file, a real Redis server."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from geolookup.gate import Accounts, open_accounts

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
#: 2026-11-20, where a bucket begins.
START = 1_795_132_800_000_000


class FakeClock:
    """A clock that goes on when told to; in microseconds."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


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
    """The URL of a Redis or Valkey server of our own, which writes through like a careful one."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    pytest.importorskip("redis")
    if program is None:
        pytest.skip("no redis-server or valkey-server installed")
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    command = [program, *options, "--save", "", "--appendonly", "yes"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.kill()


@pytest.fixture
def emptied(redis_server: str) -> str:
    """The URL of the server, emptied."""
    import redis

    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store without accounts, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/accounts.db"
    emptied: str = request.getfixturevalue("emptied")
    return emptied


Open = Callable[[], Accounts]


@pytest.fixture
def worker(url: str, plans: Path, clock: FakeClock) -> Generator[Open, None, None]:
    """Open the store once more, as another worker by the same clock would."""
    opened: list[Accounts] = []

    def open_one() -> Accounts:
        opened.append(open_accounts(url, plans, clock=clock))
        return opened[-1]

    yield open_one
    for accounts in opened:
        accounts.close()
        shutil.rmtree(accounts._store.leases_folder(), ignore_errors=True)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nothing listens on {port}")
