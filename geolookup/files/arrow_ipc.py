"""Arrow IPC: the file format (Feather too) and the stream format.

A file is a stream between a magic number and a footer, so that both are read
in one pass, from pipes and packed files as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.files.reading import (
    Reading,
    Rows,
    check_columns,
    decoded,
    explained,
    explained_batches,
)
from geolookup.files.streams import Incoming
from geolookup.files.writing import Writing

_WHAT = "Arrow file"
_MAGIC = b"ARROW1"
_PADDING = 2
_BATCH = 1 << 16
_BLOCK = 1 << 16


class ArrowIpc:
    """Reads either format, for what a file begins with tells which; writes one of them."""

    def __init__(self, writer: Callable[[Any, pa.Schema], Any]) -> None:
        self._writer = writer

    def read(self, stream: Incoming, wanted: Reading) -> Rows:
        """Return the rows with the file's types; dictionaries stay where the rest is ``as_is``."""
        with explained(wanted.name, _WHAT):
            bytes_in = _Reading(stream.plain)
            is_file = bytes_in.begins_with_magic()
            reader = pa.ipc.open_stream(pa.PythonFile(bytes_in, "r"))
        check_columns(wanted.name, reader.schema.names, wanted.keys)
        schema = reader.schema if wanted.rest == "as_is" else decoded(reader.schema)
        if wanted.rest == "dropped":
            schema = pa.schema([schema.field(key) for key in wanted.keys])
        batches = _to_the_end(_batches(reader, schema), bytes_in, wanted.name, is_file=is_file)
        return Rows(schema, explained_batches(batches, wanted.name, _WHAT))

    def write(self, stream: Any, schema: pa.Schema, _wanted: Writing) -> IpcSink:
        """Return a sink that has written the schema."""
        return IpcSink(self._writer(stream, schema))


def _batches(reader: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        batch.validate(full=True)  # offsets that lead outside would end the process
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


class _Reading:
    """A stream that gives its first bytes twice, and remembers its last ones."""

    closed = False

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self._again = b""
        self._last = b""

    def begins_with_magic(self) -> bool:
        """Step over a file's magic number; leave anything else to be read."""
        first = b""
        while len(first) < len(_MAGIC) + _PADDING and (part := self._plain.read(8 - len(first))):
            first += part
        if first.startswith(_MAGIC):
            return True
        self._again = first
        return False

    def read(self, size: int = -1) -> bytes:
        if self._again:
            part, self._again = self._again[:size], self._again[size:]
            return part
        found: bytes = self._plain.read(size)
        return found

    def ends_with_magic(self) -> bool:
        """Read to the end, and say whether that is a file's."""
        last = b""
        while part := self._plain.read(_BLOCK):
            last = (last + part)[-len(_MAGIC) :]
        return last == _MAGIC


def _to_the_end(
    batches: Iterator[pa.RecordBatch], stream: _Reading, name: str, *, is_file: bool
) -> Iterator[pa.RecordBatch]:
    """Yield batches, then read on: a file cut off between two of them has no footer.

    What unpacks a stream, too, finds only at its end that there is none.
    """
    yield from batches
    if not stream.ends_with_magic() and is_file:
        raise TableFileError(name, "ends without a footer", "is it whole?")


class IpcSink:
    """Writes batches as they come."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the end."""
        self._writer.close()
