"""``serve --follow``: the server answers whatever becomes of the mirror."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.http.admin import follow_metrics, follow_readiness
from geolookup.mirrors.polling import Status
from tests.cli.program import run
from tests.http.serving import Server, Store, serving
from tests.http.test_admin import LINE
from tests.mirrors.conftest import Edge, edge_of
from tests.servers import PATIENCE, free_port, until
from tests.store.numbered import named


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("acme")
    return [named(folder / str(number), "acme", number) for number in range(2)]


@pytest.fixture
def edge(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    with edge_of(tmp_path, datasets) as edge:
        yield edge


def options(edge: Edge) -> list[str]:
    every = ["--every", "0.3s", "--watch", "0.1"]
    return ["--follow", edge.site.url, "--dataset", str(edge.store), *every]


def generation_of(server: Server, key: str) -> str:
    """Return the generation that answers."""
    reply = server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
    assert reply.status == 200
    assert json.loads(reply.body)["success"]
    return reply.headers["x-dataset-generation"]


@pytest.mark.long
def test_what_a_mirror_publishes_is_answered(edge: Edge, own_store: Store, tmp_path: Path) -> None:
    key, first = own_store.key(), edge.publish(0)
    with serving(own_store, tmp_path, *options(edge)) as server:
        assert "has no generation; fetching one" in server.output.read_text(encoding="utf-8")
        assert generation_of(server, key) == first
        second = edge.publish(1)
        until(lambda: generation_of(server, key) == second)
        assert b"\nfollowing: last success 2" in server.show("/readyz").body
        # The follower counts a poll after it has published: the answers may come first.
        until(lambda: server.metric('geolookup_follow_polls_total{result="updated"}') == 2)
        assert server.metric("geolookup_follow_failures") == 0
        assert server.metric("geolookup_follow_downloaded_bytes_total") > 5000
        assert server.metric(f'geolookup_follow_generation_info{{generation="{second}"}}') == 1
        passed = time.time() - server.metric("geolookup_follow_last_success_timestamp_seconds")
        assert -1 < passed < PATIENCE
        for line in server.show("/metrics").body.decode().splitlines():
            assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line)


@pytest.mark.long
def test_a_killed_server_ends_its_follower(edge: Edge, own_store: Store, tmp_path: Path) -> None:
    edge.publish(0)
    with serving(own_store, tmp_path, *options(edge), ended=-signal.SIGKILL) as server:
        assert followers(edge)
        server.process.send_signal(signal.SIGKILL)
        until(lambda: not followers(edge))


def followers(edge: Edge) -> list[int]:
    """Return the processes that follow for the store of an edge."""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads processes of Linux")
    listed = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text(encoding="utf-8").split("\0")
        except OSError:
            continue
        if "follow" in words and str(edge.store) in words:
            listed.append(int(process.name))
    return listed


@pytest.mark.long
def test_a_server_that_cannot_follow_does_not_start(own_store: Store, tmp_path: Path) -> None:
    here = ("--dataset", str(tmp_path / "here"), "--trusted-key", "/nowhere")
    for more, problem in (
        (("--follow", "."), "--follow needs the store that follows"),
        (("--follow", ".", *here), "cannot follow"),
        (here, "/nowhere: cannot be read"),
        # Before it waits for the mirror.
        (("--follow", "https://nowhere.invalid/", *here[:2], "--cors", "x"), "--cors 'x'"),
    ):
        port = str(free_port())
        done = run("serve", "--accounts", own_store.url, "--port", port, *more, folder=tmp_path)
        assert done.returncode == 2, more
        assert problem in done.stderr


def test_failures_are_said_to_probes() -> None:
    once = Status().after_success("current")
    assert follow_readiness(once) == f"following: last success {once.succeeded_at}\n"
    failed = once.after_failure("no\nroute").after_failure("none")
    expected = f"following: 2 failed polls in a row, last success {once.succeeded_at}\n"
    assert follow_readiness(failed) == expected
    assert follow_readiness(Status()) == ""
    assert follow_metrics(Status()) == ""
