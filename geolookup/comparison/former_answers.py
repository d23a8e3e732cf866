"""The former answers: the values before each change between two datasets, in a file.

The file is Parquet, then the SHA-256 of its bytes. The digest is checked before Parquet is read:
Arrow can end the process on a damaged footer.

The file has half the bytes of all changes: whoever knows the answer after a change needs only the
one before. A reader of a range compares it with the least ``first`` and the greatest ``last`` of
each row group. Of row groups that can overlap it reads these two columns. If a row overlaps, it
reads the others too.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from geolookup.comparison.change_table import (
    AFTER,
    BEFORE,
    ENDS,
    METADATA,
    SIDES,
    reader,
    source_column,
)
from geolookup.comparison.dataset_pair import DatasetPair
from geolookup.contract.schema import own_schema
from geolookup.contract.special import Range
from geolookup.dataset.files import Dataset
from geolookup.errors import TableFileError
from geolookup.export.ranges import TYPED
from geolookup.files.arrow_files import GroupSink
from geolookup.filesystem import open_regular
from geolookup.filesystem.atomic import staged_file

#: Rows of a row group: a reader of one address decodes this many.
_GROUP = 1 << 13
#: Zstandard's level: 15 % fewer bytes than with its default.
_LEVEL = 15
_DIGEST = hashlib.sha256().digest_size
_REMEDY = "compare the two datasets again"
#: Errors of a file with other bytes, columns or metadata.
_DAMAGE = (
    pa.ArrowException,
    OSError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class FormerAnswer:
    """A range whose answer changed: its values before, by path, and deciding sources by layer."""

    family: int
    first: int
    last: int
    values: Mapping[str, Any]
    sources_before: Mapping[str, str | None]
    sources_after: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class FormerAnswers:
    """The rows of a file in a range, and the generations that the file compares."""

    old: str
    new: str
    layers: tuple[Mapping[str, str], Mapping[str, str]]  # of OLD and of NEW, by path of a field
    rows: list[FormerAnswer]


def write_former_answers(
    old: str | PathLike[str],
    new: str | PathLike[str],
    path: str | PathLike[str],
    *,
    mode: int = 0o666,
) -> int:
    """Write the answers of OLD where NEW has others; return the number of rows.

    Both are dataset folders. The columns are ends of ranges, values before, and sources.

    The file is complete or absent; its mode is ``mode`` without the umask. Raises DatasetError for
    a damaged dataset, OutputError if the file cannot be written.
    """
    rows = reader(DatasetPair(Dataset(old), Dataset(new)))
    names = _former_columns(rows.schema)
    schema = pa.schema([rows.schema.field(name) for name in names], rows.schema.metadata)
    count = 0
    with staged_file(Path(path), mode) as fresh:
        with pa.OSFile(str(fresh), "wb") as stream:
            sink = GroupSink(stream, schema, _GROUP, _LEVEL)
            for batch in rows:
                for begin in range(0, len(batch), _GROUP):
                    sink.write(batch.select(names).slice(begin, _GROUP))
                count += len(batch)
            sink.close()
        _append_digest(fresh)
    return count


def _append_digest(path: Path) -> None:
    with path.open("r+b") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.write(digest)  # the file was read to its end


def _former_columns(schema: pa.Schema) -> list[str]:
    """Return the names of the columns of a file of former answers."""
    about = metadata_of(schema)
    sources = [source_column(layer, side) for layer in about["layers"] for side in SIDES]
    values = [_value_column(path) for path in about["fields"]]
    return ["family", *(name for names in ENDS.values() for name in names), *values, *sources]


def _value_column(path: str) -> str:
    return f"{path.replace('.', '_')}_{BEFORE}"


def read_former_answers(
    path: str | PathLike[str], family: int, first: int, last: int
) -> FormerAnswers:
    """Read the rows of a file that overlap a range, clipped to it.

    Raises TableFileError for a missing or damaged file, and one that ``write_former_answers`` did
    not write.
    """
    name = fspath(path)
    try:
        with parquet.ParquetFile(pa.BufferReader(_checked(name))) as file:
            schema = file.schema_arrow
            about = metadata_of(schema)
            # Parquet numbers the columns as the schema does: no column before these is nested.
            ends = [schema.get_field_index(column) for column in ENDS[family]]
            rows = [
                row
                for batch in _overlapping(file, ends, family, first, last)
                for row in _former_answers(batch, about, (first, last))
            ]
            old, new = (about[side]["generation"] for side in ("old", "new"))
            layers = (_layers(about["own"][0]), _layers(about["own"][1]))
            return FormerAnswers(old, new, layers, rows)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except _DAMAGE as error:
        problem = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        raise TableFileError(name, problem, _REMEDY) from error


def _checked(path: str) -> memoryview:
    """Return the bytes of the Parquet part of a file, mapped; ValueError for a wrong digest."""
    with open_regular(path) as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ValueError("other bytes than written")
    return data[:-_DIGEST]


def _layers(own: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the layer of each stored field by path, own columns given by their members."""
    return {field.path: field.layer for field in own_schema(own).stored}


def _overlapping(
    file: Any, columns: list[int], family: int, first: int, last: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file that overlap a range; ``columns`` are the numbers of the ends."""
    names = list(ENDS[family])
    least, most = (_value(family, end) for end in (first, last))
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        begins, ends = (group.column(column).statistics for column in columns)
        if _is_beyond(begins, ends, least.as_py(), most.as_py()):
            continue
        begin, end = file.read_row_group(number, names).columns
        overlaps = pc.and_(pc.less_equal(begin, most), pc.greater_equal(end, least))
        rows = pc.indices_nonzero(overlaps.fill_null(False))
        if len(rows):
            table = file.read_row_group(number).take(rows)
            table.validate(full=True)
            yield from table.combine_chunks().to_batches()


def _is_beyond(begins: Any, ends: Any, least: Any, most: Any) -> bool:
    """Return whether the statistics of both columns show that no row of a group overlaps."""
    if begins is None or ends is None:
        return False
    if not begins.has_min_max or not ends.has_min_max:
        return not begins.num_values  # null in all rows
    return bool(begins.min > most or ends.max < least)


def _value(family: int, address: int) -> pa.Scalar:
    """Return an address as the columns of ends have it."""
    value = address if family == 4 else address.to_bytes(16)
    return pa.scalar(value, TYPED.types[family])


def _former_answers(
    batch: pa.RecordBatch, about: Mapping[str, Any], limits: Range
) -> Iterator[FormerAnswer]:
    """Yield rows, clipped to ``limits``: first and last address."""
    values = {path: _value_column(path) for path in about["fields"]}
    before, after = (
        {layer: source_column(layer, side) for layer in about["layers"]} for side in (BEFORE, AFTER)
    )
    for row in batch.to_pylist():
        first, last = (_address(row[name]) for name in ENDS[row["family"]])
        yield FormerAnswer(
            row["family"],
            max(first, limits[0]),
            min(last, limits[1]),
            *({key: row[name] for key, name in of.items()} for of in (values, before, after)),
        )


def _address(value: int | bytes) -> int:
    return value if isinstance(value, int) else int.from_bytes(value)


def metadata_of(schema: pa.Schema) -> dict[str, Any]:
    """Return the metadata of a table of changes; KeyError or ValueError for another table."""
    about: dict[str, Any] = json.loads(schema.metadata[METADATA.encode()])
    return about
