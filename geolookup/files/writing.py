"""What every format's writer is asked for and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Writing:
    """How a file is to be written."""

    delimiter: str | None = None  # None: the format's own
    header: bool = True  # of CSV: whether the columns' names come first


class Sink(Protocol):
    """Takes record batches of one schema; the file is whole after ``close``."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""

    def close(self) -> None:
        """Write what is left, and the end of the file; the stream stays open."""
