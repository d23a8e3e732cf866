"""How damage is told: one line with the file, the column and the row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geolookup.errors import DatasetError

_REMEDY = "fetch it again, or build it with 'geolookup build'"


def damaged(path: Path, problem: str, column: str = "", row: int | None = None) -> DatasetError:
    """Return the error for one thing that is wrong in a file; rows count from 0."""
    place = [f"column {column}"] if column else []
    place += [f"row {row}"] if row is not None else []
    return DatasetError(
        path, ": ".join([", ".join(place), problem] if place else [problem]), _REMEDY
    )


def damaged_rows(
    path: Path, column: str, bad: NDArray[np.bool_], problem: str
) -> Iterator[DatasetError]:
    """Yield one error for all rows that are marked: it names the first and counts the others."""
    count = int(np.count_nonzero(bad))
    if count:
        more = f" (and {count - 1:,} rows more)" if count > 1 else ""
        yield damaged(path, problem + more, column, int(np.argmax(bad)))
