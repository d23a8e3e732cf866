"""Requests that no client of ours would make: each has its answer, none a 5xx, none is logged."""

from __future__ import annotations

import json
import re
import resource
import select
import socket
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import monotonic
from urllib.parse import parse_qsl, quote, unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.http.serving import PATH, Server, Store, connection_to, request, serving
from tests.internals.http import HEAD_LIMIT, ip_parameter

#: The query of a request, and the error code of its answer.
QUERIES: list[tuple[str, int | None]] = [
    ("?ip=8.8.8.8", None),
    ("?ip=%38.8.8.8", None),
    ("?ip=2606%3A4700%3a4700::1111", None),
    ("?format=xml&ip=8.8.8.8&callback=f", None),
    ("?IP=1.1.1.1&ip=8.8.8.8", None),
    ("?ip=8.8.8.8&ip=8.8.8.8", 10001),
    ("?ip=8.8.8.8&%69p=8.8.8.8", 10001),
    ("?ip", 10001),
    ("?ip=+8.8.8.8", 10001),
    ("?ip=8.8.8.8;ip=1.1.1.1", 10001),
    ("?ip=8.8.8.8%00", 10001),
    ("?ip=%ff%fe", 10001),
    ("?ip=%d9%a8.8.8.8", 10001),
    ("?ip=%ed%a0%80", 10001),
    ("?ip=" + "8" * 10_000, 10001),
    ("?" + "ip=8.8.8.8&" * 1_000, 10001),
    ("?" + "a=b&" * 3_000 + "ip=8.8.8.8", None),
    ("?", 10002),  # no address: the caller is this machine
    ("?ip2=8.8.8.8", 10002),
]


def test_queries(server: Server, key: str) -> None:
    for query, code in QUERIES:
        reply = server.ask(query, [("X-API-Key", key)])
        assert reply.status == (400 if code else 200), query
        assert json.loads(reply.body)["error_code"] == code, query


@given(st.lists(st.tuples(st.sampled_from(["ip", "i", "p"]), st.text(max_size=8)), max_size=4))
def test_the_query_is_read_as_the_library_reads_forms(pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={quote(value, errors='replace')}" for name, value in pairs)
    values = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "ip"]
    expected = None if not values else values[0] if len(values) == 1 else ""
    assert ip_parameter(query) == expected


