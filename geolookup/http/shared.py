"""Memory that the server shares with its workers: orders to them, their state and counts.

Strategy: arrays of fixed size, made before the workers start. Each worker number has a slot, and
its worker is the only writer, so nothing is locked or sent. Totals stay when a worker dies: its
successor continues them. The server writes orders, and workers read them at each beat: unlike a
signal, an order also reaches a worker that starts. The memory is in /dev/shm, never on a disk.

``multiprocessing`` hands the memory to forked and to spawned workers.
"""

from __future__ import annotations

import ctypes
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.sharedctypes import RawArray, RawValue
from typing import Any

from geolookup.errors import SettingsError
from geolookup.http.answers import OUTCOMES, Outcome

#: Upper bounds of the latency histogram, in seconds; a lookup takes about 20 microseconds.
BOUNDS = (
    *(25e-6, 50e-6, 100e-6, 250e-6, 500e-6),
    *(1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 1.0),
)
# bisect_left: a bound belongs to its bucket; the last bucket is above all bounds.
_bucket = partial(bisect_left, [round(bound * 1e9) for bound in BOUNDS])
_COUNTERS = {outcome: counter for counter, outcome in enumerate(OUTCOMES)}
_WORD = ctypes.c_uint64


class Orders(ctypes.Structure):
    """The orders to the workers, and the process of the server."""

    server: int
    #: How often a reload was ordered.
    reloads: int
    #: Answer with ``Connection: close``.
    drain: bool
    _fields_ = (("server", _WORD), ("reloads", _WORD), ("drain", ctypes.c_bool))


class Slot(ctypes.Structure):
    """The state and the counts of a worker."""

    #: Its process; 0: none has started.
    process: int
    #: Beats of its event loop; 0: it accepts no requests yet, or no more.
    beats: int
    #: Whether the account store fails.
    is_unusable: bool
    #: The generation in use, as hexadecimal digits; the oldest date of a deciding source, in Unix
    #: seconds, 0 if unknown.
    generation: bytes
    data_date: int
    #: Requests by outcome and by duration, and the sum of all durations.
    outcomes: Any
    durations: Any
    nanoseconds: int
    _fields_ = (
        ("process", _WORD),
        ("beats", _WORD),
        ("is_unusable", ctypes.c_bool),
        ("generation", ctypes.c_char * 64),
        ("data_date", _WORD),
        ("outcomes", _WORD * len(OUTCOMES)),
        ("durations", _WORD * (len(BOUNDS) + 1)),
        ("nanoseconds", _WORD),
    )

    def begin(self) -> None:
        """Record that this process is the worker from now on."""
        self.is_unusable, self.beats, self.process = False, 0, os.getpid()

    def count(self, outcomes: Sequence[Outcome], durations: Sequence[int]) -> None:
        """Count the requests of a batch by their outcomes, and how many nanoseconds each took."""
        counts = self.outcomes
        for outcome, number in Counter(outcomes).items():
            counts[_COUNTERS[outcome]] += number
        counts = self.durations
        for bucket, number in Counter(map(_bucket, durations)).items():
            counts[bucket] += number
        self.nanoseconds += sum(durations)

    @property
    def is_running(self) -> bool:
        """Whether the process of the worker exists."""
        try:
            os.kill(self.process, 0)  # signal 0 only asks
        except OSError:
            return False
        return self.process > 0


class Shared:
    """The orders, and the slot of each worker. Raises SettingsError if memory is short."""

    def __init__(self, workers: int) -> None:
        try:
            self.orders: Orders = RawValue(Orders, os.getpid())
            self.slots: Sequence[Slot] = RawArray(Slot, workers)  # type: ignore[assignment]
        except OSError as error:
            raise SettingsError(
                f"no shared memory: {error.strerror}; free space in /dev/shm, or set TMPDIR"
            ) from None

    def serving(self) -> Iterator[Slot]:
        """Yield the slots of the workers that accept requests."""
        return (slot for slot in self.slots if slot.beats and slot.is_running)
