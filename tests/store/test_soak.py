"""No reference is lost: in the kernel, call by call, and in a short run of the soak."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import geolookup
from geolookup.contract.fields import PATHS
from tests.conftest import ROOT
from tests.hostile import NO_ADDRESS
from tests.tiers import scaled

CALLS = scaled(200, 1_000)
TEXTS = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:1.1.1.1", "10.0.0.1", "nonsense", "4000::1")


def asks(engine: geolookup.Engine) -> dict[str, Callable[[], object]]:
    """Every way into the kernel, by name."""
    found: dict[str, Callable[[], object]] = {}
    for text in TEXTS:
        for ask in (engine.lookup, engine.lookup_json, engine.data):
            found[f"{ask.__name__} {text}"] = partial(allowed, partial(ask, text, at=0))
    for path in sorted(PATHS):
        found[f"get {path}"] = partial(engine.get, "8.8.8.8", path, at=0)
    found["get nothing"] = partial(allowed, lambda: engine.get("8.8.8.8", "nothing"))  # type: ignore[call-overload]
    found["instants"] = lambda: [engine.lookup_json("8.8.8.8", at=at) for at in (0, 1 << 31)]
    found["no instant"] = partial(allowed, lambda: engine.lookup_json("8.8.8.8", at="noon"))
    found["no address"] = lambda: [engine.lookup_json(each) for each in NO_ADDRESS[:20]]
    found["record"] = lambda: next(engine.networks("8.8.8.0/24"))
    return found


def allowed(call: Callable[[], object]) -> None:
    """Make a call that may raise: what raises must not keep anything, either."""
    with contextlib.suppress(geolookup.ContractError, ValueError, TypeError):
        call()


def references(engine: geolookup.Engine) -> int:
    """Return how many references all that an engine's state holds has together."""
    found: dict[int, object] = {}
    waiting: list[object] = [engine._open_state()]
    while waiting:
        each = waiting.pop()
        if id(each) not in found and not isinstance(each, (type, type(sys))):
            found[id(each)] = each
            waiting += (
                [] if isinstance(each, dict) and "__name__" in each else gc.get_referents(each)
            )
    return sum(sys.getrefcount(each) for each in found.values()) - 3 * len(found)


@pytest.mark.long
def test_a_call_keeps_nothing(sample: geolookup.Engine) -> None:
    for name, ask in asks(sample).items():
        check(sample, name, ask)


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


def test_the_count_sees_what_is_kept(sample: geolookup.Engine) -> None:
    held = references(sample)
    kept = [sample._open_state().dataset.manifest.metadata().name] * CALLS
    # Other threads of the process share constants with the state, hence no equality.
    assert references(sample) - held > len(kept) * 3 // 4


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc on this system")
def test_a_short_soak() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.soak", "--lookups", "1000000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1,000,000 lookups" in done.stdout
