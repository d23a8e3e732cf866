"""Whole columns of addresses, on Arrow: the one vectorised path.

Addresses become interval ids (``locate``), these become rows and columns of answers (``take``).
``pandas``, ``polars``, ``duckdb``, ``dask`` and ``spark`` are thin adapters on top, each with an
extra of its name.

``enrich`` dispatches by the type of the data. A registry lists the types by the names of package
and type: a library is imported only for one of its own frames. A subclass uses the adapter of its
first registered base. Any other object with Arrow's PyCapsule interface is read as a stream (DuckDB
relations, nanoarrow) or an array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import tee
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from geolookup.contract.localtime import instant
from geolookup.tables.as_of import PastEnricher
from geolookup.tables.dictionaries import in_one
from geolookup.tables.enrich import Enricher
from geolookup.tables.generations import Generations
from geolookup.tables.inputs import InputNames, check, input_names, select, single
from geolookup.tables.locate import CHUNK
from geolookup.tables.take import of_table

if TYPE_CHECKING:
    from geolookup.contract.types import OnInvalid
    from geolookup.engine.many import ManyAnswers
    from geolookup.kernel import State

__all__ = ["enrich"]

#: Returns the data with the columns of answers; its columns with these names are the inputs.
Adapter = Callable[[Enricher, Any, InputNames], Any]


def enrich(
    state: State,
    data: Any,
    *fields: str | Iterable[str],
    column: str = "ip",
    at: Any = None,
    time_column: str | None = None,
    as_of: str | None = None,
    prefix: str = "",
    on_invalid: OnInvalid = "null",
    clean: bool = False,
    threads: int | None = None,
    generations: Generations | None = None,
    without_generation: Counter[str] | None = None,
    engine: ManyAnswers | None = None,
) -> Any:
    """Return data of the same kind with columns of answers; see ``Engine.enrich``.

    ``as_of`` chooses from ``generations``. ``without_generation`` counts the rows that no
    generation answers; None: they are reported in the log. ``engine`` is the engine of the state: a
    plan for other processes opens it there again.
    """
    options: dict[str, Any] = {"at": at, "prefix": prefix, "on_invalid": on_invalid}
    options |= {"clean": clean, "threads": threads}
    package, adapter = _adapter_of(data)
    if package == "dask":
        options |= {"column": column, "time_column": time_column, "as_of": as_of}
        return adapter(engine, data, *fields, **options)
    if isinstance(at, str):
        raise TypeError("enrich: at is an instant; time_column names a column of instants")
    if at is not None and time_column is not None:
        raise ValueError("enrich: at is for all rows, time_column for each row; pass one of them")
    names = input_names(column, time_column, as_of)
    options["at"] = instant(at)  # now is the time of this call
    if as_of is None or generations is None:
        columns = of_table(fields, schema=state.dataset.schema)
        return adapter(Enricher(state, columns, **options), data, names)
    past = PastEnricher(state, generations, fields, options, without_generation)
    return adapter(past, data, names)


def _table(enricher: Enricher, data: pa.Table, names: InputNames) -> pa.Table:
    check(names, data.schema.names, enricher.names)
    answers = enricher.table(select(names, data.column))
    for name in answers.schema.names:
        data = data.append_column(answers.schema.field(name), answers[name])
    return data


def _batch(enricher: Enricher, data: pa.RecordBatch, names: InputNames) -> pa.RecordBatch:
    table = _table(enricher, pa.Table.from_batches([data]), names)
    columns = [in_one(column) for column in table.columns]
    return pa.record_batch(columns, schema=table.schema)


def _reader(
    enricher: Enricher, data: pa.RecordBatchReader, names: InputNames
) -> pa.RecordBatchReader:
    """Return a stream that reads ``data`` as its own batches are read."""
    check(names, data.schema.names, enricher.names)
    empty = select(names, lambda name: pa.nulls(0, data.schema.field(name).type))
    new = enricher.schema(empty.schema)
    schema = pa.schema([*data.schema, *new], data.schema.metadata)
    return pa.RecordBatchReader.from_batches(schema, _append(enricher, data, names, schema))


def _append(
    enricher: Enricher, data: Iterable[pa.RecordBatch], names: InputNames, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Slice batches as the enricher does, and append its columns to each."""
    slices = (batch.slice(at, CHUNK) for batch in data for at in range(0, len(batch), CHUNK))
    parts, waiting = tee(slices)  # threads are some batches ahead
    inputs = (select(names, part.column).to_batches()[0] for part in parts)
    for answers, part in zip(enricher.batches(inputs), waiting, strict=True):
        yield pa.record_batch([*part.columns, *answers.columns], schema=schema)


def _column(enricher: Enricher, data: Any, names: InputNames) -> pa.Table:
    return enricher.table(single(data, names))


def _stream(enricher: Enricher, data: Any, names: InputNames) -> Any:
    """Read structs as batches of a table, any other type as a column."""
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid:
        return _column(enricher, pa.chunked_array(data), names)
    return _reader(enricher, reader, names)


#: The adapters of each type by the names of its package and of itself; a text is the name of a
#: function in the module of the package here.
_ADAPTERS: dict[tuple[str, str], Adapter | str] = {
    ("pyarrow", "Table"): _table,
    ("pyarrow", "RecordBatch"): _batch,
    ("pyarrow", "RecordBatchReader"): _reader,
    ("pyarrow", "Array"): _column,
    ("pyarrow", "ChunkedArray"): _column,
    ("pandas", "DataFrame"): "enrich_frame",
    ("pandas", "Series"): "enrich_series",
    ("polars", "DataFrame"): "enrich_frame",
    ("polars", "LazyFrame"): "enrich_lazy",
    ("polars", "Series"): "enrich_series",
    ("dask", "DataFrame"): "enrich_lazy",
    ("dask", "Series"): "enrich_lazy",
}


def _adapter_of(data: Any) -> tuple[str, Callable[..., Any]]:
    """Return the package of data, and its adapter."""
    # pandas.core.frame.DataFrame is ("pandas", "DataFrame"); also for a subclass, by its bases.
    for kind in type(data).__mro__:
        package = kind.__module__.partition(".")[0]
        adapter = _ADAPTERS.get((package, kind.__name__))
        if isinstance(adapter, str):
            return package, getattr(import_module(f"geolookup.tables.{package}"), adapter)
        if adapter is not None:
            return package, adapter
    if hasattr(data, "__arrow_c_stream__"):
        return "", _stream
    raise TypeError(
        f"enrich: a {type(data).__name__} is not a table; pass one of Arrow, pandas or Polars, or"
        " an object with the Arrow PyCapsule interface"
    )