def test_a_long_query_costs_what_a_short_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in decoded values: other parameters and long values are not decoded."""
    decoded = list[str]()

    def decode(text: str) -> str:
        decoded.append(text)
        return unquote_plus(text)

    monkeypatch.setattr("geolookup.http.requests.unquote_plus", decode)
    for query, values in (
        ("%61=%62&" * 2_000 + "ip=%38", ["%38"]),
        ("%69%70=%38", ["%38"]),
        ("ip=" + "%38" * 45, ["%38" * 45]),
        ("ip=" + "%38" * 46, []),
        ("ip=%38&" * 2_000, []),
        ("xip=%38&ipx=%38&i%7=&&", []),
    ):
        decoded.clear()
        ip_parameter(query)
        assert decoded == values, query[:40]


def test_a_head_over_the_limit_is_431(server: Server) -> None:
    for request_line in (
        f"GET {PATH}?{'x' * HEAD_LIMIT} HTTP/1.1\r\n",
        f"GET {PATH} HTTP/1.1\r\nX-API-Key: {'x' * HEAD_LIMIT}\r\n",
        f"GET {PATH} HTTP/1.1\r\n" + "A: b\r\n" * 2_000,
        f"GET {PATH} HTTP/1.1\r\n" + "A: b\r\n" * 100,  # and Host
    ):
        reply = server.raw(f"{request_line}Host: x\r\n\r\n".encode())
        assert (reply.status, reply.body) == (431, b""), request_line[:99]


def test_what_is_no_http_is_400_without_body(server: Server) -> None:
    for head in (
        b"GET /v1/geo/lookup?ip=\xff\xfe HTTP/1.1\r\n",
        b"GET /v1/geo/lookup?ip=8.8.8.8 8.8.8.8 HTTP/1.1\r\n",
        b"GET\t/v1/geo/lookup HTTP/9.9\r\n",
        b"nonsense\r\n",
        b"GET /v1/geo/lookup HTTP/1.1\r\nX-API-Key : x\r\n",
        b"GET /v1/geo/lookup HTTP/1.1\r\nX-API-Key: a\x00b\r\n",
    ):
        reply = server.raw(head + b"Host: x\r\n\r\n")
        assert (reply.status, reply.body) == (400, b""), head


def test_only_the_decoded_path_is_a_resource(server: Server, key: str) -> None:
    """RFC 3986, section 6.2.2.2. The service decodes ``%2F`` too."""
    others = (
        *("/", "/v1", f"{PATH}/", f"{PATH}/8.8.8.8", PATH.upper(), "/v2/geo/lookup", "/metrics"),
        *("http://elsewhere/", "//v1/geo/lookup", "/v1/geo/lookup%2f", "/v1/geo/./lookup"),
        *("/v1/geo/lookup%3fip=8.8.8.8", "/v1/geo/lookup%00", "/v1/geo/lookup%ff"),
        *("/v1/geo/%256cookup?ip=8.8.8.8", "/v2/geo/lookup?ip=8.8.8.8"),
    )
    same = ("/v1/geo/l%6Fokup", "/v1/geo/%6cookup", "/%76%31/geo/lookup", "/v1%2Fgeo/lookup")
    for target in (*others, *same):
        query = "?ip=8.8.8.8" if target in same else ""
        head = f"GET {target}{query} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n"
        reply = server.raw(head.encode())
        assert (reply.status, reply.body == b"") == ((200, False) if query else (404, True)), target


def test_a_forwarding_header_beyond_ascii_is_not_absent(server: Server, key: str) -> None:
    """Else a client that writes into it is believed in the other header: a proxy passes it on."""
    lie, truth = "8.8.8.8", "1.1.1.1"
    for lines, client in (
        ([("Forwarded", f"for={lie}"), ("X-Forwarded-For", f"\xe9, {truth}")], None),
        ([("X-Forwarded-For", lie), ("Forwarded", f"for=\xe9, for={truth}")], None),
        ([("X-Forwarded-For", f"\xe9, {truth}")], None),
        ([("X-Forwarded-For", "\xe9"), ("X-Forwarded-For", truth)], truth),
    ):
        answer = json.loads(server.ask("", [("X-API-Key", key), *lines]).body)
        # Without a client, the peer is looked up: this machine.
        assert answer["error_code"] == (None if client else 10002), lines
        assert client is None or answer["data"]["ip"] == client


def statuses(server: Server, request: bytes) -> list[int]:
    """Return the status of each answer to some bytes; the last request ends the connection."""
    with connection_to(server.port) as line:
        line.sendall(request)
        answers = b""
        while part := line.recv(65_536):
            answers += part
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", answers)]


def test_a_request_states_one_host(server: Server, key: str) -> None:
    """RFC 9112, section 3.2; only HTTP/1.0 may state none."""
    remainder = f"X-API-Key: {key}\r\n\r\n"
    for version, hosts, status in (
        ("1.1", "Host: x\r\n", 200),
        ("1.1", "", 400),
        ("1.1", "Host:\r\n", 400),
        ("1.1", "Host: x\r\nHost: x\r\n", 400),
        ("1.1", "Host: \xe9\r\n", 400),
        ("1.1", "Host: \xe9\r\nHost: x\r\n", 400),
        ("1.0", "", 200),
        ("1.0", "Host: \xe9\r\n", 400),
        ("1.0", "Host: x\r\nhost: y\r\n", 400),
    ):
        for path, whole in ((f"{PATH}?ip=8.8.8.8", 200), ("/", 404)):
            head = f"GET {path} HTTP/{version}\r\n{hosts}{remainder}"
            reply = server.raw(head.encode("latin-1"))
            assert reply.status == (whole if status == 200 else 400), (version, hosts)


def test_no_second_request_is_smuggled(server: Server, key: str) -> None:
    """RFC 9112, sections 6.1 and 6.3: hyper refuses bodies whose length is in doubt."""
    asked = f"GET {PATH}?ip=8.8.8.8 HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n"
    last, chunks = f"{asked}Connection: close\r\n\r\n", "0\r\n\r\n"
    for headers, body, expected in (
        ("Content-Length: 3\r\nContent-Length: 4\r\n", "abc", [400]),
        ("Content-Length: 3, 3\r\n", "abc", [400]),
        ("Content-Length: +3\r\n", "abc", [400]),
        ("Content-Length : 3\r\n", "abc", [400]),
        ("Transfer-Encoding: identity\r\n", "", [400]),
        ("Transfer-Encoding: xchunked\r\n", chunks, [400]),
        ("X: a\r\n Content-Length: 3\r\n", "abc", [400]),
        # The length is ignored, and the connection ends after the answer.
        ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", chunks, [200]),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunks, [200]),
        ("Transfer-Encoding: chunked\r\n", "zz\r\n\r\n", [200]),
        # Bodies that end where they say.
        ("Content-Length: 3\r\nContent-Length: 3\r\n", "abc", [200, 200]),
        ("Transfer-Encoding: chunked\r\n", chunks, [200, 200]),
    ):
        assert statuses(server, f"{asked}{headers}\r\n{body}{last}".encode()) == expected, headers


def test_line_feeds_alone_end_lines_and_a_fragment_is_dropped(server: Server, key: str) -> None:
    """hyper reads both so (RFC 9112, section 2.2), and shows the application neither."""
    asked = f"GET {PATH}?ip=8.8.8.8{{}} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n"
    assert server.raw(asked.format("").replace("\r\n", "\n").encode()).status == 200
    assert server.raw(asked.format("#/other").encode()).status == 200


def test_a_half_closed_connection_ends(server: Server, key: str) -> None:
    """Without an answer, or with a whole one: hyper usually sees the end before the answer."""
    for _ in range(20):
        with connection_to(server.port) as line:
            line.sendall(request(key))
            line.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(partial(line.recv, 65_536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert not answer or head.startswith(b"HTTP/1.1 200 ")
        assert not answer or json.loads(body)["error_code"] is None
    assert server.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 200


#: Texts that stand nowhere else; the caller's is one of them.
ASKED = ["9.9.9.77", "1.1.1.213", "2606:4700:4700::abcd", "10.77.77.77", "not.an.address"]
CALLER = "8.8.4.177"


def ask_everything(server: Server, header: list[tuple[str, str]]) -> None:
    for ip in ASKED:
        for headers in (header, [], [("X-API-Key", ip)]):
            server.ask(f"?ip={ip}", headers)
        for method, path in (("GET", f"{PATH}/{ip}"), ("POST", f"{PATH}?ip={ip}"), (ip, PATH)):
            server.raw(f"{method} {path} HTTP/1.1\r\nHost: {ip}\r\n\r\n".encode())
        server.raw(f"GET {PATH}?ip={ip} HTTP/1.1\r\nbad line {ip}\r\n\r\n".encode())
    for name in ("X-Forwarded-For", "Forwarded"):
        value = CALLER if name.startswith("X") else f"for={CALLER}"
        assert server.ask("", [*header, (name, value)]).status == 200
        server.ask("", [*header, (name, f"{value}, {CALLER} nonsense {CALLER}")])


def test_nothing_written_holds_an_address(own_store: Store, tmp_path: Path) -> None:
    header = [("X-API-Key", own_store.key())]
    options = ("--access-log", "--trusted-proxy", "127.0.0.1")
    with serving(own_store, tmp_path, *options) as server:
        ask_everything(server, header)
        metrics = server.show("/metrics").body
        server.until("] 200 ")
    written = metrics + b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )
    log = server.output.read_text(encoding="utf-8")
    assert log.count("] 200 ") >= 3
    assert log.count("] 404 ") == len(ASKED)
    for ip in (*ASKED, CALLER, "127.0.0.1 ", header[0][1]):
        assert ip.encode() not in written


def test_silent_connections_shut_nobody_out(server: Server, key: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if soft < 2_048 else soft, hard))
    with ExitStack() as stack:
        for _ in range(1_100):
            stack.enter_context(connection_to(server.port))
        assert server.ask("?ip=8.8.8.8", [("X-API-Key", key)]).status == 200


@pytest.mark.long
def test_what_sends_no_complete_head_in_time_is_closed(server: Server, key: str) -> None:
    asked = request(key)
    with ExitStack() as stack:
        silent, partial, trickled, idle = (
            stack.enter_context(connection_to(server.port)) for _ in range(4)
        )
        partial.sendall(asked[:20])
        idle.sendall(asked)
        assert idle.recv(65536).startswith(b"HTTP/1.1 200 ")
        waiting, answered = {silent, partial, trickled, idle}, monotonic()
        for byte in asked:  # takes longer than the time
            if not waiting:
                break
            waiting.difference_update(select.select(waiting, [], [], 0.25)[0])
            # Clients keep a connection that they do not use for 4 seconds.
            assert idle in waiting or monotonic() - answered >= 4.9
            if trickled in waiting:
                trickled.send(bytes([byte]))
        assert not waiting


def test_a_connection_beyond_the_limit_waits_for_an_end(own_store: Store, tmp_path: Path) -> None:
    asked = request(own_store.key())
    with (
        serving(own_store, tmp_path, connections=2) as server,
        connection_to(server.port) as first,
        connection_to(server.port) as second,
        connection_to(server.port) as third,
    ):
        for line in (first, second):
            line.sendall(asked)
            assert line.recv(65536).startswith(b"HTTP/1.1 200 ")
        third.sendall(asked)
        assert not select.select([third], [], [], 0.2)[0]
        first.close()
        assert third.recv(65536).startswith(b"HTTP/1.1 200 ")


def pipeline(stack: ExitStack, server: Server, count: int) -> list[socket.socket]:
    """Fill connections with requests without a key, and read nothing, until no more is accepted."""
    asked, attackers = request("x") * 1_000, list[socket.socket]()
    for _ in range(count):
        client = stack.enter_context(connection_to(server.port))
        client.setblocking(False)
        attackers.append(client)
    open_ones = attackers
    while open_ones := select.select([], open_ones, [], 0.5)[1]:
        for client in open_ones:
            client.send(asked)
    return attackers


@pytest.mark.long
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="TCP_USER_TIMEOUT is an option of Linux"
)
def test_slow_readers_shut_nobody_out(own_store: Store, tmp_path: Path) -> None:
    """The honest client waits for one of the connections; attackers hold all of them."""
    header = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, connections=20) as server, ExitStack() as stack:
        attackers = pipeline(stack, server, 20)
        # An answer has more than 200 bytes: a few hundred fit into the buffers of a connection.
        answered = server.metric("geolookup_http_requests_total", status="401", code="20002")
        assert answered < len(attackers) * 2_000
        assert server.ask("?ip=8.8.8.8", header).status == 200
