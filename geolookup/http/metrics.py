"""The counters of each worker, and their sum as Prometheus text. They contain no address.

Strategy: each worker maps a file of 8-byte numbers and is its only writer, so counting is an
addition in memory, without locks or messages. Files of workers that have ended stay until the
server ends: totals never decrease.
"""

from __future__ import annotations

import logging
import mmap
import os
import struct
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from geolookup.http.answers import KEY_REFUSALS, OUTCOMES, Outcome

#: Upper bounds of the latency histogram, in seconds; a lookup takes about 20 microseconds.
BOUNDS = (
    25e-6,
    50e-6,
    100e-6,
    250e-6,
    500e-6,
    1e-3,
    2.5e-3,
    5e-3,
    10e-3,
    25e-3,
    50e-3,
    0.1,
    0.25,
    1.0,
)
_BOUNDS_NS = [round(bound * 1e9) for bound in BOUNDS]
_bucket = partial(bisect_left, _BOUNDS_NS)
#: States of a worker.
SERVING, DRAINING, ENDED = 1, 2, 3
_GENERATION_BYTES = 32
#: Words of 8 bytes: | process | state | written | generation, 4 words | unusable | outcomes |
#: buckets | sum of nanoseconds |
_HEAD = struct.Struct(f"=QQQ{_GENERATION_BYTES}s")
#: 1 while the account store is unusable.
_UNUSABLE = _HEAD.size // 8
_FIRST = _UNUSABLE + 1
_BUCKETS = _FIRST + len(OUTCOMES)
_SUM = _BUCKETS + len(BOUNDS) + 1
_SIZE = 8 * (_SUM + 1)
_log = logging.getLogger("geolookup.http")


class Reading(NamedTuple):
    """The counters of one worker. ``written``: when its manifest was written, Unix seconds.

    ``unusable``: whether its account store was, a second ago.
    """

    process: int
    state: int
    unusable: bool
    written: int
    generation: str
    outcomes: Sequence[int]
    buckets: Sequence[int]
    nanoseconds: int


class Counters:
    """The counters of this worker, in a file in ``folder``; if it is full, in private memory."""

    def __init__(self, folder: Path) -> None:
        self._memory = _memory(folder)
        self._numbers = memoryview(self._memory).cast("Q")

    def serve(self, generation: str, written: int) -> None:
        """Record the generation in use."""
        digest = bytes.fromhex(generation)
        _HEAD.pack_into(self._memory, 0, os.getpid(), SERVING, written, digest)

    def note(self, state: int) -> None:
        """Record DRAINING or ENDED."""
        self._numbers[1] = state

    def note_store(self, problem: object) -> None:
        """Record whether the account store is usable; None: no problem."""
        self._numbers[_UNUSABLE] = problem is not None

    def count(self, outcomes: Sequence[Outcome], durations: Sequence[int]) -> None:
        """Count requests by their outcomes, and how many nanoseconds each took."""
        numbers = self._numbers
        for outcome, number in Counter(outcomes).items():
            numbers[_FIRST + outcome.counter] += number
        # bisect_left: "le" includes its bound; the last bucket is +Inf.
        for bucket, number in Counter(map(_bucket, durations)).items():
            numbers[_BUCKETS + bucket] += number
        numbers[_SUM] += sum(durations)


def _memory(folder: Path) -> mmap.mmap:
    try:
        return _map(folder / f"worker-{os.getpid()}")
    except OSError as error:
        _log.warning("%s: %s; /metrics and /readyz leave this worker out", folder, error.strerror)
        return mmap.mmap(-1, _SIZE)


def _map(path: Path) -> mmap.mmap:
    # Write zeros: a full disk is an error here then, and not a signal later.
    path.write_bytes(bytes(_SIZE))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), _SIZE)


def readings(folder: Path) -> Iterator[Reading]:
    """Yield the counters of all workers, ended ones included."""
    for path in sorted(folder.glob("worker-*")):
        content = path.read_bytes()
        if len(content) == _SIZE:  # else a worker is creating it
            numbers = struct.unpack(f"={_SIZE // 8}Q", content)
            process, state, written, digest = _HEAD.unpack_from(content)
            yield Reading(
                *(process, state, bool(numbers[_UNUSABLE]), written, digest.hex()),
                numbers[_FIRST:_BUCKETS],
                numbers[_BUCKETS:_SUM],
                numbers[_SUM],
            )


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(workers: Sequence[Reading], running: Sequence[Reading]) -> str:
    """Return the text: totals of all workers, and the generations of the running ones."""
    outcomes = _sums([worker.outcomes for worker in workers], len(OUTCOMES))
    lines = (*_requests(outcomes), *_refusals(outcomes), *_latency(workers), *_datasets(running))
    return "".join(f"{line}\n" for line in lines)


def _sums(rows: Sequence[Sequence[int]], width: int) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)] or [0] * width


def head(name: str, kind: str, text: str) -> Iterator[str]:
    """Yield the lines that describe a metric."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _requests(outcomes: Sequence[int]) -> Iterator[str]:
    name = "geolookup_http_requests_total"
    yield from head(name, "counter", "Requests by HTTP status and contract code.")
    for outcome, count in zip(OUTCOMES, outcomes, strict=True):
        yield f'{name}{{status="{outcome.status}",code="{outcome.code or ""}"}} {count}'


def _refusals(outcomes: Sequence[int]) -> Iterator[str]:
    name = "geolookup_http_keys_refused_total"
    yield from head(name, "counter", "Requests refused by the gate, by reason.")
    for reason, outcome in KEY_REFUSALS.items():
        yield f'{name}{{reason="{reason}"}} {outcomes[outcome.counter]}'


def _latency(workers: Sequence[Reading]) -> Iterator[str]:
    name = "geolookup_http_request_duration_seconds"
    yield from head(name, "histogram", "Time from a request to its answer, inside the worker.")
    # Buckets of Prometheus are cumulative: 5 2 1 -> 5 7 8.
    counts = list(accumulate(_sums([reading.buckets for reading in workers], len(BOUNDS) + 1)))
    for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f"{name}_sum {sum(reading.nanoseconds for reading in workers) / 1e9}"
    yield f"{name}_count {counts[-1]}"


def _datasets(running: Sequence[Reading]) -> Iterator[str]:
    name = "geolookup_dataset_workers"
    yield from head(name, "gauge", "Workers that answer from a generation of the dataset.")
    for generation, count in sorted(Counter(reading.generation for reading in running).items()):
        yield f'{name}{{generation="{generation}"}} {count}'
    name = "geolookup_dataset_age_seconds"
    yield from head(name, "gauge", "Time since the dataset's manifest was written here.")
    now = time.time()
    for generation, written in sorted(
        {(reading.generation, reading.written) for reading in running}
    ):
        # A clock that was set back must not give a negative age.
        yield f'{name}{{generation="{generation}"}} {max(0.0, now - written):.0f}'
