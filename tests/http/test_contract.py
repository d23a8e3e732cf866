"""Every row of the contract's tables, over a real socket."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import geolookup
from tests import envelopes as contract
from tests.http.serving import PATH, Reply, Server, Store
from tests.skips import needs, optional

httpx = optional("httpx")

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
    """The rules are those of ``geolookup.proxies``; this machine is the proxy."""
    for name, value in (
        ("X-Forwarded-For", "9.9.9.9, 8.8.8.8"),
        ("Forwarded", 'for=9.9.9.9, for="8.8.8.8:80"'),
    ):
        reply = server.ask("", [*with_key(key), (name, value)])
        assert json.loads(reply.body)["data"]["ip"] == "8.8.8.8"
        given = server.ask("?ip=1.1.1.1", [*with_key(key), (name, value)])
        assert json.loads(given.body)["data"]["ip"] == "1.1.1.1"
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
    alone = [(each,) for each in ("", "x", "geo_live_" + "a" * 40, "k\xe9y", "a" * 9000)]
    pairs = [pair for other in (key, "x", "") for pair in ((key, other), (other, key))]
    for given in (*alone, *pairs):
        headers = [line for each in given for line in with_key(each)]
        is_error(server.ask("?ip=8.8.8.8", headers), 20002, sample)


def until_refused(server: Server, key: str) -> Reply:
    """Ask for what is no address until something else says no; a slow machine takes a second."""
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


@needs("httpx")
def test_a_client_of_the_hosted_service_needs_no_change(server: Server, key: str) -> None:
    base = f"http://127.0.0.1:{server.port}"
    with httpx.Client(base_url=base, headers={"X-API-Key": key}) as client:
        answers = [client.get(PATH, params={"ip": "2606:4700:4700::1111"}) for _ in range(3)]
    assert [answer.json()["data"]["network"]["asn"] for answer in answers] == [13335] * 3
    stamps = [answer.json()["data"]["time"]["current_timestamp"] for answer in answers]
    assert all(before <= after for before, after in pairwise(stamps))
    assert re.fullmatch(r"[0-9a-f]{64}", answers[0].headers[GENERATION])
