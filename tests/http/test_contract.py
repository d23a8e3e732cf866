"""Every row of the contract's tables, over a real socket; docs/openapi.json and its examples."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

import geolookup
from tests import envelopes as contract
from tests.conftest import ROOT
from tests.http.serving import PATH, Reply, Server, Store
from tests.internals.http import HEAD_LIMIT, NO_SUCH_METHOD, NO_SUCH_PATH, OUTCOMES, PREFLIGHT
from tests.skips import needs, optional
from tests.tiers import scaled

GENERATION = "x-dataset-generation"


def with_key(key: str) -> list[tuple[str, str]]:
    return [("X-API-Key", key)]


def is_error(reply: Reply, code: int, sample: geolookup.Engine) -> None:
    message, status = contract.ERRORS[code]
    answer = json.loads(reply.body)
    assert reply.status == status
    assert answer == {
        "success": False,
        "data": None,
        "error": True,
        "error_code": code,
        "error_message": message,
    }
    assert reply.body == contract.compact(answer)
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers[GENERATION] == sample.metadata.generation


def test_an_answer_is_the_engines(server: Server, key: str, sample: geolookup.Engine) -> None:
    for ip in ("8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"):
        reply = server.ask(f"?ip={ip}", with_key(key))
        answer = json.loads(reply.body)
        second = answer["data"]["time"]["current_timestamp"]
        assert reply.status == 200
        assert reply.body == sample.lookup_json(ip, at=second)
        assert answer["data"]["ip_type"] == ("ipv6" if ":" in ip else "ipv4")
        contract.check(answer)
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers[GENERATION] == sample.metadata.generation


def test_a_trusted_proxy_is_believed(server: Server, key: str, sample: geolookup.Engine) -> None:
    """By the rules of ``geolookup.contract.proxies``; this machine is the proxy."""
    for name, value in (
        ("X-Forwarded-For", "9.9.9.9, 8.8.8.8"),
        ("Forwarded", 'for=9.9.9.9, for="8.8.8.8:80"'),
    ):
        reply = server.ask("", [*with_key(key), (name, value)])
        assert json.loads(reply.body)["data"]["ip"] == "8.8.8.8"
        direct = server.ask("?ip=1.1.1.1", [*with_key(key), (name, value)])
        assert json.loads(direct.body)["data"]["ip"] == "1.1.1.1"
        unknown = server.ask("", [*with_key(key), (name, "9.9.9.9, unknown")])
        is_error(unknown, 10002, sample)
    is_error(server.ask("", with_key(key)), 10002, sample)


def test_10001_and_10002(server: Server, key: str, sample: geolookup.Engine) -> None:
    for code, ips in (
        (10001, ("x", "", "8.8.8", "8.8.8.8.", "[::1]", "::1%25eth0", "08.8.8.8")),
        (10002, ("10.0.0.1", "127.0.0.1", "::1", "64:ff9b::a00:1", "ff02::1")),
    ):
        for ip in ips:
            is_error(server.ask(f"?ip={ip}", with_key(key)), code, sample)


def test_20001_comes_first(server: Server, sample: geolookup.Engine, key: str) -> None:
    reply = server.ask("?ip=8.8.8.8")
    is_error(reply, 20001, sample)
    assert "X-API-Key" in reply.headers["www-authenticate"]
    is_error(server.ask("?ip=8.8.8.8", [("X_API_Key", key)]), 20001, sample)
    reply = server.ask("?ip=8.8.8.8", [("x-api-KEY", key), ("X_API_Key", "x")])
    assert reply.status == 200
    is_error(server.ask("?ip=x"), 20001, sample)
    is_error(server.ask("?ip=x", with_key("x")), 20002, sample)


def test_20002(server: Server, key: str, sample: geolookup.Engine) -> None:
    """Also for a good key beside another."""
    single = [(text,) for text in ("", "x", "geo_live_" + "a" * 40, "k\xe9y", "a" * 9000)]
    pairs = [pair for other in (key, "x", "") for pair in ((key, other), (other, key))]
    pairs.append(("k\xe9y", key))
    for keys in (*single, *pairs):
        headers = [line for api_key in keys for line in with_key(api_key)]
        is_error(server.ask("?ip=8.8.8.8", headers), 20002, sample)


def until_refused(server: Server, key: str) -> Reply:
    """Ask for a malformed address until another error comes; a slow machine takes a second."""
    while (reply := server.ask("?ip=x", with_key(key))).status == 400:
        pass
    return reply


def test_30001_and_30002(server: Server, store: Store, sample: geolookup.Engine) -> None:
    """Requests that are refused for their address count; only the rate says when to ask again."""
    for plan, code, retry in (("slow", 30001, "1"), ("small", 30002, None)):
        key = store.key(plan)
        is_error(server.ask("?ip=x", with_key(key)), 10001, sample)
        refused = until_refused(server, key)
        is_error(refused, code, sample)
        assert refused.headers.get("retry-after") == retry


def test_head_is_get_without_body_and_others_are_405(server: Server, key: str) -> None:
    for query, status in (("?ip=8.8.8.8", 200), ("?ip=x", 400)):
        lines = f"Host: x\r\nX-API-Key: {key}\r\n\r\n"
        got = server.raw(f"GET {PATH}{query} HTTP/1.1\r\n{lines}".encode())
        head = server.raw(f"HEAD {PATH}{query} HTTP/1.1\r\n{lines}".encode())
        assert (got.status, head.status, head.body) == (status, status, b"")
        assert got.headers.keys() == head.headers.keys()
        assert abs(int(head.headers["content-length"]) - len(got.body)) <= 2
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "LOOK"):
        request = f"{method} {PATH}?ip=8.8.8.8 HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n"
        reply = server.raw(request.encode())
        assert (reply.status, reply.body, reply.headers["allow"]) == (405, b"", "GET, HEAD"), method


schemathesis = optional("schemathesis")
CHECKS = optional("schemathesis.checks").CHECKS
GenerationMode = optional("schemathesis.generation.modes").GenerationMode

DOCUMENT = ROOT / "docs" / "openapi.json"
COUNT = scaled(30, 150)
ADDRESSES = (None, "8.8.8.8", "2606:4700:4700::1111", "10.0.0.1", "x")
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


@needs("requests", "schemathesis")
def test_well_formed_requests(server: Server, store: Store) -> None:
    """Every outcome of the contract is met, and each is as the document says."""
    keys = [store.key(), None, "unknown", store.key("small"), store.key("slow")]
    #: Each key with each address and with the generated query; the slow one last: its requests
    #: follow upon each other.
    turns = itertools.cycle(itertools.product(keys, ADDRESSES))
    met = set[tuple[int, int | None]]()
    session = optional("requests").Session()

    @settings(
        max_examples=COUNT,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        schemathesis.openapi.from_path(str(DOCUMENT))[PATH]["GET"].as_strategy(
            generation_mode=GenerationMode.POSITIVE
        )
    )
    def ask(case: Any) -> None:
        key, address = next(turns)
        # HTTP cannot carry some generated headers.
        case.headers = {"X-API-Key": key} if key else {}
        if address is not None:
            case.query = {"ip": address}
        reply = case.call(base_url=f"http://127.0.0.1:{server.port}", session=session)
        case.validate_response(reply, checks=CHECKS.get_by_names(_CHECKS))
        answer = json.loads(reply.content)
        contract.check(answer)
        assert answer["success"] == (reply.status_code == 200)
        met.add((reply.status_code, answer["error_code"]))

    ask()
    errors = {(one.status, one.code) for one in OUTCOMES if one.code is not None}
    # A machine that is slow asks seldom enough for the slow plan.
    assert {(429, 30001), *met} == {(200, None), *errors}


def test_every_status_is_in_the_document_and_on_the_page() -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    assert list(document["paths"]) == [PATH]
    beside = {NO_SUCH_PATH.status, NO_SUCH_METHOD.status, PREFLIGHT.status}
    for method in ("get", "head"):
        said = {int(status) for status in document["paths"][PATH][method]["responses"]}
        assert said == {outcome.status for outcome in OUTCOMES} - beside
    page = (ROOT / "docs" / "operate" / "http.md").read_text(encoding="utf-8")
    said = {int(status) for status in re.findall(r"^\| (\d{3})", page, re.MULTILINE)}
    assert {one.status for one in OUTCOMES} <= said
    assert f"{HEAD_LIMIT >> 10} KiB" in page
