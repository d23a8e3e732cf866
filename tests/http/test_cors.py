"""``serve --cors``: pages of other origins read answers by the rules of the Fetch standard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from geolookup.errors import SettingsError
from tests.http.serving import PATH, Reply, Server, Store, serving
from tests.http.test_admin import REQUESTS
from tests.internals.http import Origins

APP, OTHER = "https://app.example", "https://other.example"
EXPOSED = "Retry-After, X-Dataset-Generation, X-Dataset-Stale"
PREFLIGHT = {
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "X-API-Key",
    "access-control-max-age": "7200",
}
CORS = {"vary", "access-control-allow-origin", "access-control-expose-headers", *PREFLIGHT}


@pytest.fixture(scope="module")
def sharing(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose answers pages of two origins may read."""
    options = ("--cors", APP, "--cors", "http://localhost:3000")
    with serving(store, tmp_path_factory.mktemp("listed"), *options) as running:
        yield running


def of_cors(reply: Reply) -> dict[str, str]:
    return {name: value for name, value in reply.headers.items() if name in CORS}


def preflight(server: Server, *lines: str, path: str = PATH, method: str = "OPTIONS") -> Reply:
    """Ask as browsers do before a GET with the header X-API-Key."""
    head = (f"{method} {path} HTTP/1.1", "Host: x", *lines, "", "")
    return server.raw("\r\n".join(head).encode("latin-1"))


ASKED = ("Access-Control-Request-Method: GET", "Access-Control-Request-Headers: x-api-key")


def test_a_preflight_needs_no_key_and_counts_nothing(sharing: Server, store: Store) -> None:
    before = sharing.metric(REQUESTS, status="204", code="")
    for origin in (APP, "http://localhost:3000"):
        reply = preflight(sharing, f"Origin: {origin}", *ASKED, path=f"{PATH}?ip=8.8.8.8")
        assert (reply.status, reply.body) == (204, b"")
        allowed = {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": EXPOSED,
            "vary": "Origin",
        }
        assert of_cors(reply) == PREFLIGHT | allowed
        assert "content-length" not in reply.headers
    assert sharing.metric(REQUESTS, status="204", code="") == before + 2
    key = [("X-API-Key", store.key("small")), ("Origin", APP)]
    preflight(sharing, f"Origin: {APP}", f"X-API-Key: {key[0][1]}", *ASKED)
    assert [sharing.ask("?ip=8.8.8.8", key).status for _ in range(3)] == [200, 200, 429]


def test_other_origins_are_allowed_nothing(sharing: Server, key: str) -> None:
    for origins in (
        *([OTHER], ["null"], [f"{APP}/"], [f"{APP}.other.example"]),
        *([APP, APP], ["\xe9", APP]),
    ):
        reply = preflight(sharing, *(f"Origin: {origin}" for origin in origins), *ASKED)
        assert (reply.status, of_cors(reply)) == (204, {"vary": "Origin"})
        headers = [("X-API-Key", key), *(("Origin", origin) for origin in origins)]
        reply = sharing.ask("?ip=8.8.8.8", headers)
        assert (reply.status, of_cors(reply)) == (200, {"vary": "Origin"})


def test_what_is_not_a_preflight_is_as_without_the_option(sharing: Server) -> None:
    for lines, method in (
        ([f"Origin: {APP}"], "OPTIONS"),
        ([*ASKED], "OPTIONS"),
        ([f"Origin: {APP}", *ASKED], "POST"),
        ([f"Origin: {APP}", *ASKED], "options"),
    ):
        reply = preflight(sharing, *lines, method=method)
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD"), (lines, method)
        assert "access-control-allow-methods" not in reply.headers
    assert preflight(sharing, f"Origin: {APP}", *ASKED, path="/").status == 404
    assert preflight(sharing, f"Origin: {APP}", "Host: y", *ASKED).status == 400


def test_every_answer_names_the_origin(sharing: Server, store: Store, key: str) -> None:
    """Also errors: else a page would see a network error in their place."""
    slow = store.key("slow")
    sharing.ask("?ip=x", [("X-API-Key", slow)])
    for query, api_key, status in (
        ("?ip=8.8.8.8", key, 200),
        ("?ip=x", key, 400),
        ("?ip=10.0.0.1", key, 400),
        ("?ip=8.8.8.8", "", 401),
        ("?ip=8.8.8.8", "unknown", 401),
        ("?ip=8.8.8.8", slow, 429),
        ("/nothing", key, 404),
    ):
        reply = sharing.ask(query, [("Origin", APP), ("X-API-Key", api_key)])
        assert reply.status == status
        assert reply.headers["access-control-allow-origin"] == APP, query
        assert reply.headers["access-control-expose-headers"] == EXPOSED
        assert reply.headers["vary"] == "Origin"
        assert "retry-after" in reply.headers or status != 429


@pytest.mark.parametrize(
    "origin",
    [
        *(f"{APP}/", f"{APP}:443", "http://app.example:80", "https://App.example", f"{APP}:0443"),
        *("HTTPS://app.example", "https://bücher.example", "https://faß.example", "app.example"),
        *("", "https://*.example", f"{APP}:x", f"{APP},{OTHER}", f"{APP}\n", "https://[::1"),
    ],
)
def test_a_malformed_origin_is_refused(origin: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Origins([APP, origin])
    text = str(raised.value)
    assert text.startswith(
        f"--cors {origin!r} is not an origin; write it as browsers do, like {APP}:"
    )


def test_origins_as_browsers_write_them() -> None:
    ours = ["https://app.example:8443", "http://[::1]:3000", "https://xn--bcher-kva.example", "*"]
    Origins([*ours, "chrome-extension://abcdefghijklmnop"])
