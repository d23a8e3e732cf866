"""The changes between two generations, as rows in a Parquet file or compared anew.

The file has the rows of ``diff --rows --fields all`` in small row groups. A reader of a range
compares it with the statistics of the ends. Of row groups that can overlap it reads the ends, and
the other columns if a row overlaps. Inside a row group the rows are ordered by country: most fields
follow from it, so the file has a sixth fewer bytes.

Between the last column and the footer is the SHA-256 of all other bytes: readers of Parquet skip
it. It is checked before Arrow parses the file: Arrow can end the process on a damaged footer.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from geolookup.comparison.change_table import (
    ENDS,
    METADATA,
    SIDES,
    reader,
    source_column,
    write_batches,
)
from geolookup.comparison.dataset_pair import ALL, DatasetPair
from geolookup.contract.schema import own_schema
from geolookup.dataset.files import Dataset
from geolookup.dataset.rows import number_text
from geolookup.export.ranges import TYPED
from geolookup.files.parquet import GroupSink
from geolookup.filesystem import open_regular
from geolookup.filesystem.atomic import staged_file
from geolookup.filesystem.ownership import FILE_MODE

#: Rows of a row group: a reader of one address decodes this many.
_GROUP = 1 << 15
#: Zstandard's level: a tenth fewer bytes than with its default.
_LEVEL = 16
#: The columns that order the rows of a row group.
_ORDER = [f"location_country_code_{side}" for side in SIDES]
_DIGEST = hashlib.sha256().digest_size
#: The last bytes of a Parquet file: the length of the footer, and the magic number.
_END = 8
#: Errors of a file with other bytes, columns or metadata.
_DAMAGE = (
    *(pa.ArrowException, OSError, ValueError, LookupError),
    *(TypeError, AttributeError, RecursionError),
)
#: A value before and after.
Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class LayerChange:
    """A layer whose values differ; each pair is of before and after, None is unknown."""

    fields: dict[str, Pair]  # by path, the values that differ
    sources: Pair  # the names of the sources that decided


class ChangedRow(NamedTuple):
    """A range whose answer differs, both ends included, and the layers that differ.

    A layer is named as the new generation has it, if it does.
    """

    first: int
    last: int
    layers: dict[str, LayerChange]


def write_changes(old: Path, new: Path, output: Path) -> int:
    """Write the changes of two generations, given as folders; return the number of rows.

    The file is complete or absent. Raises DatasetError for a damaged dataset, OutputError if the
    file cannot be written.
    """
    rows = reader(DatasetPair(Dataset(old), Dataset(new), (ALL,)))
    with staged_file(output, FILE_MODE) as fresh:
        with pa.OSFile(str(fresh), "wb") as stream:
            count = write_batches(rows, GroupSink(stream, rows.schema, _GROUP, _LEVEL, _ORDER))
        _insert_digest(fresh)
    return count


def _insert_digest(path: Path) -> None:
    with path.open("r+b") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(-_END, os.SEEK_END)
        begin = file.seek(-_footer_size(file.read()), os.SEEK_END)
        footer = file.read()
        file.seek(begin)
        file.write(digest + footer)


def _footer_size(end: bytes | memoryview) -> int:
    return int.from_bytes(end[:4], "little") + _END


def rows_between(
    old: Dataset, new: Dataset, family: int, first: int, last: int
) -> list[ChangedRow]:
    """Compare two generations in a range of addresses; DatasetError for a damaged one."""
    batches = reader(DatasetPair(old, new, (ALL,)), [(family, first, last)])
    return [*_rows(batches.read_all(), family, first, last)]


def rows_in_file(
    path: Path, generations: tuple[str, str], family: int, first: int, last: int
) -> list[ChangedRow] | None:
    """Read the rows of a file that overlap a range, clipped to it.

    None for a missing or damaged file, and for one of other generations.
    """
    try:
        source = pa.BufferReader(_checked(path))
        with parquet.ParquetFile(source, pre_buffer=False) as file:
            about = metadata_of(file.schema_arrow)
            if generations != (about["old"]["generation"], about["new"]["generation"]):
                return None
            return sorted(_overlapping(file, family, first, last))  # by ``first``
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except _DAMAGE:
        return None


def _checked(path: Path) -> memoryview:
    """Return the bytes of a file, mapped; ValueError for other bytes than were written."""
    with open_regular(path) as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    footer = len(data) - _footer_size(data[-_END:])
    digest = hashlib.sha256(data[: footer - _DIGEST])
    digest.update(data[footer:])
    if digest.digest() != data[footer - _DIGEST : footer]:
        raise ValueError("other bytes than written")
    return data


def _overlapping(file: Any, family: int, first: int, last: int) -> Iterator[ChangedRow]:
    """Yield the rows of a file that overlap a range, in the order of the file."""
    names = list(ENDS[family])
    # Parquet numbers the columns as the schema does: no column before these is nested.
    columns = [file.schema_arrow.get_field_index(name) for name in names]
    least, most = (
        pa.scalar(end if family == 4 else end.to_bytes(16), TYPED.types[family])
        for end in (first, last)
    )
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        begins, ends = (group.column(column).statistics for column in columns)
        has_limits = begins and begins.has_min_max  # not if all rows are of the other family
        if has_limits and (begins.min > most.as_py() or ends.max < least.as_py()):
            continue
        begin, end = file.read_row_group(number, names, use_threads=False).columns
        overlaps = pc.and_(pc.less_equal(begin, most), pc.greater_equal(end, least))
        rows = pc.indices_nonzero(overlaps.fill_null(False))
        if len(rows):
            table = file.read_row_group(number, use_threads=False).take(rows)
            table.validate(full=True)
            yield from _rows(table, family, first, last)


def _rows(table: pa.Table, family: int, first: int, last: int) -> Iterator[ChangedRow]:
    """Yield the rows of a table of one family, clipped to a range."""
    about = metadata_of(table.schema)
    layers = [{field.path: field.layer for field in own_schema(own).stored} for own in about["own"]]
    fields = {path: [layer.get(path) for layer in layers] for path in about["fields"]}
    for row in table.to_pylist():
        begin, end = (
            value if isinstance(value, int) else int.from_bytes(value)
            for value in (row[name] for name in ENDS[family])
        )
        changed: dict[str, LayerChange] = {}
        for path, (old, new) in fields.items():
            name = path.replace(".", "_")
            before, after = (_plain(row[f"{name}_{side}"]) for side in SIDES)
            # 1 is another value than true, but not than 1.0.
            if before != after or (type(before) is bool) != (type(after) is bool):
                sources = (
                    old and row[source_column(old, SIDES[0])],
                    new and row[source_column(new, SIDES[1])],
                )
                layer = changed.setdefault(new or old or "", LayerChange({}, sources))
                layer.fields[path] = before, after
        yield ChangedRow(max(begin, first), min(end, last), changed)


def _plain(value: Any) -> Any:
    """Return a value as answers have it: whole numbers are integers."""
    return json.loads(number_text(value)) if isinstance(value, float) else value


def metadata_of(schema: pa.Schema) -> dict[str, Any]:
    """Return the metadata of a table of changes; KeyError or ValueError for another table."""
    about: dict[str, Any] = json.loads(schema.metadata[METADATA.encode()])
    return about
