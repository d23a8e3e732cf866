"""Whole columns of addresses, on Arrow: the only vectorised path there is.

``locate`` turns addresses into interval ids, ``take`` interval ids into columns of the answer, and
``enrich`` does both for a table of any kind. ``pandas``, ``polars``, ``duckdb`` and ``spark`` are
thin adapters on top, each with an extra of its name.

``enrich`` dispatches by the type of the data. One registry has the types by the names of package
and type, so a library is imported only when one of its frames is given; a subclass has the
adapter of the first base that is in it. Any other object with Arrow's PyCapsule interface is read
as a stream (DuckDB relations, nanoarrow) or an array.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from geolookup.tables.enrich import Enricher
from geolookup.tables.locate import CHUNK, column_of, locate
from geolookup.tables.take import of_table, take

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

__all__ = ["check_names", "check_no_column", "enrich", "in_one", "locate", "take"]

#: Takes an enricher, data, its column of addresses, and its column of instants or None; returns
#: the data with the columns of answers.
Adapter = Callable[[Enricher, Any, str, str | None], Any]


def enrich(
    state: State,
    data: Any,
    column: str,
    paths: str | Iterable[str] | None,
    *,
    at: Any = None,
    **options: Any,
) -> Any:
    """Return data of the same kind with columns of answers; see ``Engine.enrich``."""
    adapter = _adapter_of(data)
    instants = at if isinstance(at, str) else None
    enricher = Enricher(state, of_table(paths), at=None if instants is not None else at, **options)
    return adapter(enricher, data, column, instants)


def check_names(present: Iterable[str], column: str, at: str | None, new: Iterable[str]) -> None:
    """Raise KeyError for a missing column, ValueError for a new name that exists or is repeated."""
    names = list(present)
    for name in (column, *([] if at is None else [at])):
        if name not in names:
            raise KeyError(f"no column {name!r}; there are {', '.join(map(repr, names))}")
        if names.count(name) > 1:
            raise ValueError(f"there is more than one column {name!r}: rename one")
    twice = sorted(set(names) & set(new))
    if twice:
        raise ValueError(f"there is a column {twice[0]!r} already: ask for a prefix")


def check_no_column(at: str | None) -> None:
    """Raise KeyError for a column of instants: beside a bare column there are no others."""
    if at is not None:
        raise KeyError(f"no column {at!r}: there is only one, without a name")


def in_one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; Arrow's combine_chunks fails for dictionaries in no chunks."""
    return pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])


def _table(enricher: Enricher, data: pa.Table, column: str, at: str | None) -> pa.Table:
    check_names(data.schema.names, column, at, enricher.names)
    answers = enricher.table(data[column], None if at is None else data[at])
    for name in answers.schema.names:
        data = data.append_column(answers.schema.field(name), answers[name])
    return data


def _batch(enricher: Enricher, data: pa.RecordBatch, column: str, at: str | None) -> pa.RecordBatch:
    table = _table(enricher, pa.Table.from_batches([data]), column, at)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.record_batch(columns, schema=table.schema)


def _reader(
    enricher: Enricher, data: pa.RecordBatchReader, column: str, at: str | None
) -> pa.RecordBatchReader:
    """Return a stream that reads the given one while it is read."""
    check_names(data.schema.names, column, at, enricher.names)
    kinds = data.schema.field(column).type, None if at is None else data.schema.field(at).type
    schema = pa.schema([*data.schema, *enricher.schema(*kinds)], data.schema.metadata)
    return pa.RecordBatchReader.from_batches(schema, _append(enricher, data, column, at, schema))


def _append(
    enricher: Enricher,
    data: Iterable[pa.RecordBatch],
    column: str,
    at: str | None,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Slice batches as the enricher does, queue the slices, and append its columns to each."""
    queue: deque[pa.RecordBatch] = deque()

    def columns() -> Iterator[tuple[pa.ChunkedArray, pa.ChunkedArray | None]]:
        for batch in data:
            for begin in range(0, len(batch), CHUNK):
                part = batch.slice(begin, CHUNK)
                queue.append(part)
                yield column_of(part[column]), None if at is None else column_of(part[at])

    for answers in enricher.batches(columns()):
        part = queue.popleft()
        yield pa.record_batch([*part.columns, *answers.columns], schema=schema)


def _column(enricher: Enricher, data: Any, _column: str, at: str | None) -> pa.Table:
    check_no_column(at)
    return enricher.table(data)


def _stream(enricher: Enricher, data: Any, column: str, at: str | None) -> Any:
    """Read structs as batches of a table, any other type as a column."""
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid:
        return _column(enricher, _whole(data), column, at)
    return _reader(enricher, reader, column, at)


def _whole(data: Any) -> pa.ChunkedArray:
    try:
        return pa.chunked_array(data)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except (pa.ArrowException, RuntimeError):
        name = type(data).__name__
        raise TypeError(
            f"a {name} that is not a table, and can be read only once: read it first"
        ) from None


def _array(enricher: Enricher, data: Any, column: str, at: str | None) -> Any:
    """Read structs as the rows of a table, any other type as a column."""
    array = pa.array(data)
    if pa.types.is_struct(array.type):
        return _batch(enricher, pa.RecordBatch.from_struct_array(array), column, at)
    return _column(enricher, array, column, at)


def _of_library(module: str, function: str) -> Adapter:
    """Return a function of an adapter module, which is imported at the first call."""

    def adapter(*arguments: Any) -> Any:
        return getattr(import_module(f"geolookup.tables.{module}"), function)(*arguments)

    return adapter


_ADAPTERS: dict[tuple[str, str], Adapter] = {
    ("pyarrow", "Table"): _table,
    ("pyarrow", "RecordBatch"): _batch,
    ("pyarrow", "RecordBatchReader"): _reader,
    ("pyarrow", "Array"): _column,
    ("pyarrow", "ChunkedArray"): _column,
    ("pandas", "DataFrame"): _of_library("pandas", "enrich_frame"),
    ("pandas", "Series"): _of_library("pandas", "enrich_series"),
    ("polars", "DataFrame"): _of_library("polars", "enrich_frame"),
    ("polars", "LazyFrame"): _of_library("polars", "enrich_lazy"),
    ("polars", "Series"): _of_library("polars", "enrich_series"),
}


def _adapter_of(data: Any) -> Adapter:
    # pandas.core.frame.DataFrame is ("pandas", "DataFrame"); also for a subclass, by its bases.
    for kind in type(data).__mro__:
        adapter = _ADAPTERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if adapter is not None:
            return adapter
    if hasattr(data, "__arrow_c_stream__"):
        return _stream
    if hasattr(data, "__arrow_c_array__"):
        return _array
    raise TypeError(
        f"a {type(data).__name__} is not a table: wanted one of Arrow, pandas or Polars, or"
        " anything with the Arrow PyCapsule interface"
    )
