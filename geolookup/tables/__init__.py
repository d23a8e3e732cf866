"""Whole columns of addresses, on Arrow: the one vectorised path.

``locate`` turns addresses into interval ids, ``take`` interval ids into columns of the answer, and
``enrich`` does both for a table of any kind. ``pandas``, ``polars``, ``duckdb`` and ``spark`` are
thin adapters on top, each with an extra of its name.

``enrich`` dispatches by the type of the data. A registry lists the types by the names of package
and type: a library is imported only for one of its own frames. A subclass uses the adapter of its
first registered base. Any other object with Arrow's PyCapsule interface is read as a stream (DuckDB
relations, nanoarrow) or an array.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from geolookup.errors import near_match
from geolookup.tables.enrich import Enricher
from geolookup.tables.locate import CHUNK, column_of, locate
from geolookup.tables.take import of_table, take

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

__all__ = ["check_names", "check_no_column", "enrich", "in_one", "locate", "take"]

#: Arguments: an enricher, data, its column of addresses, and its column of instants or None.
#: Returns the data with the columns of answers.
Adapter = Callable[[Enricher, Any, str, str | None], Any]


def enrich(
    state: State,
    data: Any,
    *fields: str | Iterable[str],
    column: str = "ip",
    at: Any = None,
    time_column: str | None = None,
    **options: Any,
) -> Any:
    """Return data of the same kind with columns of answers; see ``Engine.enrich``."""
    adapter = _adapter_of(data)
    if isinstance(at, str):
        raise TypeError("enrich: at is an instant; time_column names a column of instants")
    if at is not None and time_column is not None:
        raise ValueError("enrich: at is for all rows, time_column for each row; pass one of them")
    columns = of_table(fields, schema=state.dataset.schema)
    return adapter(Enricher(state, columns, at=at, **options), data, column, time_column)


def check_names(
    present: Iterable[str], column: str, time_column: str | None, new: Iterable[str]
) -> None:
    """Raise KeyError for a missing column, ValueError for a new name that exists or is repeated."""
    names = list(present)
    _check_column(names, column, "column=")
    if time_column is not None:
        _check_column(names, time_column, "time_column=")
    existing = sorted(set(names) & set(new))
    if existing:
        raise ValueError(f"enrich: column {existing[0]!r} exists already; pass a prefix")


def _check_column(names: list[str], name: str, argument: str) -> None:
    if name not in names:
        hint = near_match(name, names, argument=argument)
        raise KeyError(f"enrich: no column {name!r}; {hint}")
    if names.count(name) > 1:
        raise ValueError(f"enrich: several columns are named {name!r}; rename the others")


def check_no_column(time_column: str | None) -> None:
    """Raise KeyError for a column of instants if the data are a single column."""
    if time_column is not None:
        raise KeyError(f"enrich: no column {time_column!r}; the data are a single column")


def in_one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; combine_chunks fails for dictionaries without chunks."""
    return pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])


def _table(enricher: Enricher, data: pa.Table, column: str, time_column: str | None) -> pa.Table:
    check_names(data.schema.names, column, time_column, enricher.names)
    answers = enricher.table(data[column], None if time_column is None else data[time_column])
    for name in answers.schema.names:
        data = data.append_column(answers.schema.field(name), answers[name])
    return data


def _batch(
    enricher: Enricher, data: pa.RecordBatch, column: str, time_column: str | None
) -> pa.RecordBatch:
    table = _table(enricher, pa.Table.from_batches([data]), column, time_column)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.record_batch(columns, schema=table.schema)


def _reader(
    enricher: Enricher, data: pa.RecordBatchReader, column: str, time_column: str | None
) -> pa.RecordBatchReader:
    """Return a stream that reads ``data`` as its own batches are read."""
    check_names(data.schema.names, column, time_column, enricher.names)
    time_type = None if time_column is None else data.schema.field(time_column).type
    new = enricher.schema(data.schema.field(column).type, time_type)
    schema = pa.schema([*data.schema, *new], data.schema.metadata)
    return pa.RecordBatchReader.from_batches(
        schema, _append(enricher, data, column, time_column, schema)
    )


def _append(
    enricher: Enricher,
    data: Iterable[pa.RecordBatch],
    column: str,
    time_column: str | None,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Slice batches as the enricher does, queue the slices, and append its columns to each."""
    queue: deque[pa.RecordBatch] = deque()

    def columns() -> Iterator[tuple[pa.ChunkedArray, pa.ChunkedArray | None]]:
        for batch in data:
            for begin in range(0, len(batch), CHUNK):
                part = batch.slice(begin, CHUNK)
                queue.append(part)
                instants = None if time_column is None else column_of(part[time_column])
                yield column_of(part[column]), instants

    for answers in enricher.batches(columns()):
        part = queue.popleft()
        yield pa.record_batch([*part.columns, *answers.columns], schema=schema)


def _column(enricher: Enricher, data: Any, _column: str, time_column: str | None) -> pa.Table:
    check_no_column(time_column)
    return enricher.table(data)


def _stream(enricher: Enricher, data: Any, column: str, time_column: str | None) -> Any:
    """Read structs as batches of a table, any other type as a column."""
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid:
        return _column(enricher, _whole(data), column, time_column)
    return _reader(enricher, reader, column, time_column)


def _whole(data: Any) -> pa.ChunkedArray:
    try:
        return pa.chunked_array(data)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except (pa.ArrowException, RuntimeError):
        name = type(data).__name__
        problem = f"enrich: a {name} is not a table, and can be read only once; read it first"
        raise TypeError(problem) from None


def _array(enricher: Enricher, data: Any, column: str, time_column: str | None) -> Any:
    """Read structs as the rows of a table, any other type as a column."""
    array = pa.array(data)
    if pa.types.is_struct(array.type):
        return _batch(enricher, pa.RecordBatch.from_struct_array(array), column, time_column)
    return _column(enricher, array, column, time_column)


def _of_library(module: str, function: str) -> Adapter:
    """Return a function of an adapter module; the first call imports the module."""

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
        f"enrich: a {type(data).__name__} is not a table; pass one of Arrow, pandas or Polars, or"
        " an object with the Arrow PyCapsule interface"
    )
