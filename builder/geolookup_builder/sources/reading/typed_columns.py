"""Typed columns, of Parquet or JSON, as formats read them: ranges, and dictionary-encoded texts.

Numbers, packed addresses and texts of a range keep their types; all other values become texts as
a CSV would state them. Not-a-number counts as unknown: tables without nulls have it in place of
them.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.nested import Steps, column_at, steps_to, type_at
from geolookup_builder.sources.reading.text import Layout

#: No text of a range is longer. A longer one in a dictionary may stand in very many rows.
_RANGE_BYTES = 100
_SHOWN = 50  # characters of a type, in messages
_BYTES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)


def steps_of(member: Member, schema: pa.Schema, layout: Layout) -> dict[str, Steps]:
    """Return how each column of a layout is reached, without those that the file does not have.

    Raises BuildError for a column that holds neither texts nor numbers, or is there twice.
    """
    paths = {name: steps_to(schema, name) for name in sorted(layout.texts | layout.wanted)}
    found = {name: steps for name, steps in paths.items() if steps is not None}
    for name, steps in found.items():
        if schema.names.count(steps[0]) > 1:
            raise BuildError(member.label, f"column {steps[0]!r} twice", remedy="drop one")
        if pa.types.is_nested(kind := type_at(schema, steps)):
            problem = f"column {name!r} holds no values, but {str(kind)[:_SHOWN]}"
            raise BuildError(member.label, problem, remedy="name a column of texts or numbers")
    return found


def as_columns(rows: pa.RecordBatch, layout: Layout, steps: Mapping[str, Steps]) -> pa.RecordBatch:
    """Return the columns of a layout; those without steps are null.

    Raises ArrowInvalid for texts that are not UTF-8.
    """
    columns = {}
    for name in sorted(layout.texts | layout.wanted):
        column = column_at(rows, steps[name]) if name in steps else pa.nulls(len(rows), pa.string())
        columns[name] = _range_column(column) if name in layout.texts else _encoded(column)
    return pa.RecordBatch.from_pydict(columns)


def _range_column(column: pa.Array) -> pa.Array:
    """Return integers and bytes as they are, anything else as texts."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        values = _range_column(column.dictionary)
        if pa.types.is_large_string(values.type):
            values = pc.utf8_slice_codeunits(values, 0, _RANGE_BYTES)
        elif pa.types.is_large_binary(values.type):
            values = pc.binary_slice(values, 0, _RANGE_BYTES)
        return values.take(column.indices)
    if pa.types.is_integer(kind):
        return column
    if any(is_bytes(kind) for is_bytes in _BYTES):
        return column.cast(pa.large_binary())
    return _valid(column.cast(pa.large_string()))


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    if not pa.types.is_dictionary(kind):
        if not _is_encodable(kind):
            column = column.cast(pa.string())
        column = column.dictionary_encode()
    values = _valid(column.dictionary.cast(pa.string()))
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), values)


def _is_encodable(kind: pa.DataType) -> bool:
    """Return whether distinct values are found before they become texts, which is faster."""
    return bool(
        pa.types.is_integer(kind)
        or kind in (pa.float32(), pa.float64(), pa.string(), pa.large_string())
    )


def _valid(texts: pa.Array) -> pa.Array:
    texts.validate(full=True)
    return texts
