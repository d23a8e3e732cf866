"""Stores and datasets that fail while the server runs; and Redis behind several workers."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from socket import create_connection

import pytest

from geolookup.gate.keys import make
from tests.cli.program import run
from tests.corrupt.forging import member
from tests.datasets import SMALL
from tests.http.serving import Server, Store, free_port, serving, store_at

_BINARY = shutil.which("redis-server") or shutil.which("valkey-server")
needs_redis = pytest.mark.skipif(_BINARY is None, reason="no redis-server or valkey-server here")


@contextmanager
def redis_server(folder: Path, port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(_BINARY), "--port", str(port), "--dir", str(folder), "--save", ""]
    command += ["--appendonly", "yes", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _until_listening(port)
        yield process
    finally:
        process.terminate()
        process.wait(20)


def _until_listening(port: int) -> None:
    ends = time.monotonic() + 20
    while True:
        try:
            with closing(create_connection(("127.0.0.1", port))):
                return
        except ConnectionRefusedError:
            assert time.monotonic() < ends
            time.sleep(0.02)


@pytest.fixture
def redis_port(tmp_path: Path) -> Iterator[int]:
    pytest.importorskip("granian")
    pytest.importorskip("redis")
    port = free_port()
    with redis_server(tmp_path, port):
        yield port


def statuses(server: Server, key: str, count: int) -> Counter[int]:
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(server.ask, "?ip=8.8.8.8", [("X-API-Key", key)]) for _ in range(count)]
        return Counter(each.result().status for each in asked)


@needs_redis
def test_workers_on_redis_keep_one_quota(redis_port: int, tmp_path: Path) -> None:
    store = store_at(f"redis://127.0.0.1:{redis_port}/0", tmp_path)
    small, endless = store.key("small"), store.key()
    with serving(store, tmp_path, workers=3) as server:
        assert statuses(server, small, 30) == {200: 2, 429: 28}
        assert statuses(server, endless, 100) == {200: 100}


@needs_redis
def test_no_redis_is_503_until_it_is_back(tmp_path: Path) -> None:
    pytest.importorskip("granian")
    pytest.importorskip("redis")
    port = free_port()
    store = store_at(f"redis://127.0.0.1:{port}/0", tmp_path)
    with redis_server(tmp_path, port) as process:
        header = [("X-API-Key", store.key("slow"))]
        with serving(store, tmp_path) as server:
            assert server.ask("?ip=8.8.8.8", header).status == 200
            process.terminate()
            process.wait(20)
            ends = time.monotonic() + 20
            while (reply := server.ask("?ip=8.8.8.8", header)).status == 429:
                assert time.monotonic() < ends
            assert (reply.status, reply.body) == (503, b"")
            assert int(reply.headers["retry-after"]) >= 1
            for _ in range(20):
                assert server.ask("?ip=8.8.8.8", header).status == 503
            # No key, no store to be asked.
            assert server.ask("?ip=8.8.8.8").status == 401
            log = server.output.read_text(encoding="utf-8")
            assert 1 <= log.count("[ERROR]") <= 20
            with redis_server(tmp_path, port):
                while server.ask("?ip=8.8.8.8", header).status != 200:
                    assert time.monotonic() < ends


@needs_redis
def test_redis_that_lost_its_data_is_503(redis_port: int, tmp_path: Path) -> None:
    import redis

    store = store_at(f"redis://127.0.0.1:{redis_port}/0", tmp_path)
    header = [("X-API-Key", store.key())]
    with serving(store, tmp_path) as server:
        assert server.ask("?ip=8.8.8.8", header).status == 200
        with redis.Redis(port=redis_port) as client:
            client.flushall()
        ends = time.monotonic() + 20
        while (reply := server.ask("?ip=8.8.8.8", header)).status == 200:
            assert time.monotonic() < ends
        assert reply.status == 503
        unknown = [("X-API-Key", make("live"))]
        assert server.ask("?ip=8.8.8.8", unknown).status == 503


@needs_redis
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--appendonly", "no"), "appendonly"),
        (("--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"), "maxmemory-policy"),
    ],
)
def test_redis_that_undoes_revocations_is_not_served(
    tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    pytest.importorskip("granian")
    pytest.importorskip("redis")
    port = free_port()
    with redis_server(tmp_path, port, *options):
        store = store_at(f"redis://127.0.0.1:{port}/0", tmp_path)
        store.key()
        done = run("serve", "--accounts", store.url, "--port", str(free_port()))
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_redis
@pytest.mark.long
def test_a_silent_redis_delays_nobody_for_long(tmp_path: Path) -> None:
    pytest.importorskip("granian")
    pytest.importorskip("redis")
    port = free_port()
    with redis_server(tmp_path, port) as process:
        store = store_at(f"redis://127.0.0.1:{port}/0", tmp_path)
        headers = [[("X-API-Key", store.key())] for _ in range(25)]
        with serving(store, tmp_path) as server, ThreadPoolExecutor(25) as pool:
            assert server.ask("?ip=8.8.8.8", headers[0]).status == 200
            _until_ready(server, 200)
            process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            asked = [pool.submit(server.ask, "?ip=8.8.8.8", header) for header in headers[1:]]
            assert server.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 404
            assert {each.result().status for each in asked} == {503}
            for _ in range(25):
                assert server.ask("?ip=8.8.8.8", [("X-API-Key", make("live"))]).status == 503
            assert time.monotonic() - began < 20  # a second for each key, one after another: 49
            _until_ready(server, 503)
            process.send_signal(signal.SIGCONT)
            _until_ready(server, 200)
            assert server.ask("?ip=8.8.8.8", headers[1]).status == 200


def test_without_its_accounts_file_a_service_is_not_ready(own_store: Store, tmp_path: Path) -> None:
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, workers=2) as server:
        _until_ready(server, 200)
        (tmp_path / "accounts.db").rename(tmp_path / "aside")
        _until_ready(server, 503)
        assert server.ask("?ip=8.8.8.8", header).status == 503
        assert server.show("/livez").status == 200
        (tmp_path / "aside").rename(tmp_path / "accounts.db")
        _until_ready(server, 200)
        assert server.ask("?ip=8.8.8.8", header).status == 200


def _until_ready(server: Server, status: int) -> None:
    ends = time.monotonic() + 20
    while server.show("/readyz").status != status:
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.parametrize("damage", ["outside", "no JSON"])
def test_a_damaged_dataset_is_503_and_serves_what_is_whole(
    own_store: Store, tmp_path: Path, damage: str
) -> None:
    dataset = tmp_path / "damaged"
    shutil.copytree(SMALL, dataset)
    if damage == "outside":
        _point_outside(dataset)
    else:
        member(dataset, "network.arrow", 1, b'"Acme","isp":NaN')
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, "--dataset", str(dataset)) as server:
        reply = server.ask("?ip=8.8.8.8", header)
        assert (reply.status, reply.body) == (503, b"")
        assert int(reply.headers["retry-after"]) >= 1
        refused = json.loads(server.ask("?ip=10.0.0.1", header).body)
        assert refused["error_code"] == 10002
        assert "8.8.8.8" not in server.output.read_text(encoding="utf-8")
        assert str(dataset) in server.output.read_text(encoding="utf-8")


def _point_outside(dataset: Path) -> None:
    """Let every IPv4 interval name rows that are not there."""
    manifest = json.loads((dataset / "manifest.json").read_text(encoding="utf-8"))
    columns = manifest["files"]["ipv4.arrow"]["columns"]
    path = dataset / "ipv4.arrow"
    content = bytearray(path.read_bytes())
    for name in ("location", "network"):
        _validity, (at, size) = columns[name]["buffers"]
        content[at : at + size] = b"\x7f" * size
    path.write_bytes(bytes(content))
