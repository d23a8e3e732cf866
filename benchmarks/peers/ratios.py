"""The goals for ratios, and their measured values: printed, never asserted.

Strategy: a ratio of two contenders is taken round by round, for their rounds
followed each other, and the median of those counts; so a busy minute of the
machine weighs on both sides.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.harness.ratios import Ratio
from benchmarks.peers.start import BARE

Rows = Mapping[str, Mapping[str, Any]]
#: Milliseconds over the bare interpreter, bytes of its own memory, ns of one field.
START_MS, MEMORY_MB, FIELD_NS = 20.0, 40.0, 300.0
_JSON = "lookup_json"
#: Our method, the peer, and how many times as long the peer is wanted to take, by distribution.
_PEERS: tuple[tuple[str, str, dict[str, float | None]], ...] = (
    (_JSON, "maxminddb (C) get + json", {"zipf": 25, "uniform": 18}),
    (_JSON, "maxminddb (C) get + orjson", {"zipf": 10, "uniform": 7.5}),
    (_JSON, "maxminddb-rust get + orjson", {"zipf": 6, "uniform": 5}),
    ("lookup", "maxminddb (C) get", {"zipf": 2.8, "uniform": 2.3}),
    ("lookup", "maxminddb-rust get", {"zipf": 1.7, "uniform": 1.4}),
)
#: Our dict over the floor, and IPv6 over IPv4.
_FLOOR, _FAMILIES = 2.0, 1.5


def ratios(rows: Rows) -> list[Ratio]:
    """Return all ratios whose contenders took part, of the compiled kernel where it did."""
    kernel = "compiled" if "rounds" in rows.get(_own("compiled", "lookup"), {}) else "python"
    return [*_peers(rows, kernel), *_within(rows, kernel), *_processes(rows, kernel)]


def _own(kernel: str, method: str) -> str:
    return f"geolookup ({kernel}) {method}"


def _workload(distribution: str, family: int = 4) -> str:
    return f"{distribution} IPv{family} hit"


def _over(rows: Rows, one: tuple[str, str], other: tuple[str, str]) -> float | None:
    """Return how many times as long one contender takes on its workload as the other."""
    rounds: list[Any] = [
        rows.get(name, {}).get("rounds", {}).get(workload) for name, workload in (one, other)
    ]
    if not all(rounds):
        return None
    return float(statistics.median(a / b for a, b in zip(*rounds, strict=True)))


def _peers(rows: Rows, kernel: str) -> Iterator[Ratio]:
    for method, peer, goals in _PEERS:
        for distribution, bound in goals.items():
            workload = _workload(distribution)
            own = _own(kernel, method)
            value = _over(rows, (peer, workload), (own, workload))
            if value is not None:
                yield Ratio(f"{peer} / {own}, {distribution}", value, bound, True, "x")


def _within(rows: Rows, kernel: str) -> Iterator[Ratio]:
    """Yield the ratios to the floor, of the families, and the time of one field."""
    own, zipf = _own(kernel, "lookup"), _workload("zipf")
    if (value := _over(rows, (own, zipf), ("floor", zipf))) is not None:
        yield Ratio(f"{own} / floor, zipf", value, _FLOOR, unit="x")
    for method in (_JSON, "lookup"):
        for distribution in ("zipf", "uniform"):
            own = _own(kernel, method)
            four, six = (own, _workload(distribution)), (own, _workload(distribution, 6))
            if (value := _over(rows, six, four)) is not None:
                yield Ratio(f"{own}, {distribution}: IPv6 / IPv4", value, _FAMILIES, unit="x")
    rounds = rows.get(_own(kernel, "get"), {}).get("rounds", {}).get(zipf)
    if rounds:
        yield Ratio(
            f"{_own(kernel, 'get')}, one field, zipf",
            statistics.median(rounds),
            FIELD_NS,
            unit=" ns",
        )


def _processes(rows: Rows, kernel: str) -> Iterator[Ratio]:
    """Yield what a process takes to start, over the bare interpreter, and to hold."""
    bare = rows.get(BARE, {}).get("start", {}).get("median_ms")
    for name, bound in ((_own(kernel, _JSON), START_MS), ("maxminddb (C) get + json", None)):
        start = rows.get(name, {}).get("start")
        if start and bare is not None:
            over = start["median_ms"] - bare
            yield Ratio(f"{name}: start to first answer, over bare", over, bound, unit=" ms")
    for method in (_JSON, "lookup"):
        memory = rows.get(_own(kernel, method), {}).get("memory")
        if memory:
            megabytes = memory["RssAnon"] / 1e6
            yield Ratio(f"{_own(kernel, method)}: own memory", megabytes, MEMORY_MB, unit=" MB")
