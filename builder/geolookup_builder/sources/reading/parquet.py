"""Parquet to batches, some rows at a time; row numbers take the place of lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
import pyarrow.parquet as papq

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError
from geolookup_builder.sources.reading.dictionary_columns import as_texts
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Batch, Meaning, RecordNumbers, Reject
from geolookup_builder.sources.reading.text import Layout

BATCH_ROWS = 1 << 17


def columns(member: Member) -> tuple[str, ...]:
    """Return the names of the columns."""
    with _opened(member) as file:
        return tuple(file.schema_arrow.names)


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the rows of a member; BuildError where it is damaged."""
    numbers = RecordNumbers(member, partial(_find_rejects, layout=layout), _row_numbers)
    with _opened(member) as file:
        for rows in _rows(file, layout.texts | layout.wanted):
            texts = as_texts(rows, layout)
            yield Batch(numbers, numbers.delivered, *meaning(texts))
            numbers.delivered += len(rows)


def _find_rejects(member: Member, wanted: dict[int, str], *, layout: Layout) -> Iterator[Reject]:
    """Yield the rows with these numbers (from 1): the number as line, the range as text."""
    passed = 0
    with _opened(member) as file:
        for rows in _rows(file, layout.texts):
            texts = as_texts(rows, layout)
            for number in sorted(each for each in wanted if 0 < each - passed <= len(rows)):
                ranges = [name for name in layout.names if name in layout.texts]
                cells = [texts.column(name)[number - passed - 1].as_py() for name in ranges]
                shown = ",".join(each or "" for each in cells)
                yield Reject(member.label, number, wanted[number], shown)
            passed += len(rows)


def _row_numbers(_member: Member, records: I64) -> I64:
    """Return the row numbers, which take the place of lines."""
    return records


def _rows(file: papq.ParquetFile, names: frozenset[str]) -> Iterator[pa.Table]:
    used = [name for name in file.schema_arrow.names if name in names]
    for rows in file.iter_batches(BATCH_ROWS, columns=used):
        yield pa.Table.from_batches([rows])


@contextmanager
def _opened(member: Member) -> Iterator[papq.ParquetFile]:
    """Open a member; BuildError where Arrow cannot read it."""
    with member.open() as stream:
        try:
            yield papq.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise _damaged(member, error) from error
        except OSError as error:
            if error.errno is not None:  # the system's, not Arrow's
                raise
            raise _damaged(member, error) from error


def _damaged(member: Member, error: Exception) -> BuildError:
    text = next(iter(str(error).splitlines()), type(error).__name__)
    return BuildError(member.label, f"damaged, or not Parquet ({text})", remedy="fetch it again")
