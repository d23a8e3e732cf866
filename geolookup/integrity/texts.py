"""The JSON texts of rows: one of each field. They are not compared with the other columns."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.rows import SEPARATOR
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables


def texts(tables: Tables) -> Iterator[DatasetError]:
    """Yield the rows that have more or fewer texts than fields."""
    for table in (fields.LOCATION, fields.NETWORK, fields.COUNTRY, fields.OWN):
        name = fmt.TABLES[table]
        if name in tables.batches:
            count = len(tables.manifest.schema.in_table(table))
            stored = tables.batches[name].column("json")
            bad = pc.count_substring(stored, SEPARATOR).to_numpy() != count - 1
            yield from tables.bad(name, "json", bad, f"not {count} texts")
