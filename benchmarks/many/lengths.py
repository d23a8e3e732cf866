"""Calls for lists of several lengths against single calls, with the same answers kept.

Strategy: the addresses are divided into lists. ``dropped``: the answers of a list are dropped
before the next list is answered. ``kept``: the answers of all lists are kept. Single calls keep or
drop theirs alike. They take turns with the calls for lists. Each pattern has a process of its own.
In ``dear`` malloc returns free memory to the system as soon as it can: then a buffer that it maps
is new pages for each call.
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import geolookup
from benchmarks.harness import workload
from benchmarks.harness.processes import pin, result_of, say
from benchmarks.harness.ratios import Ratio

LENGTHS = (10, 100, 1_000, 10_000, 100_000)
#: The most that a call for a list may take, in the time of single calls.
WANTED = 0.85
PATTERNS = ("dropped", "dear", "kept")
#: glibc: map blocks of 128 KiB and more, and return as much that is free.
_DEAR = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
Answer = Callable[[list[str]], object]


def measure_lengths(dataset: Path, count: int, rounds: int) -> list[dict[str, Any]]:
    """Return nanoseconds an address of calls and single calls, by call, pattern and length."""
    rows = []
    for pattern in PATTERNS:
        environment = _DEAR if pattern == "dear" else {}
        os.environ.update(environment)
        rows += result_of("benchmarks.many.lengths", pattern, dataset, count, rounds)["rows"]
        for name in environment:
            del os.environ[name]
    return rows


def ratios(rows: list[dict[str, Any]]) -> Iterator[Ratio]:
    """Yield the share of each row, with its goal."""
    for row in rows:
        name = f"{row['call']}, {row['length']:,} {row['pattern']}"
        yield Ratio(name, row["many"] / row["single"], WANTED, unit="x")


def main(pattern: str, dataset: str, count: str, rounds: str) -> None:
    """Print the rows of a pattern."""
    pin(1)
    intervals = workload.read(Path(dataset), 4)
    ips = workload.addresses(intervals, "uniform", int(count), hit=True)
    del intervals
    with geolookup.open(dataset) as engine:
        calls: dict[str, tuple[Answer, Callable[[str], object]]] = {
            "lookup_many": (engine.lookup_many, engine.lookup),
            "lookup_many_json": (engine.lookup_many_json, engine.lookup_json),
            "json_lines": (lambda part: deque(engine.json_lines(part), 0), engine.lookup_json),
        }
        keeps = pattern == "kept"
        for many, _ in calls.values():
            many(ips)  # the first pass reads the rows
        say(
            {
                "rows": [
                    {"call": name, "pattern": pattern, "length": length}
                    | _row(ips, length, many, _singles(single, name), int(rounds), keeps)
                    for name, (many, single) in calls.items()
                    for length in LENGTHS
                    if length <= len(ips) and not (keeps and name == "json_lines")
                ]
            }
        )


def _singles(single: Callable[[str], object], name: str) -> Answer:
    """Return single calls for a list: a list of their answers, unless the call has no list."""
    if name == "json_lines":
        return lambda part: deque(map(single, part), 0)
    return lambda part: list(map(single, part))


def _row(
    ips: list[str], length: int, many: Answer, single: Answer, rounds: int, keeps: bool
) -> dict[str, float]:
    parts = [ips[at : at + length] for at in range(0, len(ips), length)]
    times: dict[str, list[float]] = {"many": [], "single": []}
    for _ in range(rounds):
        for name, answer in (("many", many), ("single", single)):
            times[name].append(_seconds(map(answer, parts), keeps) * 1e9 / len(ips))
    return {name: statistics.median(measured) for name, measured in times.items()}


def _seconds(answers: Iterable[object], keeps: bool) -> float:
    gc.collect()
    began = time.process_time()
    kept = deque(answers, None if keeps else 0)
    took = time.process_time() - began
    del kept
    return took


if __name__ == "__main__":
    main(*sys.argv[1:])
