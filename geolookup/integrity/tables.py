"""The columns of a dataset that is looked at, as numpy has them, and damage found in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError
from geolookup.integrity.damage import damaged_rows

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Tables:
    """A dataset: its manifest, and the columns of its files by file name."""

    folder: Path
    manifest: Manifest
    batches: dict[str, pa.RecordBatch]

    def numbers(self, name: str, column: str) -> Numbers:
        """Return a column without nulls as numpy has it."""
        values = self.batches[name].column(column)
        if pa.types.is_dictionary(values.type):
            distinct = values.dictionary.to_numpy(zero_copy_only=False)
            return np.asarray(distinct[values.indices.to_numpy()])
        return np.asarray(values.to_numpy())

    def rows(self, name: str) -> int:
        """Return the rows of a file."""
        return int(self.batches[name].num_rows)

    def start_columns(self, name: str) -> str:
        """Return the names of the columns of ``starts``, as damage tells them."""
        stored = self.batches[name].schema.names
        return ", ".join(each for each in stored if each.startswith("start"))

    def starts(self, name: str) -> Addresses:
        """Return the intervals' first addresses."""
        if "start" in self.batches[name].schema.names:
            return Addresses(self.numbers(name, "start"))
        return Addresses(self.numbers(name, "start_low"), self.numbers(name, "start_high"))

    def bad(self, name: str, column: str, rows: Bools, problem: str) -> Iterator[DatasetError]:
        """Yield an error for the rows that are marked."""
        return damaged_rows(self.folder / name, column, rows, problem)

    def outside(self, name: str, column: str, target: str) -> Iterator[DatasetError]:
        """Yield an error where row numbers lead outside the table that they are of."""
        bad = self.numbers(name, column) >= self.rows(target)
        return self.bad(name, column, bad, f"leads outside {target}")
