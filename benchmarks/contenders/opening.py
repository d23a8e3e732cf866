"""The files of a contender, and the calls that it is opened to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The environment variable with the threads that a contender may use.
THREADS = "GEOLOOKUP_BENCHMARK_THREADS"
#: Turns addresses, a list or an Arrow table, into a call that iterates over answers.
Opened = Callable[[Any], Callable[[], Iterable[object]]]


class RefusedError(Exception):
    """A contender cannot take part here; the text says why."""


@dataclass(frozen=True, slots=True)
class Files:
    """What the contenders read; both have the same ranges."""

    dataset: Path
    mmdb: Path


Opening = Callable[[Files], Opened]
