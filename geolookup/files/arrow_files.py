"""Files of Arrow's own formats: Arrow IPC and Parquet, read and written with their types.

An IPC file (also named Feather) is an IPC stream between a magic number and a footer. Files and
streams are read in one pass, also from pipes and compressed files. Parquet is read from its end: a
pipe is first copied to a temporary file.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.row_streams import (
    ReadOptions,
    Rows,
    WriteOptions,
    check_columns,
    explain_errors,
    explained_batches,
    plain_schema,
)
from geolookup.files.text_blocks import read_full

_IPC = "an Arrow file"
_MAGIC = b"ARROW1"
#: Bytes after the magic number at the beginning of a file, up to a multiple of 8.
_PADDING = 2
_BATCH = 1 << 16
_BLOCK = 1 << 16
_PARQUET = "a Parquet file"
#: Bytes read of a column at a time: row groups may be larger than memory.
_BUFFER = 1 << 20
#: A row group of the output ends at this number of rows or bytes, whichever comes first.
_GROUP_ROWS = 1 << 20
_GROUP_BYTES = 1 << 26
#: Rows that decide whether a column's values repeat.
_SAMPLE = 1 << 14


class ArrowIpc:
    """Reads IPC files and streams, told apart by the magic number; writes one of them.

    ``one_dictionary``: whether a column can have only one dictionary in a written file.
    """

    def __init__(self, writer: Callable[[Any, pa.Schema], Any], *, one_dictionary: bool) -> None:
        self._writer, self._one_dictionary = writer, one_dictionary

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return the rows with the file's types; ``as_is`` keeps dictionaries."""
        with explain_errors(options.name, _IPC):
            first = read_full(stream.plain, len(_MAGIC) + _PADDING)
            is_file = first.startswith(_MAGIC)
            # A stream follows the magic number and its padding.
            source = _PrefixedStream(b"" if is_file else first, stream.plain)
            reader = pa.ipc.open_stream(pa.PythonFile(source, "r"))
        check_columns(options, reader.schema.names)
        schema = reader.schema if options.others == "as_is" else plain_schema(reader.schema)
        if options.others == "dropped":
            schema = pa.schema([schema.field(key) for key in options.keys])
        batches = _to_the_end(
            _ipc_batches(reader, schema), stream.plain, options.name, is_file=is_file
        )
        return Rows(schema, explained_batches(batches, options.name, _IPC))

    def names(self, stream: InputStream, options: ReadOptions) -> list[str]:
        """Return the names of the file's schema."""
        return list(self.read(stream, replace(options, keys=(), others="typed")).schema.names)

    def write(self, stream: Any, schema: pa.Schema, options: WriteOptions) -> IpcSink:
        """Return a sink that has written the schema; dictionaries that change become plain."""
        if self._one_dictionary and not options.one_dictionary:
            schema = plain_schema(schema)
        return IpcSink(self._writer(stream, schema), schema)


