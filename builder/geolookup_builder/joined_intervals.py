"""Partitions that are appended to chunk by chunk; neighbours with equal rows are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import DTypeLike, NDArray

from geolookup.dataset.intervals import Addresses, Bools
from geolookup_builder.columns import Columns
from geolookup_builder.flatten import changes

Rows = Mapping[str, NDArray[Any]]


class JoinedIntervals:
    """A partition of a family with columns of rows, appended chunk by chunk."""

    def __init__(
        self, columns: Columns, family: int, most: int, kinds: Mapping[str, DTypeLike]
    ) -> None:
        self._starts = columns.starts(family, most)
        self._rows = {name: columns.column(kind, most) for name, kind in kinds.items()}
        self._last: Rows = {}

    def append(self, starts: Addresses, rows: Rows) -> Rows:
        """Append a chunk; return its rows without those equal to the row before."""
        keep = self._changes(rows)
        self._last = {name: numbers[-1:] for name, numbers in rows.items()}
        if not keep.all():
            starts = starts[keep]
            rows = {name: numbers[keep] for name, numbers in rows.items()}
        self._starts.append(starts)
        for name, numbers in rows.items():
            self._rows[name].append(numbers)
        return rows

    def _changes(self, rows: Rows) -> Bools:
        """Mark the rows that differ from the row before, also of the chunk before."""
        keep = changes(*rows.values())
        if self._last:
            keep[0] = any(numbers[0] != self._last[name][0] for name, numbers in rows.items())
        return keep

    def finish(self) -> tuple[Addresses, dict[str, NDArray[Any]]]:
        """Return the first addresses, and the rows of each."""
        return self._starts.finish(), {name: rows.finish() for name, rows in self._rows.items()}
