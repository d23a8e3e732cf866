"""Tables in memory, of any library with Arrow's PyCapsule interface, to batches.

The columns of an Arrow or Polars table are read where they lie. pandas converts columns of Python
objects. A stream is read whole: a second pass finds the rejected rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from geolookup.errors import BuildError, line_text
from geolookup_builder.sources.reading import typed_columns
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Reading
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.sources.reading.typed_columns import Types

#: The methods of the PyCapsule interface.
_CAPSULES = ("__arrow_c_stream__", "__arrow_c_array__")
#: The methods of lazy tables that compute a table: of Arrow's datasets and of Polars.
_COMPUTE = ("to_table", "collect")
_EXTENSION = b"ARROW:extension:name"
_REMEDY = 'pass columns of texts or numbers; frame["network"].astype(str) makes texts'


def table(label: str, data: Any) -> pa.Table | None:
    """Return a table as Arrow's, its columns not copied if the library allows it.

    ``label`` names it in messages. None if it is not a table, a stream or a lazy table. Raises
    BuildError for columns that Arrow does not have.
    """
    rows = data
    if not _has_capsule(data):
        compute = next((getattr(data, name) for name in _COMPUTE if hasattr(data, name)), None)
        rows = compute() if callable(compute) else None
    if rows is None or isinstance(rows, pa.Table):
        return rows
    with _errors(label, pa.ArrowException, ValueError, TypeError):
        return pa.table(rows) if _has_capsule(rows) else None


def _has_capsule(data: Any) -> bool:
    return any(hasattr(data, name) for name in _CAPSULES)


def schema(member: Member) -> pa.Schema:
    """Return the columns and their types."""
    with member.opener() as rows:
        return rows.schema


def batches(member: Member, reading: Reading) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError for a column of a type that has no texts."""
    return typed_columns.batches(
        member, schema(member), reading.layout, reading.meaning, _open_rows
    )


@contextmanager
def _open_rows(member: Member, types: Types) -> Iterator[Iterator[pa.RecordBatch]]:
    with member.opener() as rows, _errors(member.label, pa.ArrowException):
        columns = typed_columns.flat_table(rows).select(sorted(types))
        for column in columns.schema:
            _check_type(member, column)
        fields = [field.with_type(_without_views(field.type)) for field in columns.schema]
        yield _batches(columns, pa.schema(fields))


def _check_type(member: Member, column: pa.Field) -> None:
    """Raise BuildError for an extension type: the values of its storage may be encoded."""
    extension = (column.metadata or {}).get(_EXTENSION, b"").decode()
    if extension or isinstance(column.type, pa.BaseExtensionType):
        kind = extension or column.type.extension_name
        problem = f"column {column.name!r} is of the extension type {kind}"
        raise BuildError(member.label, problem, remedy=_REMEDY)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type with texts for views: Arrow takes no items of these."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values = _without_views(kind.value_type)
        return kind if values == kind.value_type else pa.large_list(values)
    return kind


def _batches(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows; small chunks are joined."""
    for begin in range(0, len(rows), typed_columns.BATCH_ROWS):
        part = rows.slice(begin, typed_columns.BATCH_ROWS).cast(schema)
        yield from part.combine_chunks().to_batches()


@contextmanager
def _errors(label: str, *kinds: type[Exception]) -> Iterator[None]:
    """Make one BuildError of an error about the columns of a table."""
    try:
        yield
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except kinds as error:
        # pandas has the column after the value.
        text = "; ".join(map(str, reversed(error.args)))
        raise BuildError(label, line_text(text), remedy=_REMEDY) from error
