"""Rows without an address in a file: refused if no row of a sample has one, else reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.cleaning import would_clean
from geolookup.errors import TableFileError

#: Invalid rows of a file that are examined.
_MOST = 1000


@dataclass(slots=True)
class InvalidRows:
    """The invalid rows of one file; ``name`` is the file's."""

    name: str
    column: str
    clean: bool  # whether the addresses were cleaned
    keep: bool = False  # whether a file without any address is accepted
    sampled: int = 0  # rows of the first batch
    examined: int = 0
    cleanable: int = 0

    def add(self, addresses: Any, is_invalid: NDArray[np.bool_]) -> None:
        """Add n rows; TableFileError if they are the first, and texts but no addresses."""
        rows = np.flatnonzero(is_invalid)
        texts = [] if self.clean else _texts(addresses, rows[: _MOST - self.examined].tolist())
        self.examined += len(texts)
        self.cleanable += would_clean(texts)
        has_texts = len(rows) == len(addresses) > addresses.null_count
        if has_texts and not self.sampled and not self.keep:
            first = f"the first {len(rows):,} rows hold" if len(rows) > 1 else "the row holds"
            problem = f"{first} no address in column {self.column!r}"
            raise TableFileError(self.name, problem, self._remedy())
        self.sampled = self.sampled or len(addresses)

    def _remedy(self) -> str:
        if self.cleanable:
            return "pass --clean"
        return "name another by --ip-column; annotate and grep find addresses in any text"

    def notes(self) -> list[str]:
        """Return a line about rows that ``--clean`` would read, if any."""
        if not self.cleanable:
            return []
        of = f"{self.cleanable:,} of {self.examined:,} invalid rows"
        first = "the first " if self.examined == _MOST else ""
        return [f"{self.name}: --clean would read {of}".replace(" of ", f" of {first}", 1)]


def _texts(addresses: Any, rows: list[int]) -> list[str]:
    """Return the texts of rows; bytes, nulls, and texts that are not UTF-8 are skipped."""
    texts = []
    for row in rows:
        try:
            value = addresses[row].as_py()
        except UnicodeDecodeError:
            continue
        if isinstance(value, str):
            texts.append(value)
    return texts
