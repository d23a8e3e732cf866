"""No looked-up address in anything that the server writes, at any log level."""

from __future__ import annotations

from pathlib import Path

from tests.http.serving import PATH, Server, Store, serving

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
    options = ("--log-level", "debug", "--access-log", "--trusted-proxy", "127.0.0.1")
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


def test_the_access_log_is_off_by_default(server: Server, key: str) -> None:
    server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
    assert "] 200 " not in server.output.read_text(encoding="utf-8")
