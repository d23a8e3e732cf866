"""Single lookups: nanoseconds each, as a dict, as JSON and of one member, by kind of address.

Strategy: one process on one core looks up lists of address texts made
beforehand. After a warm-up the kinds take turns, several rounds: a busy moment of the machine hits
all of them; the median round counts. The loop with a call of an empty function is measured likewise
and given apart.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.ratios import ratio_table
from benchmarks.harness.tables import Number, Table
from benchmarks.single import module_call

ADDRESSES, ROUNDS = 100_000, 5
FAMILIES = (4, 6)
FORMS = ("dict", "json", "get", "answer")
#: The member that ``get`` and ``answer`` read.
MEMBER: geolookup.FieldName = "location.city_name"
Lookup = Callable[[object], object]


@dataclass(slots=True)
class Case:
    """One kind of address, one way to look it up, and what the rounds took in ns a call."""

    distribution: str
    family: int
    hit: bool
    form: str
    lookup: Lookup
    addresses: list[str]
    rounds: list[float] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The kind of address in words."""
        return f"{self.distribution} IPv{self.family} {'hit' if self.hit else 'miss'}"

    def run(self) -> float:
        """Return nanoseconds a call over all addresses."""
        began = time.perf_counter_ns()
        # A deque of no length drains an iterator in C.
        deque(map(self.lookup, self.addresses), 0)
        return (time.perf_counter_ns() - began) / len(self.addresses)


def empty(ip: object, *, at: Any = None) -> None:
    """Do nothing, to be called as ``lookup`` is."""


def cases(engine: geolookup.Engine, dataset: Path, count: int) -> list[Case]:
    """Return every case; the empty function takes part in the rounds as one more."""
    forms: dict[str, Lookup] = {
        "dict": engine.lookup,
        "json": engine.lookup_json,
        "get": lambda ip: engine.get(ip, MEMBER),
        "answer": lambda ip: engine.answer(ip).location.city_name,
    }
    result = [
        Case(distribution, family, hit, form, lookup, addresses)
        for distribution, family, hit, addresses in _workloads(dataset, count)
        for form, lookup in forms.items()
    ]
    return [Case("none", 4, True, "empty", empty, result[0].addresses), *result]


def _workloads(dataset: Path, count: int) -> Iterator[tuple[str, int, bool, list[str]]]:
    for family in FAMILIES:
        intervals = workload.read(dataset, family)
        for hit, distribution in itertools.product((True, False), workload.DISTRIBUTIONS):
            addresses = workload.addresses(intervals, distribution, count, hit=hit)
            yield distribution, family, hit, addresses


def measure_lookups(dataset: Path, count: int, rounds: int) -> dict[str, Any]:
    """Return nanoseconds a lookup of every case, and their conditions."""
    with geolookup.open(dataset) as engine, measure.one_core() as pinned:
        all_cases = cases(engine, dataset, count)
        for case in all_cases:
            case.run()
        for _, case in itertools.product(range(rounds), all_cases):
            case.rounds.append(case.run())
        counts = dict(engine.metadata.counts)
        of_module = module_call.measure_module(all_cases[0].addresses)
    overhead, *timed_cases = all_cases
    return {
        "unit": "ns per lookup, median of rounds",
        "addresses": count,
        "rounds": rounds,
        "counts": counts,
        "kernel": engine.kernel,
        "call_overhead": statistics.median(overhead.rounds),
        "results": [_result(case) for case in timed_cases],
        "module": of_module,
        "machine": measure.facts(pinned=pinned),
    }


def _result(case: Case) -> dict[str, Any]:
    return {
        "distribution": case.distribution,
        "family": case.family,
        "hit": case.hit,
        "form": case.form,
        "median": statistics.median(case.rounds),
        "least": min(case.rounds),
        "kind": case.kind,
    }


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    median = {(case["kind"], case["form"]): case["median"] for case in result["results"]}
    kinds = dict.fromkeys(kind for kind, _ in median)
    rows = [[kind, *(Number(median[kind, form]) for form in FORMS)] for kind in kinds]
    overhead = Number(result["call_overhead"])
    rows.append(["(loop and empty call, included)", *[overhead] * len(FORMS)])
    yield Table("single", ("ns per lookup", *FORMS), rows, unit="ns", ours=tuple(kinds))
    yield ratio_table("single-module", "call of the module", module_call.ratios(result["module"]))
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in result["counts"].items())
    run = f"{result['rounds']} rounds of {result['addresses']:,} addresses"
    yield f"median of {run}; {counts}"


@click.command("single", help="Time single lookups on a generated dataset.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="default", show_default=True)
@click.option("--addresses", "count", type=click.IntRange(1), default=ADDRESSES, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True)
@reports.outputs()
def command(scale: str, count: int, rounds: int, outputs: reports.Outputs) -> None:
    """Build the dataset (once), time the lookups and print a table."""
    result = measure_lookups(cache.dataset(scale), count, rounds)
    outputs.tell(lines(result), result)
