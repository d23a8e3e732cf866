"""``serve --cors`` in a real browser: a page of another origin reads the answers, or cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser import chromium
from tests.http.serving import PATH, Store, serving
from tests.skips import needs

pytestmark = [pytest.mark.long, needs("playwright", "granian")]

#: Returns status, error code and Retry-After of an answer, or the error of a fetch that failed.
_SCRIPT = """async ([url, key]) => {
  try {
    const answer = await fetch(url, {headers: {"X-API-Key": key}});
    const {error_code, data} = await answer.json();
    const names = ["Retry-After", "X-Dataset-Generation"];
    const [seconds, generation] = names.map(name => answer.headers.get(name));
    return [answer.status, error_code, data?.location.country_code ?? null, seconds, !!generation];
  } catch (error) {
    return error.name;
  }
}"""


class _BlankPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


@pytest.fixture
def origin() -> Iterator[str]:
    """The origin of an application: a server of blank pages."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _BlankPage) as pages:
        Thread(target=pages.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{pages.server_port}"
        pages.shutdown()


def fetch_from_page(origin: str, port: int, *requests: tuple[str, str]) -> list[Any]:
    """Return the results of requests, each a query and a key, that a page of an origin makes."""
    with ThreadPoolExecutor(1) as thread:  # other tests run event loops in this one
        return thread.submit(_fetch, origin, f"http://127.0.0.1:{port}{PATH}", requests).result()


def _fetch(origin: str, url: str, requests: Sequence[tuple[str, str]]) -> list[Any]:
    with chromium() as browser:
        page = browser.new_page()
        page.goto(origin)
        return [page.evaluate(_SCRIPT, [url + query, key]) for query, key in requests]


@pytest.mark.parametrize("is_any", [False, True])
def test_an_allowed_page_reads_answers(
    origin: str, store: Store, key: str, tmp_path: Path, is_any: bool
) -> None:
    slow = store.key("slow")
    with serving(store, tmp_path, "--cors", "*" if is_any else origin) as server:
        answers = fetch_from_page(
            *(origin, server.port),
            *(("?ip=8.8.8.8", key), ("?ip=x", key), ("?ip=8.8.8.8", "unknown")),
            *[("?ip=8.8.8.8", slow)] * 20,
        )
    assert answers[:3] == [
        [200, None, "US", None, True],
        [400, 10001, None, None, True],
        [401, 20002, None, None, True],
    ]
    # More than one in a second, unless a request takes a second.
    assert {tuple(answer) for answer in answers[3:]} == {
        (200, None, "US", None, True),
        (429, 30001, None, "1", True),
    }


def test_another_page_reads_none(origin: str, store: Store, key: str, tmp_path: Path) -> None:
    for options in ((), ("--cors", "https://app.example")):
        with serving(store, tmp_path, *options) as server:
            results = fetch_from_page(origin, server.port, ("?ip=8.8.8.8", key))
            assert results == ["TypeError"], options
            assert server.metric('geolookup_http_requests_total{status="200",code=""}') == 0
