"""Arrow IPC: the file format (also named Feather) and the stream format.

A file is a stream between a magic number and a footer, so that both formats
are read in one pass, also from pipes and compressed files.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import InputStream
from geolookup.files.row_streams import (
    ReadOptions,
    Rows,
    WriteOptions,
    check_columns,
    decoded,
    explained,
    explained_batches,
)
from geolookup.files.text_blocks import filled

_WHAT = "Arrow file"
_MAGIC = b"ARROW1"
_PADDING = 2
_BATCH = 1 << 16
_BLOCK = 1 << 16


class ArrowIpc:
    """Reads either format, told apart by the magic number; writes one of them."""

    def __init__(self, writer: Callable[[Any, pa.Schema], Any]) -> None:
        self._writer = writer

    def read(self, stream: InputStream, wanted: ReadOptions) -> Rows:
        """Return the rows with the file's types; dictionaries stay where the rest is ``as_is``."""
        with explained(wanted.name, _WHAT):
            first = filled(stream.plain, len(_MAGIC) + _PADDING)
            is_file = first.startswith(_MAGIC)
            source = _Prefixed(b"" if is_file else first, stream.plain)
            reader = pa.ipc.open_stream(pa.PythonFile(source, "r"))
        check_columns(wanted.name, reader.schema.names, wanted.keys)
        schema = reader.schema if wanted.rest == "as_is" else decoded(reader.schema)
        if wanted.rest == "dropped":
            schema = pa.schema([schema.field(key) for key in wanted.keys])
        batches = _to_the_end(_batches(reader, schema), stream.plain, wanted.name, is_file=is_file)
        return Rows(schema, explained_batches(batches, wanted.name, _WHAT))

    def names(self, stream: InputStream, wanted: ReadOptions) -> list[str]:
        """Return the names of the file's schema."""
        return list(self.read(stream, replace(wanted, keys=(), rest="typed")).schema.names)

    def write(self, stream: Any, schema: pa.Schema, _wanted: WriteOptions) -> IpcSink:
        """Return a sink that has written the schema."""
        return IpcSink(self._writer(stream, schema))


def _batches(reader: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        batch.validate(full=True)  # offsets outside a buffer would crash the process
        columns = (
            [batch.column(name) for name in schema.names]
            if len(schema) < len(batch.schema)
            else batch.columns
        )
        whole = pa.record_batch(
            [each.cast(field.type) for each, field in zip(columns, schema, strict=True)],
            schema=schema,
        )
        for begin in range(0, len(whole), _BATCH):
            yield whole.slice(begin, _BATCH)


def _to_the_end(
    batches: Iterator[pa.RecordBatch], plain: Any, name: str, *, is_file: bool
) -> Iterator[pa.RecordBatch]:
    """Yield batches, then read the rest: a file truncated between two batches has no footer.

    A decompressor, too, detects a truncated stream only at its end.
    """
    yield from batches
    if not _ends_with_magic(plain) and is_file:
        raise TableFileError(name, "ends without a footer", "is it whole?")


def _ends_with_magic(plain: Any) -> bool:
    last = b""
    while part := plain.read(_BLOCK):
        last = (last + part)[-len(_MAGIC) :]
    return last == _MAGIC


class _Prefixed:
    """A stream whose first bytes were read already; it returns them again."""

    closed = False

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first, self._rest = io.BytesIO(first), rest

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        part = self._first.read(size) or self._rest.read(size)
        return bytes(part)


class IpcSink:
    """Writes each batch as one IPC message."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the end."""
        self._writer.close()
