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

DAMAGED = ("8.8.8.8", "2001:4860:4860::8888")


@pytest.fixture
def server_of_accounts(tmp_path: Path) -> Iterator[Redis]:
    pytest.importorskip("granian")
    with redis(tmp_path) as server:
        yield server


def status(server: Server, key: str) -> int:
    return server.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status


def statuses(server: Server, key: str, count: int) -> Counter[int]:
    with ThreadPoolExecutor(8) as pool:
        return Counter(pool.map(lambda _: status(server, key), range(count)))


def test_workers_on_redis_keep_one_quota(server_of_accounts: Redis, tmp_path: Path) -> None:
    # A stall of over a second is 503, and not the subject.
    store = store_at(f"{server_of_accounts.url}?socket_timeout={PATIENCE}", tmp_path)
    small, endless = store.key("small"), store.key()
    with serving(store, tmp_path, workers=3) as server:
        assert statuses(server, small, 30) == {200: 2, 429: 28}
        assert statuses(server, endless, 100) == {200: 100}
        with optional("redis").Redis.from_url(server_of_accounts.url) as client:
            client.flushall()
        header = [("X-API-Key", endless)]
        server.becomes(lambda: server.ask("?ip=8.8.8.8", header).status != 200)
        for key in (endless, make("live")):
            assert server.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 503


def test_a_password_of_redis_is_in_no_process_and_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("granian")
    password = tmp_path / "password"
    password.write_text("geheim-3f9a\n", encoding="utf-8")
    monkeypatch.setenv("GEOLOOKUP_REDIS_PASSWORD_FILE", str(password))
    with redis(tmp_path, "--requirepass", "geheim-3f9a") as guarded:
        store = store_at(guarded.url, tmp_path)
        header = [("X-API-Key", store.key())]
        with serving(store, tmp_path, workers=2, log_level="debug") as server:
            assert server.ask("?ip=8.8.8.8", header).status == 200
            processes = family(server.process.pid)
            assert len(processes) > 2
            for process in processes:
                assert b"geheim" not in Path(f"/proc/{process}/cmdline").read_bytes()
            password.write_text("another", encoding="utf-8")
            guarded.end()
            server.becomes(lambda: server.ask("?ip=8.8.8.8", header).status == 503)
            assert "geheim" not in server.log


def test_no_redis_is_503_until_it_is_back(server_of_accounts: Redis, tmp_path: Path) -> None:
    store = store_at(server_of_accounts.url, tmp_path)
    header = [("X-API-Key", store.key("slow"))]
    with serving(store, tmp_path) as server:
        assert server.ask("?ip=8.8.8.8", header).status == 200
        server_of_accounts.end()
        server.becomes(lambda: server.ask("?ip=8.8.8.8", header).status != 429)
        for _ in range(20):
            reply = server.ask("?ip=8.8.8.8", header)
            assert (reply.status, reply.body) == (503, b"")
            assert int(reply.headers["retry-after"]) >= 1
        # No key, no store to be asked.
        assert server.ask("?ip=8.8.8.8").status == 401
        assert "[ERROR]" in server.log
        with redis(tmp_path, port=server_of_accounts.port):
            server.becomes(lambda: server.ask("?ip=8.8.8.8", header).status == 200)


def test_failures_are_logged_once_a_second(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request may cause one."""
    gate, host = Mock(), Mock(**{"get_all.return_value": ["x"]})
    failed = AccountsError("store", "gone", "wait")
    gate.admit = lambda _keys, asked, decided: decided(asked, [failed] * len(asked))
    service = application.Application(Mock(), gate, Mock(), Mock())
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
    headers = [[("X-API-Key", store.key())] for _ in range(count)]
    with serving(store, tmp_path) as server, ThreadPoolExecutor(count) as pool:
        assert server.ask("?ip=8.8.8.8", headers[0]).status == 200
        server.until_ready(200)
        before = connections_to(server_of_accounts)
        server_of_accounts.silence()
        asked = [pool.submit(server.ask, "?ip=8.8.8.8", header) for header in headers[1:]]
        assert server.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 404
        assert {reply.result().status for reply in asked} == {503}
        for _ in range(count):
            assert server.ask("?ip=8.8.8.8", [("X-API-Key", make("live"))]).status == 503
        server.until_ready(503)
        server_of_accounts.answer()
        server.until_ready(200)
        # Most of 119 requests fail at once; one that waits for Redis in vain connects anew.
        assert connections_to(server_of_accounts) - before < count
        server.becomes(lambda: server.ask("?ip=8.8.8.8", headers[1]).status == 200)


def test_a_damaged_dataset_is_503_where_it_is_damaged(own_store: Store, tmp_path: Path) -> None:
    """IPv4 intervals name missing rows; the rows of IPv6 have a text too many."""
    dataset = tmp_path / "damaged"
    shutil.copytree(SMALL, dataset)
    _point_outside(dataset)
    member(dataset, "network.arrow", 1, b'"Acme"\n"isp"')
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        for ip in DAMAGED:
            reply = server.ask(f"?ip={ip}", header)
            assert (reply.status, reply.body) == (503, b""), ip
            assert int(reply.headers["retry-after"]) >= 1
            assert ip not in server.log
        refused = json.loads(server.ask("?ip=10.0.0.1", header).body)
        assert refused["error_code"] == 10002
        assert str(dataset) in server.log


def _point_outside(dataset: Path) -> None:
    """Let every IPv4 interval name missing rows."""
    manifest = json.loads((dataset / "manifest.json").read_text(encoding="utf-8"))
    columns = manifest["files"]["ipv4.arrow"]["columns"]
    path = dataset / "ipv4.arrow"
    content = bytearray(path.read_bytes())
    for name in ("location", "network"):
        _validity, (at, size) = columns[name]["buffers"]
        content[at : at + size] = b"\x7f" * size
    path.write_bytes(bytes(content))
