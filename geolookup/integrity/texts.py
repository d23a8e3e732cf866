"""The JSON texts: UTF-8 whose checksums are right and that say what the other columns say.

Strategy: the standard library writes every value once more, a column at a
time; a row's texts must be these bytes. So no other text can hide behind JSON
that reads the same.
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

#: Stated again, like all of the codec here: a second opinion on what ``dataset.rows`` reads.
_SEPARATOR = "\n"
_TABLES = (fields.LOCATION, fields.NETWORK, fields.COUNTRY)


def texts(tables: Tables) -> Iterator[DatasetError]:
    """Yield the rows whose JSON texts are not those of their columns."""
    for table in _TABLES:
        name = fmt.TABLES[table]
        yield from checksums(tables, name)
        batch = tables.batches[name]
        members = [_texts(batch.column(each.column), each) for each in fields.in_table(table)]
        written = zip(*members, strict=True)
        stored = batch.column("json").to_pylist()
        bad = [_SEPARATOR.join(row) != text for row, text in zip(written, stored, strict=True)]
        yield from tables.bad(name, "json", np.array(bad), "says otherwise than the other columns")


def checksums(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield the rows whose checksum is not that of their text."""
    _, offsets, data = tables.batches[name].column("json").buffers()
    bounds = np.frombuffer(offsets, np.int32).tolist()
    letters = memoryview(data or b"")
    right = [zlib.crc32(letters[begin:end]) for begin, end in pairwise(bounds)]
    bad = tables.numbers(name, "json_crc32") != np.array(right, np.uint32)
    return tables.bad(name, "json_crc32", bad, "not the checksum of the row's text")


def _texts(column: pa.Array, field: fields.Field) -> list[str]:
    """Return the JSON text of each value; none where the answer leaves an unknown one out."""
    if pa.types.is_dictionary(column.type):
        distinct = [*_written(column.dictionary.to_pylist()), "null"]
        return [distinct[at] for at in column.indices.fill_null(-1).to_pylist()]
    values = column.to_pylist()
    if pa.types.is_list(column.type):
        return [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    texts = _written([_plain(value) for value in values])
    return ["" if text == "null" else text for text in texts] if field.optional else texts


def _written(values: list[Any]) -> list[str]:
    """Return the JSON texts of scalars, written at one go: none of them has a raw line feed."""
    if not values:
        return []
    together = json.dumps(values, ensure_ascii=False, separators=(_SEPARATOR, ":"))
    return together[1:-1].split(_SEPARATOR)


def _plain(value: Any) -> Any:
    """Return what is written: whole numbers have no fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