def _ipc_batches(reader: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        batch.validate(full=True)  # offsets outside a buffer would crash the process
        columns = (
            [batch.column(name) for name in schema.names]
            if len(schema) < len(batch.schema)
            else batch.columns
        )
        whole = pa.record_batch(
            [column.cast(field.type) for column, field in zip(columns, schema, strict=True)],
            schema=schema,
        )
        for begin in range(0, len(whole), _BATCH):
            yield whole.slice(begin, _BATCH)


def _to_the_end(
    batches: Iterator[pa.RecordBatch], plain: Any, name: str, *, is_file: bool
) -> Iterator[pa.RecordBatch]:
    """Yield batches, then read to the end: a file truncated between batches has no footer.

    A decompressor also detects a truncated stream only at its end.
    """
    yield from batches
    if not _ends_with_magic(plain) and is_file:
        raise TableFileError(name, "ends without a footer", "is it whole?")


def _ends_with_magic(plain: Any) -> bool:
    last = b""
    while part := plain.read(_BLOCK):
        # The magic number of the footer can lie across two parts.
        last = (last + part)[-len(_MAGIC) :]
    return last == _MAGIC


class _PrefixedStream:
    """A stream that returns its first bytes again, after they were read."""

    closed = False

    def __init__(self, first: bytes, stream: Any) -> None:
        self._first, self._stream = io.BytesIO(first), stream

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        part = self._first.read(size) or self._stream.read(size)
        return bytes(part)


class IpcSink:
    """Writes each batch as one IPC message."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        self._writer.write_batch(
            batch if batch.schema == self._schema else batch.cast(self._schema)
        )

    def close(self) -> None:
        """Write the end."""
        self._writer.close()


class Parquet:
    """Reads row groups in batches and writes row groups of bounded size."""

    def read(self, stream: InputStream, options: ReadOptions) -> Rows:
        """Return the rows with the file's types; ``as_is`` keeps dictionaries."""
        from pyarrow import parquet  # here: with ``ssl`` it costs a cold start 40 ms

        with explain_errors(options.name, _PARQUET):
            file = parquet.ParquetFile(stream.seekable(), buffer_size=_BUFFER, pre_buffer=False)
            schema = file.schema_arrow
            check_columns(options, schema.names)
            if options.others != "as_is":
                schema = plain_schema(schema)
            if options.others == "dropped":
                schema = pa.schema([schema.field(key) for key in options.keys])
            batches = explained_batches(
                _parquet_batches(file, schema, options), options.name, _PARQUET
            )
            return Rows(schema, batches, file.metadata.num_rows)

    def names(self, stream: InputStream, options: ReadOptions) -> list[str]:
        """Return the names of the file's schema."""
        return list(self.read(stream, replace(options, keys=(), others="typed")).schema.names)

    def write(self, stream: Any, schema: pa.Schema, _options: WriteOptions) -> GroupSink:
        """Return a sink that collects row groups."""
        return GroupSink(stream, schema)


def _parquet_batches(
    file: Any, schema: pa.Schema, options: ReadOptions
) -> Iterator[pa.RecordBatch]:
    columns = list(options.keys) if options.others == "dropped" else None
    for batch in file.iter_batches(_BATCH, columns=columns):
        plain = [
            batch.column(name) if columns else batch.column(at)
            for at, name in enumerate(schema.names)
        ]
        yield pa.record_batch(
            [column.cast(field.type) for column, field in zip(plain, schema, strict=True)],
            schema=schema,
        )


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

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows; a full row group is written."""
        for begin in range(0, len(batch), self._group_rows):
            self._add(batch.slice(begin, self._group_rows))

    def _add(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += len(batch)
        self._bytes += sum(_size(column) for column in batch.columns)
        if self._rows >= self._group_rows or self._bytes >= _GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        table = _sorted(pa.Table.from_batches(self._waiting, self._schema), self._order)
        table = pa.Table.from_arrays(
            [_compact(column) for column in table.columns], schema=table.schema
        )
        if self._writer is None:
            repeated = _repeating_columns(table.slice(0, _SAMPLE))
            self._writer = _writer_class()(
                self._stream,
                self._schema,
                compression="zstd",
                compression_level=self._level,
                use_dictionary=repeated,
            )
        self._writer.write_table(table, row_group_size=max(self._rows, 1))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        """Write the last row group and the footer."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()


def _sorted(table: pa.Table, names: Sequence[str]) -> pa.Table:
    if not names:
        return table
    texts = pa.table([table[name].cast(pa.string()) for name in names], names)
    return table.take(pc.sort_indices(texts, [(name, "ascending") for name in names]))


@cache
def _writer_class() -> Any:
    from pyarrow import parquet

    class Writer(parquet.ParquetWriter):  # type: ignore[misc]
        """Writes its footer only in ``close``: after an error its stream is closed."""

        def __del__(self) -> None:
            """Do nothing; the method of Arrow's class closes the writer."""

    return Writer


def _repeating_columns(sample: pa.Table) -> list[str] | bool:
    """Return the columns with repeated values; for others a dictionary saves no space.

    Columns inside lists count as such. True for all columns, if a type is nested otherwise.
    """
    names = []
    for field, column in zip(sample.schema, sample.columns, strict=True):
        if not pa.types.is_nested(field.type):
            names += [field.name] * _repeats(column)
        elif pa.types.is_list(field.type) and not pa.types.is_nested(field.type.value_type):
            names.append(f"{field.name}.list.element")  # as Parquet names it
        else:
            return True
    return names


def _repeats(column: pa.ChunkedArray) -> bool:
    return len(pc.unique(column)) <= len(column) // 2


def _size(column: pa.Array) -> int:
    """Return the bytes of a column without its dictionary: batches share it."""
    return int((column.indices if pa.types.is_dictionary(column.type) else column).nbytes)


def _compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with a dictionary of the values that occur in it."""
    if not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return column
    unified = column.unify_dictionaries()
    chunks = [chunk.indices for chunk in unified.chunks]
    dictionary = unified.chunk(0).dictionary
    # A small dictionary costs less than the search for its used values.
    if len(dictionary) <= 1 << 10:
        return unified
    used = pc.drop_null(pc.unique(pa.chunked_array(chunks)))
    numbers = pc.index_in(pa.chunked_array(chunks), value_set=used)
    values = dictionary.take(used)
    index_type = column.type.index_type
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(
                chunk.cast(index_type), values, ordered=column.type.ordered
            )
            for chunk in numbers.chunks
        ]
    )
