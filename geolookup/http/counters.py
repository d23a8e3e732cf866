"""What a worker counts, in memory that the admin port can read; no address is in it.

Strategy: a worker has a file of 8-byte numbers mapped and is its only writer,
so that counting is an addition in memory, without locks or messages. Files of
workers that have ended stay until the server ends, for totals never go down.
"""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from geolookup.http.outcomes import OUTCOMES, Outcome

#: Upper bounds of the latency histogram, in seconds; a lookup takes some 20 microseconds.
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
#: States of a worker.
SERVING, DRAINING, ENDED = 1, 2, 3
_GENERATION_BYTES = 32
_HEAD = struct.Struct(f"=QQQ{_GENERATION_BYTES}s")
_FIRST = _HEAD.size // 8
_BUCKETS = _FIRST + len(OUTCOMES)
_SUM = _BUCKETS + len(BOUNDS) + 1
_SIZE = 8 * (_SUM + 1)


class Reading(NamedTuple):
    """The counters of one worker. ``written`` is when its dataset was, Unix seconds."""

    process: int
    state: int
    written: int
    generation: str
    outcomes: Sequence[int]
    buckets: Sequence[int]
    nanoseconds: int


class Counters:
    """The counters of this worker; in a file of ``folder``, or in its own memory if None."""

    def __init__(self, folder: Path | None) -> None:
        self._memory = mmap.mmap(-1, _SIZE) if folder is None else _mapped(folder)
        self._numbers = memoryview(self._memory).cast("Q")

    def serve(self, generation: str, written: int) -> None:
        """Note the dataset that is answered from."""
        digest = bytes.fromhex(generation)
        _HEAD.pack_into(self._memory, 0, os.getpid(), SERVING, written, digest)

    def note(self, state: int) -> None:
        """Note DRAINING or ENDED."""
        self._numbers[1] = state

    def count(self, outcome: Outcome, nanoseconds: int) -> None:
        """Count one request and how long it took."""
        numbers = self._numbers
        numbers[_FIRST + outcome.place] += 1
        numbers[_BUCKETS + bisect_left(_BOUNDS_NS, nanoseconds)] += 1
        numbers[_SUM] += nanoseconds


def _mapped(folder: Path) -> mmap.mmap:
    with (folder / f"worker-{os.getpid()}").open("w+b") as file:
        file.truncate(_SIZE)
        return mmap.mmap(file.fileno(), _SIZE)


def readings(folder: Path) -> Iterator[Reading]:
    """Yield the counters of every worker there has been."""
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        if len(content) == _SIZE:  # else it is being made
            numbers = struct.unpack(f"={_SIZE // 8}Q", content)
            process, state, written, digest = _HEAD.unpack_from(content)
            yield Reading(
                *(process, state, written, digest.hex()),
                numbers[_FIRST:_BUCKETS],
                numbers[_BUCKETS:_SUM],
                numbers[_SUM],
            )
