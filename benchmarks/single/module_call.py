"""``geolookup.lookup_json`` against the method of an engine, quiet and beside a busy thread.

Strategy: both answer the same addresses in turns; the difference of each pair counts. The processor
time of the calling thread is taken: the other thread has its own.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import geolookup
from benchmarks.harness.ratios import Ratio

#: The most nanoseconds that the call of the module may take longer.
WANTED = 60
_PAIRS, _ADDRESSES = 101, 2_000


def measure_module(ips: list[str]) -> dict[str, float]:
    """Return the median of the differences in nanoseconds a call, on the default dataset."""
    ips = ips[:_ADDRESSES]
    with geolookup.open() as engine:
        result = {"quiet": _difference(engine, ips)}
        with _busy_thread():
            result["busy"] = _difference(engine, ips)
    return result


def ratios(result: dict[str, float]) -> Iterator[Ratio]:
    """Yield the differences with their goal."""
    for name, text in (("quiet", ""), ("busy", ", beside a busy thread")):
        yield Ratio(f"geolookup.lookup_json - engine's{text}", result[name], WANTED, unit=" ns")


def _difference(engine: geolookup.Engine, ips: list[str]) -> float:
    differences = []
    for _ in range(_PAIRS):
        of_engine = _nanoseconds(engine, ips)
        differences.append(_nanoseconds(geolookup, ips) - of_engine)
    return statistics.median(differences)


def _nanoseconds(owner: Any, ips: list[str]) -> float:
    """Return nanoseconds a call; a program finds the call by its name each time."""
    began = time.thread_time_ns()
    for ip in ips:
        owner.lookup_json(ip)
    return (time.thread_time_ns() - began) / len(ips)


@contextmanager
def _busy_thread() -> Iterator[None]:
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            sum(range(1_000))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
