"""Parquet, read and written by Arrow with its types.

It is read from its end: a pipe is first copied to a temporary file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.files.byte_streams import InputStream
from geolookup.files.row_streams import (
    Block,
    ReadOptions,
    Rows,
    WriteOptions,
    check_columns,
    paths,
    plain_schema,
)
from geolookup.tables.dictionaries import in_one, used_values

_BATCH = 1 << 16
#: Bytes read of a column at a time: row groups may be larger than memory.
_BUFFER = 1 << 20
#: A row group of the output ends at this number of rows or bytes, whichever comes first.
_GROUP_ROWS = 1 << 20
_GROUP_BYTES = 1 << 26


def read_parquet(stream: InputStream, options: ReadOptions) -> Rows:
    """Return the rows with the file's types; ``as_is`` keeps dictionaries."""
    from pyarrow import parquet  # here: with ``ssl`` it costs a cold start 40 ms

    file = parquet.ParquetFile(stream.seekable(), buffer_size=_BUFFER, pre_buffer=False)
    check_columns(options, paths(file.schema_arrow))
    columns = list(options.keys) if options.others == "dropped" else None
    schema = file.read_row_groups([], columns=columns).schema
    if options.others != "as_is":
        schema = plain_schema(schema)

    def parse(batch: pa.RecordBatch) -> Block:
        arrays = [*map(pa.Array.cast, batch.columns, schema.types)]
        return Block(pa.record_batch(arrays, schema=schema))

    return Rows(schema, file.iter_batches(_BATCH, columns=columns), parse, file.metadata.num_rows)


def write_parquet(stream: Any, schema: pa.Schema, _options: WriteOptions) -> GroupSink:
    """Return a sink that collects row groups."""
    return GroupSink(stream, schema)


class GroupSink:
    """Collects batches into row groups, compressed with Zstandard: all readers support it.

    ``order`` are columns of texts by which the rows of each row group are sorted.
    """

    def __init__(
        self,
        stream: Any,
        schema: pa.Schema,
        group_rows: int = _GROUP_ROWS,
        level: int | None = None,
        order: Sequence[str] = (),
    ) -> None:
        self._stream, self._level, self._order = stream, level, order
        self._schema = schema
        self._group_rows = group_rows
        self._writer: Any = None  # opened when the first row group decides the encoding
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0

    def render(
        self, batch: pa.RecordBatch, new: pa.RecordBatch | None = None, _rows: None = None
    ) -> pa.RecordBatch:
        """Return a batch with new columns."""
        columns = [*batch.columns, *([] if new is None else new.columns)]
        return pa.record_batch(columns, schema=self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows; a full row group is written."""
        for begin in range(0, len(batch), self._group_rows):
            part = batch.slice(begin, self._group_rows)
            self._waiting.append(part)
            self._rows += len(part)
            # Batches share a dictionary: it does not count.
            self._bytes += sum(_plain(column).nbytes for column in part.columns)
            if self._rows >= self._group_rows or self._bytes >= _GROUP_BYTES:
                self._write_group()

    def _write_group(self) -> None:
        table = _sorted(pa.Table.from_batches(self._waiting, self._schema), self._order)
        columns = [_compact(column) for column in table.columns]
        table = pa.Table.from_arrays(columns, schema=table.schema)
        if self._writer is None:
            self._writer = _writer_class()(
                self._stream,
                self._schema,
                compression="zstd",
                compression_level=self._level,
            )
        self._writer.write_table(table, row_group_size=max(self._rows, 1))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        """Write the last row group and the footer."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()


@cache
def _writer_class() -> Any:
    from pyarrow import parquet

    class Writer(parquet.ParquetWriter):  # type: ignore[misc]
        """Writes its footer only in ``close``: after an error its stream is closed."""

        def __del__(self) -> None:
            """Do nothing; the method of Arrow's class closes the writer."""

    return Writer


def _sorted(table: pa.Table, names: Sequence[str]) -> pa.Table:
    if not names:
        return table
    texts = pa.table([table[name].cast(pa.string()) for name in names], names)
    return table.take(pc.sort_indices(texts, [(name, "ascending") for name in names]))


def _plain(column: pa.Array) -> pa.Array:
    return column.indices if pa.types.is_dictionary(column.type) else column


def _compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with a dictionary of the values that occur in it."""
    if not pa.types.is_dictionary(column.type) or column.type.ordered:
        return column
    return pa.chunked_array([used_values(in_one(column))])
