"""No reference is lost: in the kernel, call by call, and in a short run of the soak."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable
from functools import partial

import pytest

import geolookup
from tests.hostile import NO_ADDRESS
from tests.internals.contract import PATHS
from tests.tiers import scaled

CALLS = scaled(200, 1_000)
TEXTS = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:1.1.1.1", "10.0.0.1", "nonsense", "4000::1")


def asks(engine: geolookup.Engine) -> dict[str, Callable[[], object]]:
    """Every way into the kernel, by name."""
    actual: dict[str, Callable[[], object]] = {}
    for text in TEXTS:
        for ask in (engine.lookup, engine.lookup_json, engine.data):
            actual[f"{ask.__name__} {text}"] = partial(allowed, partial(ask, text, at=0))
    for path in sorted(PATHS):
        actual[f"get {path}"] = partial(engine.get, "8.8.8.8", path, at=0)
    actual["get nothing"] = partial(allowed, lambda: engine.get("8.8.8.8", "nothing"))  # type: ignore[call-overload]
    actual["instants"] = lambda: [engine.lookup_json("8.8.8.8", at=at) for at in (0, 1 << 31)]
    actual["no instant"] = partial(allowed, lambda: engine.lookup_json("8.8.8.8", at="noon"))
    actual["no address"] = lambda: [engine.lookup_json(item) for item in NO_ADDRESS[:20]]
    actual["record"] = lambda: engine.snapshot().record(1, 1)
    return actual


def allowed(call: Callable[[], object]) -> None:
    """Make a call that may raise: what raises must not keep anything, either."""
    with contextlib.suppress(geolookup.ContractError, ValueError, TypeError):
        call()


def references(engine: geolookup.Engine) -> int:
    """Return how many references all that an engine's state holds has together."""
    actual: dict[int, object] = {}
    waiting: list[object] = [engine.snapshot()]
    while waiting:
        item = waiting.pop()
        if id(item) not in actual and not isinstance(item, (type, type(sys))):
            actual[id(item)] = item
            waiting += (
                [] if isinstance(item, dict) and "__name__" in item else gc.get_referents(item)
            )
    return sum(sys.getrefcount(value) for value in actual.values()) - 3 * len(actual)


@pytest.mark.long
def test_no_call_keeps_anything(sample: geolookup.Engine) -> None:
    def ask_all() -> None:
        for ask in asked:
            ask()

    asked = list(asks(sample).values())
    check(sample, "all", ask_all)


def check(sample: geolookup.Engine, name: str, ask: Callable[[], object]) -> None:
    for _ in range(100):
        ask()
    gc.collect()
    blocks, held = sys.getallocatedblocks(), references(sample)
    for _ in range(CALLS):
        ask()
    gc.collect()
    # A reference or a block lost at each call would be thousands.
    assert sys.getallocatedblocks() - blocks < CALLS // 4, name
    assert references(sample) - held < CALLS // 4, name
