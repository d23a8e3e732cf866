"""Lookups of two datasets that differ in own columns, in one process on one core.

Strategy: all ways take turns, several rounds, over the same addresses. CPU time counts. A ratio is
the median of the ratios of the rounds: two ways of one round meet the same load.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

import geolookup
from benchmarks.harness import measure, workload
from benchmarks.harness.processes import Result, say
from benchmarks.harness.ratios import Ratio
from benchmarks.own.data import own_intervals

WITHOUT, LOOKUP, OWN = "lookup, no own columns", "lookup", "own"
GET, GET_OWN = "get asn_organization", "get own.owner"
ENRICH, ENRICH_OWN, ENRICH_ALL = "enrich asn_organization", "enrich own.owner", "enrich own"
Way = Callable[[], object]
#: Pairs of ways, and the greatest ratio that was wanted.
_RATIOS = (
    (LOOKUP, WITHOUT, 1.05),
    (OWN, LOOKUP, 1.3),
    (GET_OWN, GET, None),
    (ENRICH_OWN, ENRICH, 1.05),
    (ENRICH_ALL, ENRICH, None),
)


def ratios(kind: str, times: dict[str, list[float]]) -> Iterator[Ratio]:
    """Yield the ratios of one kind of addresses."""
    for one, other, goal in _RATIOS:
        values = (a / b for a, b in zip(times[one], times[other], strict=True))
        yield Ratio(f"{one} / {other}, {kind}", statistics.median(values), goal, unit="x")


def _ways(plain: geolookup.Engine, engine: geolookup.Engine, ips: list[str]) -> dict[str, Way]:
    table = pa.table({"ip": ips})

    def one_by_one(call: Callable[[str], object]) -> Way:
        return lambda: deque(map(call, ips), 0)  # of no length: drops each answer at once

    def enrich(column: str) -> Way:
        return lambda: engine.enrich(table, (column,), threads=1)

    owner = geolookup.OwnField("own.owner")
    return {
        WITHOUT: one_by_one(plain.lookup),
        LOOKUP: one_by_one(engine.lookup),
        OWN: one_by_one(engine.own),
        GET: one_by_one(lambda ip: engine.get(ip, "asn_organization")),
        GET_OWN: one_by_one(lambda ip: engine.get(ip, owner)),
        ENRICH: enrich("asn_organization"),
        ENRICH_OWN: enrich("own.owner"),
        ENRICH_ALL: enrich("own"),
    }


def _times(ways: dict[str, Way], count: int, rounds: int) -> dict[str, list[float]]:
    """Return nanoseconds an address, by way and round; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for at, name in itertools.product(range(rounds + 1), ways):
        began = time.process_time_ns()
        ways[name]()
        if at:
            times[name].append((time.process_time_ns() - began) / count)
    return times


def _measure(without: str, dataset: str, count: int, rounds: int) -> Result:
    intervals, times = own_intervals(Path(dataset)), {}
    with geolookup.open(without) as plain, geolookup.open(dataset) as engine:
        for kind in workload.DISTRIBUTIONS:
            ips = workload.addresses(intervals, kind, count, hit=True)
            for ip in ips[:2_000]:
                if engine.lookup(ip, at=0) != plain.lookup(ip, at=0) or not engine.own(ip):
                    raise AssertionError(f"the datasets differ at {ip}")
            with measure.one_core() as pinned:
                times[kind] = _times(_ways(plain, engine, ips), count, rounds)
        counts = [
            sum(opened.metadata.counts[f"ipv{family}_intervals"] for family in (4, 6))
            for opened in (plain, engine)
        ]
    return {"times": times, "intervals": counts, "machine": measure.facts(pinned=pinned)}


if __name__ == "__main__":
    without, dataset, *amounts = sys.argv[1:]
    say(_measure(without, dataset, *map(int, amounts)))
