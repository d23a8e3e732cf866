"""The previous dataset of a build: the new one keeps its row numbers and dictionaries.

Only the files that number something are read and checked. Its row numbers are compared,
never used as an index.

A new row takes the number of the former row that it succeeds. A vendor that corrects the
coordinates of a city makes a new row of it, and none of its intervals moves; with the number of
the former row they stay the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import TEXTS
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import numbers_of, starts_of, without_dictionary
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.manifest import is_dataset
from geolookup.dataset.metadata import Metadata
from geolookup.integrity import files
from geolookup.integrity.tables import Tables, shapes
from geolookup_builder.factorize import Codes, factorize
from geolookup_builder.fragments import list_texts

#: The files that number something: rows, or the values of a dictionary.
NUMBERING = (
    *(fmt.LOCATION, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE, fmt.OWN),
    *(fmt.IPV4, fmt.IPV6, fmt.PROVENANCE[6]),
    *(fmt.EXPLAINED[6], fmt.EXPLAINED_VALUES),
)


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier dataset, or none: then it has no rows and no values."""

    metadata: Metadata | None
    batches: Mapping[str, pa.RecordBatch]
    schema: Schema = CONTRACT

    def own_columns(self) -> dict[str, pa.Array]:
        """Return the own columns by their names in sources; lists are their JSON texts."""
        columns = self.columns(fmt.OWN, *(field.column for field in self.schema.own))
        return {
            field.source_column: list_texts(column) if field.type == TEXTS else column
            for field, column in zip(self.schema.own, columns, strict=True)
        }

    def columns(self, file: str, *names: str) -> list[pa.Array]:
        """Return columns of a file, without dictionaries."""
        batch = self.batches[file]
        return [without_dictionary(batch.column(name)) for name in names]

    def rows_at(self, first: Addresses, table: str) -> Codes:
        """Return the row in a table, such as "location", of the interval of each address."""
        batch = self.batches[fmt.INTERVALS[first.family]]
        rows = numbers_of(batch, table)
        return np.asarray(rows[starts_of(batch).search(first) - 1], np.int32)

    def dictionaries(self, file: str) -> dict[str, pa.Array]:
        """Return the distinct values of each dictionary column of a file."""
        batch = self.batches.get(file)
        columns = {} if batch is None else dict(zip(batch.schema.names, batch.columns, strict=True))
        return {
            name: column.dictionary
            for name, column in columns.items()
            if pa.types.is_dictionary(column.type)
        }

    def of(self, generation: str) -> str | None:
        """Return the ``previous`` of the manifest of a dataset of this generation.

        A dataset with the same content has the same manifest.
        """
        if self.metadata is None:
            return None
        same = generation == self.metadata.generation
        return self.metadata.previous if same else self.metadata.generation


NO_PREVIOUS = Previous(None, {})


def open_previous(path: Path) -> Previous:
    """Open a dataset, or the current one of a store; DatasetError if it is damaged."""
    from geolookup.comparison import open_dataset as current

    folder = path if is_dataset(path) else Path(current(path).path)
    manifest = files.manifest_of(folder)
    numbering = [name for name in NUMBERING if name in manifest.file_names]
    tables = Tables(folder, manifest.with_files(numbering), {})
    steps = files.digests(folder, tables.manifest), files.load(tables), shapes(tables)
    for damage in chain(*steps):
        raise damage
    return Previous(manifest.metadata(), tables.batches, manifest.schema)


def with_successors(
    previous_rows: Codes,
    table: str,
    intervals: Sequence[tuple[Addresses, Codes]],
    previous: Previous,
) -> Codes:
    """Return the former number of each row of a table, or of the row that it succeeds.

    ``previous_rows`` has the number of each row in the previous dataset, -1 for a new row.
    ``table`` is "location", "network" or "own", ``intervals`` are the starts and rows of each
    family. A new row succeeds the one that most of its intervals had before, of those that are
    gone. No two rows succeed the same; a row that succeeds none keeps -1.
    """
    parts = [
        _of_new_rows(previous_rows, table, starts, rows, previous) for starts, rows in intervals
    ]
    new, former = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    # A former row that the build still has keeps its own number: nothing succeeds it.
    is_gone = ~np.isin(former, previous_rows)
    new, former = _pairs(new[is_gone], former[is_gone])
    numbers = previous_rows.copy()
    numbers[new] = former
    return numbers


def _of_new_rows(
    previous_rows: Codes, table: str, starts: Addresses, rows: Codes, previous: Previous
) -> tuple[Codes, Codes]:
    """Return the row of each interval that has a new one, and the row that it had before."""
    at = np.flatnonzero(previous_rows[rows] < 0)
    return rows[at], previous.rows_at(starts[at], table)


def _pairs(new: Codes, former: Codes) -> tuple[Codes, Codes]:
    """Return pairs in which no row occurs twice, of those given the most frequent."""
    # Example: 9 was 4 in two intervals and 5 in one, 8 was 4 in one: 9 succeeds 4, 8 nothing.
    codes, first = factorize([new, former])
    # stable: pairs of equal frequency stay in the order of their first interval.
    by_frequency = first[np.argsort(-np.bincount(codes), kind="stable")]
    # Each new row with its most frequent former one, then each former row once.
    best = by_frequency[np.sort(_first_occurrences(new[by_frequency]))]
    best = best[_first_occurrences(former[best])]
    return new[best], former[best]


def _first_occurrences(values: Codes) -> Codes:
    return np.asarray(np.unique(values, return_index=True)[1], np.int32)
