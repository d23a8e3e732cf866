"""The service answers callers by the rules of trusted proxies, with the real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.http.serving import Server, Store, serving
from tests.test_proxies import LIES, TOLD, TRUE, X


def found(server: Server, key: str, lines: list[tuple[str, str]]) -> str | None:
    """The caller's address as answered; None for this machine, which is private."""
    answer = json.loads(server.ask("", [("X-API-Key", key), *lines]).body)
    if answer["success"]:
        ip: str = answer["data"]["ip"]
        return ip
    assert answer["error_code"] == 10002
    return None


@pytest.mark.parametrize(("lines", "expected"), TOLD + LIES)
def test_through_a_trusted_proxy(
    server: Server, key: str, lines: list[tuple[str, str]], expected: str | None
) -> None:
    assert found(server, key, lines) == expected


def test_nobody_is_believed_without_trust(own_store: Store, tmp_path: Path) -> None:
    key = own_store.key()
    with serving(own_store, tmp_path, "--trusted-proxy", "10.0.0.0/8") as server:
        for lines, _ in TOLD + LIES:
            assert found(server, key, lines) is None


def test_a_given_address_is_not_the_callers(server: Server, key: str) -> None:
    reply = server.ask("?ip=9.9.9.9", [("X-API-Key", key), (X, TRUE)])
    assert json.loads(reply.body)["data"]["ip"] == "9.9.9.9"
