"""Health and metrics, on a port of their own."""

from __future__ import annotations

import json
import re
import select
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from tests.conftest import ROOT
from tests.http.serving import PATH, Server, Store, connection_to, sample, serving
from tests.internals.http import (
    BOUNDS,
    OUTCOMES,
    Admin,
    Outcome,
    Shared,
    Watchdog,
    admin,
    exposition,
)
from tests.internals.updates import State, write_state
from tests.servers import accepts, free_port, until
from tests.skips import needs
from tests.store.numbered import numbered, published

REQUESTS = "geolookup_http_requests_total"
GENERATION = "ab" * 32


def test_counts_are_those_of_all_workers(own_store: Store, tmp_path: Path) -> None:
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, workers=2) as server:
        for _ in range(40):  # a connection each: both workers get some
            assert server.ask("?ip=8.8.8.8", header).status == 200
        for query, headers in (
            ("?ip=x", header),
            ("?ip=10.0.0.1", header),
            ("", []),
            ("", [("X-API-Key", "x")]),
        ):
            server.ask(query, headers)
        for status, code in (
            ("400", "10001"),
            ("400", "10002"),
            ("401", "20001"),
            ("401", "20002"),
        ):
            assert server.metric(REQUESTS, status=status, code=code) == 1
        assert server.metric(REQUESTS, status="200", code="") == 40
        assert server.metric("geolookup_http_request_duration_seconds_count") == 44
        assert server.metric("geolookup_http_request_duration_seconds_sum") > 0


def test_pages(server: Server, sample: geolookup.Engine) -> None:
    assert (server.show("/livez").status, server.show("/readyz").status) == (200, 200)
    assert (server.show("/").status, server.show(PATH).status) == (404, 404)
    generation = sample.metadata.generation
    assert server.metric("geolookup_dataset_workers", generation=generation) == 2
    date = str(sample.metadata.age.date)
    since = time.time() - datetime.fromisoformat(f"{date}T00:00:00Z").timestamp()
    age = server.metric("geolookup_dataset_age_seconds", generation=generation)
    assert age == pytest.approx(since, abs=600)
    for request, status in (
        (b"HEAD /livez HTTP/1.1", 200),
        (b"PUT /livez HTTP/1.0", 405),
        (b"x", 400),
    ):
        reply = replace(server, port=server.admin).raw(request + b"\r\nHost: x\r\n\r\n")
        assert (reply.status, reply.body) == (status, b"")


def test_updates_of_the_store(own_store: Store, tmp_path: Path) -> None:
    """Their state is in the store, whoever runs them. Before the first one, nothing is shown."""
    store = published(tmp_path / "store", 0)
    with serving(own_store, tmp_path, "--dataset", str(store)) as server:
        assert "geolookup_update_" not in server.show("/metrics").body.decode()
        state = State("https://x/", failed_at="1970-01-01T00:00:09Z", generation=GENERATION)
        state = replace(state, failures=2, bytes=7, counts={"published": 3, "failed": 2})
        write_state(store, state)
        name = "geolookup_update"
        assert server.metric(f"{name}_runs_total", outcome="published") == 3
        assert server.metric(f"{name}_runs_total", outcome="held") == 0
        assert server.metric(f"{name}_generation_info", generation=GENERATION) == 1
        assert server.metric(f"{name}_failures") == 2
        assert server.metric(f"{name}_downloaded_bytes_total") == 7
        assert server.metric(f"{name}_last_success_timestamp_seconds") == 0
        assert server.metric(f"{name}_last_failure_timestamp_seconds") == 9
        names = {line.partition("{")[0] for line in server.show("/metrics").body.decode().split()}
        alerts = (ROOT / "docs" / "deploy" / "alerts.yaml").read_text(encoding="utf-8")
        assert {*re.findall(r"geolookup_\w+", alerts)} <= names | {"geolookup_dataset_age_seconds"}


@needs("prometheus_client")
@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 2**40)), max_size=40))
def test_metrics_are_the_sums_of_all_batches(requests: list[tuple[Outcome, int]]) -> None:
    shared = Shared(2)
    for slot, batch in zip(shared.slots, (requests[:3], requests[3:]), strict=True):
        slot.count([outcome for outcome, _ in batch], [took for _, took in batch])
    text = exposition(shared, State()).decode()
    for outcome in OUTCOMES:
        labels = {"status": str(outcome.status), "code": str(outcome.code or "")}
        count = sum(outcome is counted for counted, _ in requests)
        assert sample(text, REQUESTS, **labels) == count
    name = "geolookup_http_request_duration_seconds"
    for bound in (*BOUNDS, float("inf")):
        within = sum(took <= bound * 1e9 for _, took in requests)
        assert sample(text, f"{name}_bucket", le=str(bound).replace("inf", "+Inf")) == within
    assert sample(text, f"{name}_sum") == pytest.approx(sum(took for _, took in requests) / 1e9)


@needs("prometheus_client")
def test_age_after_the_clock_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Shared(1)
    (slot,) = shared.slots
    slot.begin()
    slot.generation, slot.data_date, slot.beats = GENERATION.encode(), 1000, 1
    for now, age in ((1095.5, 95.5), (900.0, 0)):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        text = exposition(shared, State()).decode()
        assert sample(text, "geolookup_dataset_age_seconds", generation=GENERATION) == age


def port_of(shared: Shared) -> int:
    """Open an admin port in this process."""
    number = free_port()
    Admin(f"127.0.0.1:{number}", shared, Watchdog(shared), None)
    return number


def is_alive(port: int) -> bool:
    with connection_to(port) as probe:
        probe.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        return probe.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_head_that_trickles_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "DEADLINE", 0.3)
    port = port_of(Shared(1))
    with connection_to(port) as slow:
        while not select.select([slow], [], [], 0.05)[0]:
            slow.send(b"x")
        with suppress(ConnectionResetError):  # bytes came after the end
            assert slow.recv(1) == b""
    monkeypatch.setattr(admin, "DEADLINE", 60.0)
    assert is_alive(port)


def test_silent_connections_shut_no_probe_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "CONNECTIONS", 8)
    port = port_of(Shared(1))
    with ExitStack() as stack:
        silent = [stack.enter_context(connection_to(port)) for _ in range(50)]
        assert is_alive(port)
        until(lambda: set(select.select(silent, [], [], 0)[0]) >= set(silent[:42]))


def test_a_server_without_options_has_no_admin_port_and_trusts_nobody(
    own_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its port has no metrics. Each worker logs that the data are old."""
    monkeypatch.delenv("GEOLOOKUP_AGE_NOTICE")
    old = str(numbered(tmp_path / "old", 1, date="2020-01-01"))
    key, claims = own_store.key(), (("X-Forwarded-For", "8.8.8.8"), ("Forwarded", "for=8.8.8.8"))
    with serving(own_store, tmp_path, "--dataset", old, has_admin=False, workers=2) as without:
        assert not accepts(without.admin)
        for path in ("/metrics", "/livez", "/readyz"):
            assert without.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).status == 404
        for claim in claims:
            reply = without.ask("", [("X-API-Key", key), claim])
            assert json.loads(reply.body)["error_code"] == 10002  # this machine
    assert len(re.findall(r"the age of the data is \d+ days", without.log)) == 2
