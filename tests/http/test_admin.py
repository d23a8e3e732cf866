"""Health and metrics, on a port of their own."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from tests.http.serving import PATH, Server, Store, serving
from tests.internals.http import ANSWERED, BOUNDS, OUTCOMES, Counters, Outcome, exposition, readings
from tests.internals.updates import State, write_state
from tests.own_sources import own_dataset
from tests.servers import family
from tests.store.numbered import numbered, published

REQUESTS = "geolookup_http_requests_total"
GENERATION = "ab" * 32
LINE = re.compile(r'[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? \S+')


def test_counts_are_those_of_all_workers(own_store: Store, tmp_path: Path) -> None:
    header = [("X-API-Key", own_store.key())]
    asked = {"200": 40, "400": 3, "401": 2, "404": 1, "405": 1}
    options = ("--dataset", str(own_dataset()), "--own")
    with serving(own_store, tmp_path, *options, workers=2) as server:
        for _ in range(asked["200"]):  # a connection each: both workers get some
            answer = json.loads(server.ask("?ip=8.8.8.8", header).body)
            assert list(answer["data"])[-2:] == ["network", "own"]
            assert answer["data"]["own"]["site_id"] == 'the "1" site'
        assert json.loads(server.ask("?ip=10.2.0.1", header).body)["own"]["site_id"] == "HQ"
        for query in ("?ip=x", ""):
            assert server.ask(query, header).status == 400
        for headers in ([], [("X-API-Key", "x")]):
            assert server.ask("?ip=8.8.8.8", headers).status == 401
        assert server.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 404
        assert server.raw(f"PUT {PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).status == 405
        text = server.show("/metrics").body.decode()
        for code, count in (("10001", 1), ("10002", 2), ("20001", 1), ("20002", 1)):
            assert f'code="{code}"}} {count}\n' in text
        assert server.metric(f'{REQUESTS}{{status="200",code=""}}') == asked["200"]
        refused = "geolookup_http_keys_refused_total"
        assert server.metric(f'{refused}{{reason="missing"}}') == 1
        assert server.metric(f'{refused}{{reason="invalid"}}') == 1
        latency = "geolookup_http_request_duration_seconds"
        assert server.metric(f"{latency}_count") == sum(asked.values())
        assert server.metric(f"{latency}_sum") > 0


def test_health_and_lines_of_metrics(server: Server, sample: geolookup.Engine) -> None:
    assert server.show("/livez").status == 200
    assert server.show("/readyz").status == 200
    assert server.show("/").status == 404
    assert server.show(PATH).status == 404
    generation = sample.metadata.generation
    assert server.metric(f'geolookup_dataset_workers{{generation="{generation}"}}') == 2
    for line in server.show("/metrics").body.decode().splitlines():
        assert line.startswith(("# HELP geolookup_", "# TYPE geolookup_")) or LINE.fullmatch(line)


def test_the_updates_of_the_store(own_store: Store, tmp_path: Path) -> None:
    """Whoever runs them: their state is in the store. Before the first one, nothing is shown."""
    store = published(tmp_path / "store", 0)
    with serving(own_store, tmp_path, "--dataset", str(store)) as server:
        assert server.show("/readyz").body == b"ready\n"
        assert "geolookup_update_" not in server.show("/metrics").body.decode()
        state = State("https://x/", failed_at="1970-01-01T00:00:09Z", generation=GENERATION)
        state = replace(state, failures=2, bytes=7, counts={"published": 3, "failed": 2})
        write_state(store, state)
        text = server.show("/readyz").body.decode()
        assert text == "ready\nupdates: 2 failed in a row, last success never\n"
        for name, value in (
            ('runs_total{outcome="published"}', 3),
            ('runs_total{outcome="held"}', 0),
            (f'generation_info{{generation="{GENERATION}"}}', 1),
            ("failures", 2),
            ("downloaded_bytes_total", 7),
            ("last_success_timestamp_seconds", 0),
            ("last_failure_timestamp_seconds", 9),
        ):
            assert server.metric(f"geolookup_update_{name}") == value


@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 2**40)), max_size=40))
def test_what_is_counted_is_read(
    tmp_path_factory: pytest.TempPathFactory, requests: list[tuple[Outcome, int]]
) -> None:
    folder = tmp_path_factory.mktemp("counters")
    counters = Counters(folder)
    counters.serve(GENERATION, 5)
    for some in (requests[:3], requests[3:]):
        counters.count([outcome for outcome, _ in some], [took for _, took in some])
    (reading,) = readings(folder)
    assert [reading.outcomes[possible.counter] for possible in OUTCOMES] == [
        sum(outcome is possible for outcome, _ in requests) for possible in OUTCOMES
    ]
    assert reading.nanoseconds == sum(took for _, took in requests)
    assert (reading.generation, reading.written) == (GENERATION, 5)
    text = exposition([reading], [reading])
    for bound in BOUNDS:
        within = sum(took <= bound * 1e9 for _, took in requests)
        assert f'_bucket{{le="{bound}"}} {within}\n' in text
    assert f'_bucket{{le="+Inf"}} {len(requests)}\n' in text


def test_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counters = Counters(tmp_path)
    counters.serve(GENERATION, 0)
    counters.count([ANSWERED], [1])
    assert [reading.process for reading in readings(tmp_path)] == [os.getpid()]
    assert f'{REQUESTS}{{status="200",code=""}} 0\n' in exposition([], [])
    assert [outcome.counter for outcome in OUTCOMES] == list(range(len(OUTCOMES)))
    for now, age in ((1095.6, 96), (900.0, 0)):  # and after the clock was set back
        counters.serve(GENERATION, 1000)
        monkeypatch.setattr(time, "time", lambda now=now: now)
        line = f'geolookup_dataset_age_seconds{{generation="{GENERATION}"}} {age}\n'
        assert line in exposition([], list(readings(tmp_path)))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk")
def test_a_full_disk_costs_counters_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / f"worker-{os.getpid()}").symlink_to("/dev/full")
    counters = Counters(tmp_path)
    counters.serve(GENERATION, 0)
    counters.count([ANSWERED], [1])
    (record,) = caplog.records
    assert "/metrics and /readyz leave this worker out" in record.message


def test_a_server_without_options_has_no_admin_port_and_trusts_nobody(
    own_store: Store, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes listen on the port of the service only. That port has no metrics. Each worker
    logs that the data are old.
    """
    monkeypatch.delenv("GEOLOOKUP_AGE_NOTICE")
    old = str(numbered(tmp_path / "old", 1, date="2020-01-01"))
    key, claims = own_store.key(), (("X-Forwarded-For", "8.8.8.8"), ("Forwarded", "for=8.8.8.8"))
    assert listening(server.process.pid) == {server.port, server.admin}
    with serving(own_store, tmp_path, "--dataset", old, has_admin=False, workers=2) as without:
        assert listening(without.process.pid) == {without.port}
        for path in ("/metrics", "/livez", "/readyz"):
            assert without.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).status == 404
        for claim in claims:
            reply = without.ask("", [("X-API-Key", key), claim])
            assert json.loads(reply.body)["error_code"] == 10002  # this machine
    assert len(re.findall(r"the age of the data is \d+ days", without.log)) == 2


def listening(process: int) -> set[int]:
    """Return the TCP ports that a process and its descendants listen on, by Linux's /proc."""
    if not Path("/proc/net/tcp").exists():
        pytest.skip("no /proc here")
    ports, links = set[int](), list[str]()
    for member in family(process):
        for link in Path(f"/proc/{member}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                links.append(str(link.readlink()))
    for name in ("tcp", "tcp6"):
        table = Path(f"/proc/{process}/net/{name}")
        for line in table.read_text(encoding="utf-8").splitlines()[1:] if table.exists() else []:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in links:
                ports.add(int(local.rpartition(":")[2], 16))
    return ports
