"""Redis stops in the middle of its work and says nothing; many keys, known and made up, ask on."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from geolookup.gate.keys import make
from tests.http.serving import Server, serving, store_at
from tests.servers import Redis, redis

_KEYS = 30
#: Seconds that bound what waits for the store: one timeout, and time for a loaded machine.
_BOUND = 3.0
#: Seconds that bound what needs no store, on a loaded machine.
_SWIFT = 0.25
_NOT_FOUND = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def attack() -> None:
    """Print how long each kind of request takes while Redis is stopped, and after."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with redis(folder) as accounts:
            store = store_at(accounts.url, folder)
            keys = [store.key("small" if number % 2 else "endless") for number in range(_KEYS)]
            with serving(store, folder) as server:
                _ask(server, keys, accounts)


def _ask(server: Server, keys: list[str], accounts: Redis) -> None:
    assert _together(server, keys)[0] == {200: _KEYS}
    accounts.silence()
    time.sleep(1.1)  # no worker knows a key for longer
    actual = {}
    with ThreadPoolExecutor(1) as pool:
        known = pool.submit(_together, server, keys)
        actual["404 meanwhile"] = _in_turn(server, 20)
        answers, took = known.result()
    print(f"{_KEYS} known keys: {dict(answers)}, {took:.2f} s in all")
    assert answers == {503: _KEYS}
    made_up, took_made_up = _together(server, [make("live") for _ in range(_KEYS)])
    print(f"{_KEYS} made-up keys: {dict(made_up)}, {took_made_up:.2f} s in all")
    actual["404 after"] = _in_turn(server, 20)
    for name, worst in actual.items():
        print(f"{name}: {worst * 1000:.1f} ms at most")
    began = time.monotonic()
    while server.show("/readyz").status != 503 and time.monotonic() < began + _BOUND:
        time.sleep(0.05)
    status = server.show("/readyz").status
    print(f"/readyz: {status} after {time.monotonic() - began:.2f} s more")
    accounts.answer()
    began = time.monotonic()
    while _together(server, keys[:1])[0] != {200: 1}:
        assert time.monotonic() < began + 20
        time.sleep(0.05)
    print(f"admitted {time.monotonic() - began:.2f} s after Redis went on")
    assert took < _BOUND
    assert took_made_up < _BOUND
    assert max(actual.values()) < _SWIFT
    assert status == 503


def _together(server: Server, keys: list[str]) -> tuple[Counter[int], float]:
    """Return the answers to requests with all keys at once, and the seconds until the last."""
    began = time.monotonic()
    with ThreadPoolExecutor(len(keys)) as pool:
        asked = [pool.submit(server.ask, "?ip=8.8.8.8", [("X-API-Key", key)]) for key in keys]
        answers = Counter(request.result().status for request in asked)
    return answers, time.monotonic() - began


def _in_turn(server: Server, count: int) -> float:
    """Return the longest time of a request for a path that does not exist."""
    worst = 0.0
    for _ in range(count):
        began = time.monotonic()
        assert server.raw(_NOT_FOUND).status == 404
        worst = max(worst, time.monotonic() - began)
    return worst
