"""Addresses to look up: which interval by Zipf's law or evenly, where in it at random.

Strategy: intervals are drawn by number, of those the dataset knows (hit) or
of its gaps (miss); the address is drawn evenly inside the interval. Private
addresses and such as carry IPv4 are drawn anew, for they test other paths.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.address import MAX, canonical, embedded_ipv4
from geolookup.contract.special import is_private
from geolookup.dataset import layout as fmt

I64 = NDArray[np.int64]
Chooser = Callable[[np.random.Generator, int, int, float], I64]
SEED = 1
#: Of Zipf's law: the chance of rank r is about 1 / r ** EXPONENT.
EXPONENT = 1.0
_ATTEMPTS = 1000


def _uniform(rng: np.random.Generator, intervals: int, count: int, _exponent: float) -> I64:
    return rng.integers(0, intervals, count)


def _zipf(rng: np.random.Generator, intervals: int, count: int, exponent: float) -> I64:
    """Draw by Zipf's law; with exponent 1, rank r has the chance log((r + 1) / r)."""
    chances = rng.random(count)
    if exponent == 1:
        positions = (intervals + 1.0) ** chances
    else:  # the inverse of the integral of x ** -exponent, from 1 to intervals + 1
        power = 1 - exponent
        positions = (((intervals + 1.0) ** power - 1) * chances + 1) ** (1 / power)
    rank = np.minimum(positions, intervals).astype(np.int64) - 1
    # Popular intervals lie anywhere in the address space.
    return rng.permutation(intervals)[rank]


DISTRIBUTIONS: dict[str, Chooser] = {"zipf": _zipf, "uniform": _uniform}


@dataclass(frozen=True, slots=True)
class Intervals:
    """The intervals of one family: sorted starts as integers, and which of them are known."""

    family: int
    starts: list[int]
    is_known: NDArray[np.bool_]

    def span(self, number: int) -> tuple[int, int]:
        """Return first and last address of an interval."""
        next_number = number + 1
        end = self.starts[next_number] if next_number < len(self.starts) else MAX[self.family] + 1
        return self.starts[number], end - 1


def arrow(path: Path) -> pa.Table:
    """Read a file of a dataset."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def table(dataset: Path, family: int) -> pa.Table:
    """Read the interval table of a family."""
    return arrow(dataset / (fmt.IPV4 if family == 4 else fmt.IPV6))


def read(dataset: Path, family: int) -> Intervals:
    """Read the intervals of a dataset."""
    rows = table(dataset, family)
    is_known = (rows["location"].to_numpy() > 0) | (rows["network"].to_numpy() > 0)
    if family == 4:
        return Intervals(4, rows["start"].to_pylist(), is_known)
    halves = zip(rows["start_high"].to_pylist(), rows["start_low"].to_pylist(), strict=True)
    return Intervals(6, [high << 64 | low for high, low in halves], is_known)


def addresses(
    intervals: Intervals,
    distribution: str,
    count: int,
    *,
    hit: bool,
    exponent: float = EXPONENT,
    seed: int = SEED,
) -> list[str]:
    """Return ``count`` address texts; the same arguments give the same."""
    rng, inside = np.random.default_rng(seed), random.Random(seed)
    usable = np.flatnonzero(intervals.is_known == hit)
    if not hit:  # known addresses are public
        usable = np.array(
            [at for at in usable.tolist() if _find(intervals, at, inside) is not None]
        )
    draws = usable[DISTRIBUTIONS[distribution](rng, len(usable), count, exponent)]
    return [
        canonical(intervals.family, _public(intervals, number, inside)) for number in draws.tolist()
    ]


def _public(intervals: Intervals, number: int, inside: random.Random) -> int:
    address = _find(intervals, number, inside)
    if address is None:
        raise AssertionError("an interval that was public is not")
    return address


def _find(intervals: Intervals, number: int, inside: random.Random) -> int | None:
    """Return a random address of an interval that is public and carries none, if there is one."""
    first, last = intervals.span(number)
    for value in _randoms(first, last, inside):
        if not is_private(intervals.family, value) and (
            intervals.family == 4 or embedded_ipv4(value) is None
        ):
            return value
    return None


def _randoms(first: int, last: int, inside: random.Random) -> Iterator[int]:
    for _ in range(_ATTEMPTS):
        yield inside.randint(first, last)
