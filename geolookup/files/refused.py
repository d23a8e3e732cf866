"""Rows without an address in a file: refused if no row of a sample has one, else reported."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from geolookup.contract.cleaning import would_clean
from geolookup.errors import TableFileError
from geolookup.tables.locate import is_text

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

    def add(self, addresses: pa.Array, is_invalid: pa.BooleanArray) -> None:
        """Add n rows; TableFileError if they are the first, and texts but no addresses."""
        if not self.clean and is_text(addresses.type):
            invalid = addresses.filter(is_invalid).drop_null()[: _MOST - self.examined]
            texts = invalid.cast(pa.large_binary()).to_pylist()
            self.examined += len(texts)
            self.cleanable += would_clean(text.decode("utf-8", "replace") for text in texts)
        rows = is_invalid.true_count
        has_texts = rows == len(addresses) > addresses.null_count
        if has_texts and not self.sampled and not self.keep:
            first = f"the first {rows:,} rows hold" if rows > 1 else "the row holds"
            remedy = "name another by --ip-column; annotate and grep find addresses in any text"
            raise TableFileError(
                self.name,
                f"{first} no address in column {self.column!r}",
                "pass --clean" if self.cleanable else remedy,
            )
        self.sampled = self.sampled or len(addresses)

    def notes(self) -> list[str]:
        """Return a line about rows that ``--clean`` would read, if any."""
        if not self.cleanable:
            return []
        first = "the first " if self.examined == _MOST else ""
        would = f"{self.cleanable:,} of {first}{self.examined:,} invalid rows"
        return [f"{self.name}: --clean would read {would}"]
