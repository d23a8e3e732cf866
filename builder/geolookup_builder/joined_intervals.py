"""Partitions that are appended to chunk by chunk; neighbours with equal rows are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import DTypeLike, NDArray

from geolookup.dataset.intervals import Addresses
from geolookup.dataset.runs import run_starts
from geolookup_builder.columns import GrowingStarts, NewColumn

Rows = Mapping[str, NDArray[Any]]


class JoinedIntervals:
    """A partition of a family with columns of rows, appended chunk by chunk."""

    def __init__(self, new_column: NewColumn, family: int, kinds: Mapping[str, DTypeLike]) -> None:
        self._starts = GrowingStarts(new_column, family)
        self._rows = {name: new_column(kind) for name, kind in kinds.items()}
        self._last: list[Any] = []  # the last row of the chunk before

    def append(self, starts: Addresses, rows: Rows) -> Rows:
        """Append a chunk; return its rows without those equal to the row before."""
        keep = run_starts(*rows.values())
        keep[0] = [numbers[0] for numbers in rows.values()] != self._last
        self._last = [numbers[-1] for numbers in rows.values()]
        if not keep.all():
            starts = starts[keep]
            rows = {name: numbers[keep] for name, numbers in rows.items()}
        self._starts.append(starts)
        for name, numbers in rows.items():
            self._rows[name].append(numbers)
        return rows

    def finish(self) -> tuple[Addresses, dict[str, NDArray[Any]]]:
        """Return the first addresses, and the rows of each."""
        return self._starts.finish(), {name: rows.finish() for name, rows in self._rows.items()}
