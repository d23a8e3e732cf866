"""A whole column of address texts to rows of the dataset, on all cores.

Strategy: the column is cut into runs of rows, and a thread each fills its run
of the outputs; the compiled kernel and numpy both let go of the interpreter
lock while they work.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that are not worth a thread of their own.
_LEAST = 4096


@dataclass(frozen=True, slots=True)
class Rows:
    """What a column resolved to, a row each.

    ``location`` and ``network`` are rows of those tables, 0 where nothing is
    known; ``code`` is 0, 10001 (no address) or 10002 (private).
    """

    location: NDArray[np.uint32]
    network: NDArray[np.uint32]
    code: NDArray[np.int32]


def resolve(
    state: Any,
    letters: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    threads: int | None = None,
) -> Rows:
    """Resolve the UTF-8 texts ``letters[offsets[i] : offsets[i + 1]]``.

    ``threads`` is how many to use, None: all cores this process may run on.
    Raises DatasetError for a damaged dataset, ValueError for less than one thread.
    """
    size = max(len(offsets) - 1, 0)
    rows = Rows(np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.int32))
    bounds = _bounds(size, _cores() if threads is None else threads)
    outputs = rows.location, rows.network, rows.code

    def fill(begin: int, end: int) -> None:
        state.resolve_column(letters, offsets, *outputs, begin, end)

    if len(bounds) <= 2:
        fill(0, size)
    else:
        with ThreadPoolExecutor(len(bounds) - 1) as pool:
            list(pool.map(fill, bounds[:-1], bounds[1:]))
    return rows


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _bounds(size: int, threads: int) -> list[int]:
    """Cut 0 … size into at most ``threads`` runs of about one length."""
    if threads < 1:
        raise ValueError(f"threads is {threads}, and at least 1 is needed")
    runs = max(1, min(threads, size // _LEAST))
    return [size * run // runs for run in range(runs + 1)]
