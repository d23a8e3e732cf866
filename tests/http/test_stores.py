"""Stores and datasets that fail while the server runs; and Redis behind several workers."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from geolookup.errors import AccountsError
from tests.corrupt.forging import member
from tests.datasets import SMALL
from tests.http.serving import Server, Store, serving, store_at
from tests.internals.gate import make
from tests.internals.http import application
from tests.servers import PATIENCE, Redis, family, redis
from tests.skips import optional


@pytest.fixture
def server_of_accounts(tmp_path: Path) -> Iterator[Redis]:
    pytest.importorskip("granian")
    with redis(tmp_path) as server:
        yield server


def status(server: Server, key: str) -> int:
    reply = server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
    if reply.status == 503:
        assert reply.body == b""
        assert int(reply.headers["retry-after"]) >= 1
    return reply.status


def statuses(server: Server, key: str, count: int) -> Counter[int]:
    with ThreadPoolExecutor(count) as pool:
        return Counter(pool.map(lambda _: status(server, key), range(count)))


def test_workers_on_redis_keep_one_quota(server_of_accounts: Redis, tmp_path: Path) -> None:
    # A stall of over a second is 503, and not the subject.
    store = store_at(f"{server_of_accounts.url}?socket_timeout={PATIENCE}", tmp_path)
    small, endless = store.key("small"), store.key()
    with serving(store, tmp_path, workers=3) as server:
        assert statuses(server, small, 30) == {200: 2, 429: 28}
        assert statuses(server, endless, 50) == {200: 50}
        with optional("redis").Redis.from_url(server_of_accounts.url) as client:
            client.flushall()
        server.becomes(lambda: status(server, endless) != 200)
        assert [status(server, key) for key in (endless, make("live"))] == [503, 503]


def test_a_password_of_redis_is_in_no_process_and_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("granian")
    password = tmp_path / "password"
    password.write_text("geheim-3f9a\n", encoding="utf-8")
    monkeypatch.setenv("GEOLOOKUP_REDIS_PASSWORD_FILE", str(password))
    with redis(tmp_path, "--requirepass", "geheim-3f9a") as guarded:
        store = store_at(guarded.url, tmp_path)
        key = store.key()
        with serving(store, tmp_path, workers=2, log_level="debug") as server:
            assert status(server, key) == 200
            processes = family(server.process.pid)
            assert len(processes) > 2
            for process in processes:
                assert b"geheim" not in Path(f"/proc/{process}/cmdline").read_bytes()
            password.write_text("another", encoding="utf-8")
            guarded.end()
            server.becomes(lambda: status(server, key) == 503)
            assert "geheim" not in server.log


def test_no_redis_is_503_until_it_is_back(server_of_accounts: Redis, tmp_path: Path) -> None:
    store = store_at(server_of_accounts.url, tmp_path)
    key = store.key("slow")
    with serving(store, tmp_path) as server:
        assert status(server, key) == 200
        server_of_accounts.end()
        server.becomes(lambda: status(server, key) != 429)
        assert [status(server, key) for _ in range(20)] == [503] * 20
        # No key, no store to be asked.
        assert server.ask("?ip=8.8.8.8").status == 401
        assert "[ERROR]" in server.log
        with redis(tmp_path, port=server_of_accounts.port):
            server.becomes(lambda: status(server, key) == 200)


def test_failures_are_logged_once_a_second(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request may cause one."""
    accounts, host = Mock(remote=False), Mock(**{"get_all.return_value": ["x"]})
    accounts.admit_together = lambda keys: [AccountsError("store", "gone", "wait")] * len(keys)
    service = application.Application(Mock(), accounts, Mock(), Mock())
    request = Mock(path=application.PATH, method="GET", headers=host), Mock(), 0
    for now, lines in ((5.0, 1), (5.9, 1), (6.0, 2), (6.5, 2)):
        monkeypatch.setattr(application, "monotonic", lambda now=now: now)
        service.answer_all([request] * 3)
        assert len(caplog.records) == lines, now


def connections_to(server: Redis) -> int:
    with optional("redis").Redis.from_url(server.url) as client:
        return int(client.info("stats")["total_connections_received"])


@pytest.mark.long
def test_a_silent_redis_delays_nobody_for_long(server_of_accounts: Redis, tmp_path: Path) -> None:
    store, count = store_at(server_of_accounts.url, tmp_path), 60
    keys = [store.key() for _ in range(count)]
    with serving(store, tmp_path) as server, ThreadPoolExecutor(count) as pool:
        assert status(server, keys[0]) == 200
        server.until_ready(200)
        before = connections_to(server_of_accounts)
        server_of_accounts.silence()
        asked = [pool.submit(status, server, key) for key in keys[1:]]
        assert server.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 404
        assert {answer.result() for answer in asked} == {503}
        assert {status(server, make("live")) for _ in range(count)} == {503}
        server.until_ready(503)
        server_of_accounts.answer()
        server.until_ready(200)
        # Most of 119 requests fail at once; one that waits for Redis in vain connects anew.
        assert connections_to(server_of_accounts) - before < count
        server.becomes(lambda: status(server, keys[1]) == 200)


def test_a_damaged_dataset_is_503_where_it_is_damaged(own_store: Store, tmp_path: Path) -> None:
    dataset, ip = tmp_path / "damaged", "2001:4860:4860::8888"
    shutil.copytree(SMALL, dataset)
    member(dataset, "network.arrow", 1, b'"Acme"\n"isp"')  # a text too many
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        reply = server.ask(f"?ip={ip}", header)
        assert (reply.status, reply.body) == (503, b"")
        assert ip not in server.log
        assert str(dataset) in server.log
        assert json.loads(server.ask("?ip=10.0.0.1", header).body)["error_code"] == 10002
