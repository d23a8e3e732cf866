"""A child of ``kept``: it answers a list of addresses in one way and keeps every answer."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geolookup
from benchmarks.harness import measure, workload
from benchmarks.harness.processes import pin, say

Way = Callable[[geolookup.Engine, list[str]], list[Any]]


def _without_collector(engine: geolookup.Engine, ips: list[str]) -> list[Any]:
    gc.disable()
    answers = _WAYS["lookup_many"](engine, ips)
    gc.enable()
    return answers


_WAYS: dict[str, Way] = {
    "lookup_many": lambda engine, ips: engine.lookup_many(ips),
    "lookup_many, collector off": _without_collector,
    "lookup_many_json": lambda engine, ips: engine.lookup_many_json(ips),
    "answer": lambda engine, ips: list(map(engine.answer, ips)),
    "get_many, two fields": lambda engine, ips: engine.get_many(ips, "country", "asn"),
    "get_many, one field": lambda engine, ips: engine.get_many(ips, "country"),
}
NAMES = tuple(_WAYS)
#: Addresses that are looked up before the measurement.
_BEFORE = 10_000


def main(name: str, dataset: str, count: str) -> None:
    """Print nanoseconds and bytes for each address."""
    pin(1)
    intervals = workload.read(Path(dataset), 4)
    ips = workload.addresses(intervals, "uniform", int(count), hit=True)
    del intervals
    with geolookup.open(dataset) as engine:
        _WAYS[name](engine, ips[:_BEFORE])
        gc.collect()
        memory, began = measure.resident(), time.perf_counter_ns()
        answers = _WAYS[name](engine, ips)
        took = time.perf_counter_ns() - began
        kept = measure.resident()
    own = kept.get("RssAnon", 0) - memory.get("RssAnon", 0)
    say({"ns": took / len(answers), "bytes": own / len(answers)})


if __name__ == "__main__":
    main(*sys.argv[1:])
