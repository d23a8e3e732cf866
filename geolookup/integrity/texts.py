"""The JSON texts of rows: one of each field, and no column that demands more bytes than they have.

The texts are not compared with the other columns: whoever computes all digests again can forge
both. A sample of lookups is compared with the columns (``sample``).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.rows import SEPARATOR
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damage


def texts(tables: Tables) -> Iterator[DatasetError]:
    """Yield rows without a text of each field, and columns that hold more than the texts."""
    for table in (fields.LOCATION, fields.NETWORK, fields.COUNTRY, fields.OWN):
        name = fmt.TABLES[table]
        if name in tables.batches:
            members = tables.manifest.schema.in_table(table)
            stored = tables.batches[name].column("json")
            bad = pc.count_substring(stored, SEPARATOR).to_numpy() != len(members) - 1
            yield from tables.bad(name, "json", bad, f"not {len(members)} texts")
            for field in members:
                # Decoded, a dictionary of a few bytes can have gigabytes.
                if _bytes(tables.batches[name].column(field.column)) > _bytes(stored):
                    problem = "more bytes than the texts of the rows"
                    yield damage(tables.folder / name, problem, field.column)


def _bytes(column: pa.Array) -> int:
    """Return the bytes of a column of texts, decoded; 0 for other columns."""
    if pa.types.is_string(column.type):
        return int(pc.sum(pc.binary_length(column), min_count=0).as_py())
    if not pa.types.is_dictionary(column.type):
        return 0
    # The last length is of null: index -1 reads it.
    lengths = np.append(pc.binary_length(column.dictionary).to_numpy(), 0).astype(np.int64)
    return int(lengths[without_nulls(column.indices, -1).to_numpy()].sum())
