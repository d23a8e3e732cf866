"""The proxy of ``fleet`` passes on what nginx answers, and fails as often as it promises."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from email.message import Message
from pathlib import Path

import pytest

from benchmarks.fleet.server import program
from benchmarks.harness.processes import Child

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(program() is None, reason="no nginx here"),
]
CONTENT = bytes(range(256)) * 200
Started = Callable[..., "Origin"]


class Origin:
    """A running origin of a folder with one delta and an index."""

    def __init__(self, folder: Path, rate: float, latency: float, errors: float, cuts: float):
        (folder / "deltas").mkdir()
        (folder / "deltas" / "one").write_bytes(CONTENT)
        (folder / "index.json").write_text("{}", encoding="utf-8")
        self.child = Child("benchmarks.fleet.proxy", folder, rate, latency, errors, cuts)

    def get(self, path: str, **fields: str) -> tuple[int, Message, bytes]:
        """Return status, header and body; raises OSError or HTTPException for a cut answer."""
        sent = {name.replace("_", "-"): value for name, value in fields.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.child.facts["port"], timeout=120)
        with closing(connection):
            connection.request("GET", path, headers=sent)
            with connection.getresponse() as response:
                return response.status, response.headers, response.read()

    def counts(self) -> dict[str, int]:
        return self.child.ask()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    with ExitStack() as stack:

        def start(
            rate: float = 1e9, latency: float = 0, errors: float = 0, cuts: float = 0
        ) -> Origin:
            origin = Origin(tmp_path, rate, latency, errors, cuts)
            stack.callback(origin.child.close)
            return origin

        yield start


def test_files_versions_and_ranges(started: Started) -> None:
    origin = started()
    status, header, body = origin.get("/deltas/one")
    assert (status, body) == (200, CONTENT)
    assert origin.get("/deltas/one", If_None_Match=header["ETag"])[0] == 304
    status, remainder, body = origin.get(
        "/deltas/one", Range="bytes=1000-", If_Range=header["ETag"]
    )
    assert (status, body) == (206, CONTENT[1000:])
    assert remainder["Content-Range"] == f"bytes 1000-{len(CONTENT) - 1}/{len(CONTENT)}"
    status, _, body = origin.get("/deltas/one", Range="bytes=1000-", If_Range='"other"')
    assert (status, body) == (200, CONTENT)
    assert origin.get("/deltas/one", Range=f"bytes={len(CONTENT)}-")[0] == 416
    assert origin.get("/deltas/two")[0] == 404
    counts = origin.counts()
    sent = counts.pop("deltas bytes") - 3 * len(CONTENT) + 1000
    assert 0 < sent < 3000  # the heads
    expected = {"deltas 200": 2, "deltas 206": 1, "deltas 304": 1, "deltas 404": 1, "deltas 416": 1}
    assert counts == expected


def test_errors_and_cuts_have_the_stated_shares(started: Started) -> None:
    origin, actual = started(errors=0.2, cuts=0.2), {"error": 0, "cut": 0, "whole": 0}
    for _ in range(200):
        actual[_outcome(origin)] += 1
    counts = origin.counts()
    assert counts["deltas 503"] == actual["error"]
    assert counts["deltas 200"] == actual["whole"]
    assert counts["deltas cut"] == actual["cut"]
    assert 20 < actual["error"] < 60
    assert 15 < actual["cut"] < 60


def _outcome(origin: Origin) -> str:
    """Return how a request ends; an answer that is cut inside its head has no status."""
    try:
        status, _, _ = origin.get("/deltas/one")
    except (http.client.HTTPException, OSError):
        return "cut"
    return "error" if status == 503 else "whole"
