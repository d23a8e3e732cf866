"""No reference is lost: in the kernel, call by call, and in a short run of the soak."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from geolookup.contract.fields import PATHS
from tests.cli.program import python
from tests.datasets import SMALL
from tests.hostile import NO_ADDRESS
from tests.store.numbered import published, shared
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
    kept = [sample.snapshot().dataset.manifest.metadata().name] * CALLS
    # Other threads of the process share constants with the state, hence no equality.
    assert references(sample) - held > len(kept) * 3 // 4


#: Two generations take turns in an engine that is asked; prints by how much memory and files grew.
_SOAK = """
import random, sys
from itertools import islice
import geolookup
from geolookup.contract.fields import PATHS
from geolookup.dataset.files import Dataset
from geolookup.history.generations import rollback
from tests.datasets import SMALL
from tests.near_addresses import near_addresses
from tests.store.reading import descriptors, resident

texts = list(islice(near_addresses(random.Random(20261121), Dataset(SMALL)), 25_000))
readings, paths = [], sorted(PATHS)
with geolookup.open(sys.argv[1], allow_lost_fields=True) as engine:
    for report in range(40):
        for text in texts if report % 2 else reversed(texts):
            engine.lookup_json(text, at=report << 20 if report % 3 else None)
            if engine.lookup(text)["success"]:
                engine.get(text, paths[report % len(paths)])
                engine.data(text)
        rollback(sys.argv[1]) if report % 2 else geolookup.publish(sys.argv[2], sys.argv[1])
        assert engine.reload()
        readings.append((resident(), descriptors()))
print([last - settled for settled, last in zip(readings[10], readings[-2])])
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc on this system")
def test_a_short_soak(tmp_path: Path) -> None:
    """Memory grows while caches fill up, in the first quarter."""
    store = published(tmp_path / "store", 0)
    publish(SMALL, store)
    publish(shared(0), store)
    grown, files = json.loads(python(_SOAK, str(store), str(SMALL)).stdout)
    assert grown < 4 << 20
    assert files <= 0
