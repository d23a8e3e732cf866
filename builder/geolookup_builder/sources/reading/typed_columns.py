"""Typed columns, of Parquet, JSON or tables, as formats read them: ranges, and encoded texts.

Numbers, packed addresses and texts of a range keep their types; all other values become texts as
a CSV would state them. Not-a-number counts as unknown: tables without nulls have it for null.

The members of structs are columns too, by their paths: ``city.name``.

``batches`` reads the rows of Parquet files and of tables; row numbers replace lines. Threads find
the meaning of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup.files.column_text import cell_texts, is_bytes, is_list
from geolookup.parallel import in_order
from geolookup_builder.sources.reading.dictionary_columns import trim, with_values
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers, Reject
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.values import whole_texts

BATCH_ROWS = 1 << 17
_SHOWN = 50  # characters of a type, in messages
_ENCODABLE = (pa.float32(), pa.float64(), pa.string(), pa.large_string())
#: The types of columns by path.
Types = Mapping[str, pa.DataType]
#: Opens a member for these columns.
OpenRows = Callable[[Member, Types], AbstractContextManager[Iterator[pa.RecordBatch]]]


def batches(
    member: Member, schema: pa.Schema, layout: Layout, meaning: Meaning, open_rows: OpenRows
) -> Iterator[Batch]:
    """Yield the rows of a member."""
    types = columns_of(member, schema, layout)
    find_rejects = partial(_find_rejects, layout=layout, types=types, open_rows=open_rows)
    numbers = RecordNumbers(member, find_rejects, layout.unread, layout.offered)
    with (
        open_rows(member, types) as rows,
        in_order(lambda part: meaning(as_columns(part, layout)), rows) as results,
    ):
        for ranges, fields in results:
            yield numbers.batch(ranges, fields)


def _find_rejects(
    member: Member, reasons: Mapping[int, str], *, layout: Layout, types: Types, open_rows: OpenRows
) -> Iterator[Reject]:
    """Yield the rows with these numbers (from 1): the number as line, the range as text."""
    ends = [name for name in layout.names if name in layout.texts]
    ranges, start = Layout(layout.names, layout.texts, frozenset()), 0
    with open_rows(member, {name: types[name] for name in ends if name in types}) as parts:
        for rows in parts:
            columns = as_columns(rows, ranges).select(ends)
            # Numbers count from 1 over the member; ``start`` rows are before this batch.
            for number in sorted(record for record in reasons if 0 < record - start <= len(rows)):
                row = columns.slice(number - start - 1, 1).to_pylist()[0]
                cells = (c.hex() if isinstance(c, bytes) else c for c in row.values())
                text = ",".join("" if cell is None else str(cell) for cell in cells)
                yield Reject(member.label, number, reasons[number], text)
            start += len(rows)


def flat(schema: pa.Schema) -> pa.Schema:
    """Return the columns by path: members for structs; a list or a map is one column."""
    return flat_table(schema.empty_table()).schema


def flat_table(rows: pa.Table) -> pa.Table:
    """Return a table with the members of structs as columns."""
    while any(map(pa.types.is_struct, rows.schema.types)):
        rows = rows.flatten()
    return rows


def columns_of(member: Member, schema: pa.Schema, layout: Layout) -> dict[str, pa.DataType]:
    """Return the type of each column of a layout, without those that the file does not have.

    Raises BuildError for a column that holds neither texts nor numbers, or occurs twice.
    """
    columns, present = flat(schema), {}
    for name in sorted((layout.texts | layout.fields).intersection(columns.names)):
        if columns.names.count(name) > 1:
            raise BuildError(member.label, f"column {name!r} twice", remedy="drop one")
        kind = columns.field(name).type
        is_flat = is_list(kind) and not pa.types.is_nested(kind.value_type)
        if pa.types.is_nested(kind) and not (name in layout.lists and is_flat):
            problem = f"column {name!r} holds no values, but {str(kind)[:_SHOWN]}"
            raise BuildError(member.label, problem, remedy="name a column of texts or numbers")
        present[name] = kind
    return present


def as_columns(rows: pa.RecordBatch, layout: Layout) -> pa.RecordBatch:
    """Return the columns of a layout; those that the file lacks are null.

    Raises ArrowInvalid for texts that are not UTF-8.
    """
    table, columns = flat_table(pa.Table.from_batches([rows])), {}
    for name in sorted(layout.texts | layout.fields):
        is_absent = name not in table.column_names
        column = pa.nulls(len(rows), pa.string()) if is_absent else _plain(table.column(name))
        columns[name] = _range_column(column) if name in layout.texts else _encode(column)
    return pa.RecordBatch.from_pydict(columns)


def _plain(chunks: pa.ChunkedArray) -> pa.Array:
    column = chunks.combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _range_column(column: pa.Array) -> pa.Array:
    """Return integers and bytes unchanged, anything else as texts."""
    kind = column.type
    if pa.types.is_integer(kind):
        return column
    if is_bytes(kind):
        return column.cast(pa.large_binary())
    return _validate(column.cast(pa.large_string()))


def _encode(column: pa.Array) -> pa.DictionaryArray:
    kind = column.type
    if is_list(kind):  # as JSON, as a CSV would state it
        column = cell_texts(_validate(column)).cast(pa.large_string())
    elif pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    # Numbers are encoded before they become texts: that is faster.
    if not (pa.types.is_integer(kind) or column.type in _ENCODABLE):
        column = column.cast(pa.string())
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.cast(pa.string())
    if pa.types.is_float64(kind):  # Arrow writes 10000000000.0 as 1e+10, 9999999999.0 as 9999999999
        texts = whole_texts(texts)
    return trim(with_values(encoded, _validate(texts)))


def _validate(texts: pa.Array) -> pa.Array:
    texts.validate(full=True)
    return texts


def only(fields: Iterable[pa.Field], types: Types) -> list[pa.Field]:
    """Return the fields that lead to the chosen columns, with their stated types."""
    chosen = []
    for field in fields:
        before, kind = f"{field.name}.", types.get(field.name)
        below = {
            path.removeprefix(before): of for path, of in types.items() if path.startswith(before)
        }
        if pa.types.is_struct(field.type) and (members := only(field.type, below)):
            kind = pa.struct(members)
        if kind is not None:
            chosen.append(field.with_type(kind))
    return chosen
