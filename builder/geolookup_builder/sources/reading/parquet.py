"""Parquet to batches, some rows at a time.

A value that a file stores once may stand in very many rows: few rows are decoded at once.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq

from geolookup.errors import BuildError
from geolookup.files.byte_streams import NOT_IMPLEMENTED, OTHER_ENCODINGS
from geolookup.files.row_streams import plain_schema
from geolookup.filesystem import limits
from geolookup.filesystem.signatures import PARQUET
from geolookup_builder.sources.reading import typed_columns
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Reading
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.sources.reading.sniffing import check_kind
from geolookup_builder.sources.reading.typed_columns import Types

#: A row takes at least so many bytes unpacked: the two ends of a range.
_ROW_BYTES = 8
#: Rows decoded at once: each may repeat a long value. Arrow has no dictionaries of some encodings.
_DECODED_ROWS = 1 << 8


def schema(member: Member) -> pa.Schema:
    """Return the columns and their types; BuildError if it is not Parquet."""
    with _open(member) as stream:
        return papq.ParquetFile(stream).schema_arrow


def batches(member: Member, reading: Reading) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError if it is damaged."""
    return typed_columns.batches(
        member, schema(member), reading.layout, reading.meaning, _open_rows
    )


@contextmanager
def _open_rows(member: Member, types: Types) -> Iterator[Iterator[pa.RecordBatch]]:
    with _open(member) as stream:
        file = papq.ParquetFile(stream)
        _check_size(member, stream, file.metadata)
        yield _rows(member, file, sorted(types))


def _check_size(member: Member, stream: Any, metadata: papq.FileMetaData) -> None:
    """Raise BuildError if a file states more rows, or more bytes, than it may unpack to."""
    packed_bytes = stream.seek(0, io.SEEK_END)
    groups = (metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    # A file of only nulls states many rows and few bytes.
    if max(metadata.num_rows * _ROW_BYTES, sum(groups)) > limits.allowed_bytes(packed_bytes):
        raise _excess_error(member)


def _excess_error(member: Member) -> BuildError:
    remedy = "if you trust the file, write its rows into several files"
    return BuildError(member.label, limits.excess(), remedy=remedy)


def _rows(member: Member, file: papq.ParquetFile, names: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows with texts written out, many at a time unless they are large."""
    waiting, size = list[pa.RecordBatch](), 0
    for part in file.iter_batches(_DECODED_ROWS, columns=names):
        rows = part.cast(plain_schema(part.schema))
        if rows.nbytes > limits.ALLOWED_BYTES:
            raise _excess_error(member)
        waiting.append(rows)
        size += rows.nbytes
        if size > limits.ALLOWED_BYTES or len(waiting) * _DECODED_ROWS >= typed_columns.BATCH_ROWS:
            yield pa.concat_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


@contextmanager
def _open(member: Member) -> Iterator[Any]:
    """Open a member as a seekable stream; BuildError if Arrow cannot read it."""
    with member.open() as stream:
        try:
            yield stream if stream.seekable() else io.BytesIO(stream.read())
        except MemoryError:  # Arrow's is an ArrowException too
            raise
        except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
            if getattr(error, "errno", None) is not None:  # the system's, not Arrow's
                raise
            raise _damage_error(member, error) from error


def _damage_error(member: Member, error: Exception) -> BuildError:
    check_kind(member, PARQUET)
    text = next(iter(str(error).splitlines()), type(error).__name__)
    if text.startswith(NOT_IMPLEMENTED):
        return BuildError(member.label, f"cannot be read ({text})", remedy=OTHER_ENCODINGS)
    return BuildError(member.label, f"damaged, or not Parquet ({text})", remedy="fetch it again")
