"""The JSON texts of rows: correct checksums, and the same values as the other columns.

Strategy: the standard library writes every value again, column by column; the stored texts
must be these bytes. So a text that parses to the same value but differs is found too.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables

#: Repeated on purpose, like the codec below: an independent check of ``dataset.rows``.
_SEPARATOR = "\n"
_TABLES = (fields.LOCATION, fields.NETWORK, fields.COUNTRY)


def texts(tables: Tables) -> Iterator[DatasetError]:
    """Yield the rows whose JSON texts differ from their columns."""
    for table in _TABLES:
        name = fmt.TABLES[table]
        yield from checksums(tables, name)
        batch = tables.batches[name]
        members = [_texts(batch.column(each.column), each) for each in fields.in_table(table)]
        written = zip(*members, strict=True)
        stored = batch.column("json").to_pylist()
        bad = [_SEPARATOR.join(row) != text for row, text in zip(written, stored, strict=True)]
        yield from tables.bad(name, "json", np.array(bad), "differs from the other columns")


def checksums(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield the rows whose checksum is wrong."""
    _, offsets, data = tables.batches[name].column("json").buffers()
    bounds = np.frombuffer(offsets, np.int32).tolist()
    data_bytes = memoryview(data or b"")
    right = [zlib.crc32(data_bytes[begin:end]) for begin, end in pairwise(bounds)]
    bad = tables.numbers(name, "json_crc32") != np.array(right, np.uint32)
    return tables.bad(name, "json_crc32", bad, "not the checksum of the row's text")


def _texts(column: pa.Array, field: fields.Field) -> list[str]:
    """Return the JSON text of each value; an empty text for an unknown optional field."""
    if pa.types.is_dictionary(column.type):
        distinct = [*_written(column.dictionary.to_pylist()), "null"]
        return [distinct[at] for at in column.indices.fill_null(-1).to_pylist()]
    values = column.to_pylist()
    if pa.types.is_list(column.type):
        return [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    texts = _written([_plain(value) for value in values])
    return ["" if text == "null" else text for text in texts] if field.optional else texts


def _written(values: list[Any]) -> list[str]:
    """Return the JSON texts of scalars by one call; none contains a raw line feed."""
    if not values:
        return []
    together = json.dumps(values, ensure_ascii=False, separators=(_SEPARATOR, ":"))
    return together[1:-1].split(_SEPARATOR)


def _plain(value: Any) -> Any:
    """Return the value as written: integral numbers have no fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
