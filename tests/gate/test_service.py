"""The gate before the engine: all six codes, in the order of checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import geolookup
from geolookup.gate import Service, keys
from tests.gate.conftest import SECOND, FakeClock, Open

PRIVATE = "10.0.0.1"


@pytest.fixture(params=["lookup", "lookup_json"])
def ask(
    request: pytest.FixtureRequest, worker: Open, sample: geolookup.Engine
) -> Callable[..., Any]:
    """Look up by a service, as a dict either way."""
    service = Service(sample, worker())
    method: Callable[..., Any] = getattr(service, request.param)

    def asked(*args: object, **options: object) -> Any:
        answer = method(*args, **options)
        return json.loads(answer) if isinstance(answer, bytes) else answer

    return asked


def test_an_admitted_request_is_answered_by_the_engine(
    ask: Callable[..., Any], worker: Open, sample: geolookup.Engine
) -> None:
    key = worker().create_key("Acme", "paid")
    for ip in ("8.8.8.8", "nonsense", PRIVATE):
        answer, plain = ask(ip, api_key=key), sample.lookup(ip)
        assert answer["error_code"] == plain["error_code"]
        assert (answer["data"] or {}).get("location") == (plain["data"] or {}).get("location")
    assert ask(api_key=key, client="1.1.1.1")["data"]["ip"] == "1.1.1.1"
    assert ask("8.8.8.8", api_key=key, client="1.1.1.1")["data"]["ip"] == "8.8.8.8"
    assert ask(api_key=key)["error_code"] == 10001
    assert worker().usage()[0].used == 6


def test_the_order_of_checks(ask: Callable[..., Any], worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "tiny")  # 3 a second, 20 in all
    assert ask(PRIVATE, api_key=None)["error_code"] == 20001
    assert ask(PRIVATE, api_key="")["error_code"] == 20002
    assert ask(PRIVATE, api_key=keys.make("live"))["error_code"] == 20002
    codes = [ask(ip, api_key=key)["error_code"] for ip in (PRIVATE, "x", None, PRIVATE, "8.8.8.8")]
    assert codes == [10002, 10001, 10001, 30001, 30001]
    for _ in range(17):
        clock.now += SECOND
        assert ask("8.8.8.8", api_key=key)["success"]
    clock.now += SECOND
    assert ask(PRIVATE, api_key=key) == {
        "success": False,
        "data": None,
        "error": True,
        "error_code": 30002,
        "error_message": "Quota exceeded",
    }
    assert accounts.usage()[0].used == 20
