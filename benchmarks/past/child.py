"""One step in a process of its own: seconds, CPU seconds with its start, and peak memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import geolookup
from benchmarks.harness import measure
from benchmarks.harness.processes import say
from geolookup.store import in_force

_SEED = 7
_FIELDS = ("location.country_code", "location.city_name", "network.asn")


def _build(recipe: str, output: str) -> None:
    geolookup.build(recipe, output)


def _publish(dataset: str, store: str) -> None:
    geolookup.publish(dataset, store)


def _prune(store: str, keep: str) -> None:
    geolookup.prune(store, int(keep))


def _open_as_of(store: str, second: str) -> None:
    with geolookup.open(store, as_of=int(second)) as engine:
        engine.lookup("8.8.8.8")


def _history(store: str, address: str) -> dict[str, int]:
    with geolookup.open(store) as engine:
        return {"changes": len(engine.history(address).changes)}


def _enrich(store: str, count: str, as_of: str) -> dict[str, float]:
    """Enrich events at random times and addresses; ``as_of`` is 1 for answers of their time."""
    events = _events(Path(store), int(count))
    with geolookup.open(store) as engine:
        column = "time" if int(as_of) else None
        began = time.process_time()
        engine.enrich(events, list(_FIELDS), as_of=column)
        return {"enrich": time.process_time() - began}


def _events(store: Path, count: int) -> pa.Table:
    rng = np.random.default_rng(_SEED)
    begins = [period.begin for period in in_force.periods(store)]
    addresses = rng.integers(1 << 24, 224 << 24, count).astype(np.uint32)
    times = rng.integers(begins[0], begins[-1] + 7 * 86_400, count)
    return pa.table({"ip": addresses, "time": times})


STEPS: dict[str, Callable[..., dict[str, float] | dict[str, int] | None]] = {
    "build": _build,
    "publish": _publish,
    "prune": _prune,
    "as_of": _open_as_of,
    "history": _history,
    "enrich": _enrich,
}


def main(step: str, *arguments: str) -> None:
    """Take a step, and print its measurements."""
    began = time.perf_counter()
    more = STEPS[step](*arguments) or {}
    seconds, peak = time.perf_counter() - began, measure.memory("VmHWM")
    say({"seconds": seconds, "cpu": time.process_time(), "peak_memory": peak, **more})


if __name__ == "__main__":
    main(*sys.argv[1:])
