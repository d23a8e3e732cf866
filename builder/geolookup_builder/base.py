"""The base of a build: an earlier dataset, whose row numbers and dictionaries the new one keeps.

Of its files those are read that number something, and only these are checked. Its row numbers are
compared, and never followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.manifest import is_dataset
from geolookup.dataset.metadata import Metadata
from geolookup.integrity import files
from geolookup.integrity.shapes import shapes
from geolookup.integrity.tables import Tables
from geolookup_builder.factorize import Codes

#: The files that number something: rows, or the values of a dictionary.
NUMBERING = (
    *(fmt.LOCATION, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE, fmt.IPV4, fmt.IPV6, fmt.PROVENANCE[6]),
    *(fmt.EXPLAINED[6], fmt.EXPLAINED_VALUES),
)
#: The file of the intervals of a family, and its columns of starts, the lower half first.
_INTERVALS = {4: (fmt.IPV4, ("start",)), 6: (fmt.IPV6, ("start_low", "start_high"))}


@dataclass(frozen=True, slots=True)
class Base:
    """An earlier dataset, or none: then it has no rows and no values."""

    metadata: Metadata | None
    batches: Mapping[str, pa.RecordBatch]

    def columns(self, file: str, *names: str) -> list[pa.Array]:
        """Return columns of a file, without dictionaries."""
        batch = self.batches[file]
        return [_decoded(batch.column(name)) for name in names]

    def rows_at(self, first: Addresses, table: str) -> Codes:
        """Return the row in "location" or "network" of the base's interval of each address."""
        file, names = _INTERVALS[first.family]
        starts = Addresses(*(each.to_numpy() for each in self.columns(file, *names)))
        rows = self.columns(file, table)[0].to_numpy()
        return np.asarray(rows[starts.search(first) - 1], np.int32)

    def dictionaries(self, file: str) -> dict[str, pa.Array]:
        """Return the distinct values of each dictionary column of a file."""
        batch = self.batches.get(file)
        columns = {} if batch is None else dict(zip(batch.schema.names, batch.columns, strict=True))
        return {
            name: each.dictionary
            for name, each in columns.items()
            if pa.types.is_dictionary(each.type)
        }

    def of(self, generation: str) -> str | None:
        """Return the base that the manifest of a dataset of this generation states.

        A dataset that is the base again has the base's own manifest.
        """
        if self.metadata is None:
            return None
        same = generation == self.metadata.generation
        return self.metadata.base if same else self.metadata.generation


NO_BASE = Base(None, {})


def opened(path: Path) -> Base:
    """Return a dataset, or the current one of a store, as a base; DatasetError where damaged."""
    from geolookup.comparison import opened as current

    folder = path if is_dataset(path) else Path(current(path).path)
    manifest = files.manifest_of(folder)
    numbering = [name for name in NUMBERING if name in manifest.file_names]
    tables = Tables(folder, manifest.with_files(numbering), {})
    steps = files.digests(folder, tables.manifest), files.load(tables), shapes(tables)
    for damage in chain(*steps):
        raise damage
    return Base(manifest.metadata(), tables.batches)


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
