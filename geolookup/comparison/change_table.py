"""Changes as rows: one row for each range whose answer differs, with the values before and after.

In files of text formats the ends of a range are texts.

Strategy: ``changed_intervals`` has the ranges and the rows of both datasets. The values of a field
are prepared once for each row of its table, so a batch of ranges only takes indices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.comparison.changed_intervals import ROW_KINDS, UNKNOWN, changed_spans
from geolookup.comparison.dataset_pair import DatasetPair
from geolookup.contract.paths import names_of
from geolookup.contract.schema import column_members
from geolookup.dataset.files import Dataset
from geolookup.dataset.networks import limits_of
from geolookup.dataset.runs import Codes
from geolookup.errors import TableFileError
from geolookup.export.ranges import TYPED, Rows, as_texts, as_values
from geolookup.files.byte_streams import open_output
from geolookup.files.row_streams import WriteOptions
from geolookup.files.table_files import known_file
from geolookup.filesystem.atomic import check_file
from geolookup.prefixes.conditions import Where
from geolookup.prefixes.spans import Spans
from geolookup.progress import current, stage
from geolookup.tables.row_tables import table_of

SIDES = ("before", "after")
#: The key of the table's metadata.
METADATA = "geolookup"
_COUNT = pa.decimal128(38, 0)
_TEXT = pa.dictionary(pa.int32(), pa.string())
#: Rows of a batch: writers search the values of each batch's dictionaries once.
BATCH = 1 << 17
#: The columns with the ends of ranges, by family; in rows of the other family they are null.
ENDS = {family: tuple(f"{end}_ipv{family}" for end in TYPED.names) for family in (4, 6)}
_TYPED_ENDS = [(name, TYPED.types[family]) for family in ENDS for name in ENDS[family]]
_SUFFIXES = "write .csv, .jsonl or .parquet"


def diff_table(
    old: str | PathLike[str],
    new: str | PathLike[str] | None = None,
    *fields: str | Iterable[str],
    where: Where = None,
    not_: Where = None,
    within: object = None,
) -> pa.RecordBatchReader:
    """Return a row for each range whose answer differs between two datasets or stores.

    Rows are in address order, IPv4 first. They are disjoint; neighbours with equal columns are one
    row. The columns are ``family``, ``first_ipv4``, ``last_ipv4`` (uint32), ``first_ipv6``,
    ``last_ipv6`` (16 bytes in network order), ``addresses``, ``kind``, ``kilometres``; then
    for each field its values before and after, such as ``location_city_name_before``; then for each
    layer the deciding sources, such as ``source_location_before``. Null is unknown.

    ``fields`` are compared, by default those that sources state and the own columns of either
    dataset; ``"all"`` adds those that follow from the country, such as its name. ``where`` and
    ``not_`` are conditions as of ``Engine.prefixes``: the answer meets them in OLD
    or in NEW. ``within`` is a network. ``new`` is by default the default dataset.

    Raises ValueError and TypeError for an unknown field, a malformed condition or network, and
    DatasetError for a missing or damaged dataset; the reader raises the latter too.
    """
    from geolookup.comparison import open_dataset

    limits = limits_of(within)
    compared = DatasetPair(open_dataset(old), open_dataset(new), names_of(fields), where, not_)
    return reader(compared, limits)


def write_rows(compared: DatasetPair, output: str, *, force: bool = False) -> int:
    """Write the rows of two datasets in the format that the suffix names; return their number.

    In formats of text a range has its ends as texts, ``first`` and ``last``. The file is complete
    or absent. Raises TableFileError for a suffix that names no such format, OutputError if the file
    cannot be written, or exists and ``force`` is not set.
    """
    file = known_file(output)
    if file is None or file.format.write is None:
        raise TableFileError(output, "the suffix names no format of tables", _SUFFIXES)
    check_file(Path(output), force=force)
    rows = reader(compared, texts=file.format.is_text)
    with open_output(output, file.packing, force=force) as stream:
        return write_batches(rows, file.format.write(stream, rows.schema, WriteOptions()))


@stage("comparing ranges")
def write_batches(batches: Iterable[pa.RecordBatch], sink: Any) -> int:
    """Write batches into a sink and close it; return the number of rows."""
    count, progress = 0, current()
    for batch in batches:
        sink.write(sink.render(batch))
        count += len(batch)
        progress.rows(len(batch))
    sink.close()
    return count


def reader(
    compared: DatasetPair,
    limits: Iterable[tuple[int, int, int]] | None = None,
    *,
    texts: bool = False,
) -> pa.RecordBatchReader:
    """Return the rows of two datasets; ``limits`` are families and their first and last address.

    With ``texts`` the ends of a range are texts, ``first`` and ``last``.
    """
    columns = _Columns(compared, texts=texts)
    wanted = limits_of(None) if limits is None else limits
    return pa.RecordBatchReader.from_batches(columns.schema, columns.batches(wanted))


class _Columns:
    """The columns of the ranges that changed."""

    def __init__(self, compared: DatasetPair, *, texts: bool) -> None:
        self._compared = compared
        self._ends = as_texts if texts else _as_values
        #: by column, its table, 0 for OLD or 1 for NEW, and the values by row of the table
        self._values = {
            f"{field.name}_{side}": (table_of(field), at, compared.columns[at].by_row(of or field))
            for field in compared.fields
            for at, (side, of) in enumerate(zip(SIDES, compared.sides(field), strict=True))
        }
        names = [source_column(layer, side) for layer in compared.layers for side in SIDES]
        self.schema = pa.schema(
            [
                ("family", pa.uint8()),
                *([(name, pa.string()) for name in TYPED.names] if texts else _TYPED_ENDS),
                ("addresses", _COUNT),
                ("kind", _TEXT),
                *([("kilometres", pa.float64())] if compared.has_coordinates else []),
                *((name, values.type) for name, (_, _, values) in self._values.items()),
                *((name, _TEXT) for name in names),
            ],
            metadata={METADATA: json.dumps(_about(compared))},
        )

    def batches(self, limits: Iterable[tuple[int, int, int]]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of families and their first and last address."""
        for family, first, last in limits:
            for spans in changed_spans(self._compared, family, (first, last)):
                for begin in range(0, len(spans), BATCH):
                    yield self._batch(spans.take(slice(begin, begin + BATCH)))

    def _batch(self, spans: Spans) -> pa.RecordBatch:
        codes = iter(spans.codes)
        kinds, metres = next(codes), next(codes)
        rows = {table: (next(codes), next(codes)) for table in self._compared.numbers}
        arrays: list[Any] = [pa.array(np.full(len(spans), spans.family, np.uint8))]
        arrays += self._ends(spans).columns
        arrays += [_addresses(spans), _words(kinds + 1, ROW_KINDS)]
        if self._compared.has_coordinates:
            arrays.append(pa.array(metres / 1000, mask=metres == UNKNOWN))
        for table, at, values in self._values.values():
            arrays.append(values.take(pa.array(rows[table][at])))
        arrays += [_words(numbers, self._compared.source_names) for numbers in codes]
        return pa.record_batch(arrays, schema=self.schema)


def source_column(layer: str, side: str) -> str:
    """Return the name of the column with the source of a layer, before or after."""
    # Not LAYER_source: an own column can have that name.
    return f"source_{layer.replace('.', '_')}_{side}"


def _about(compared: DatasetPair) -> dict[str, Any]:
    """Return the metadata of a table: the datasets, and the fields and layers of its columns."""
    return {
        "old": _dataset(compared.old),
        "new": _dataset(compared.new),
        "fields": [field.path for field in compared.fields],
        "layers": list(compared.layers),
        "own": [[*map(column_members, of.schema.own)] for of in (compared.old, compared.new)],
    }


def _dataset(dataset: Dataset) -> dict[str, str]:
    return {"name": dataset.manifest.metadata().name, "generation": dataset.generation}


def _as_values(spans: Spans) -> Rows:
    """Return the ends of ranges as IPv4, then as IPv6; null in the other family."""
    ends = as_values(spans)
    columns = []
    for family in ENDS:
        others = [pa.nulls(len(spans), TYPED.types[family])] * 2
        columns += ends.columns if family == spans.family else others
    return ends._replace(columns=columns)


def _addresses(spans: Spans) -> pa.Array:
    """Return how many addresses each range has, exactly: fewer than 10^38."""
    low, high = spans.last.minus(spans.first).successor().halves()
    # Little-endian integers of 128 bits, as Arrow stores decimals.
    data = np.stack([low, high], axis=1).astype("<u8")
    return pa.Array.from_buffers(_COUNT, len(low), [None, pa.py_buffer(data)])


def _words(numbers: Codes, words: Sequence[str]) -> pa.Array:
    """Return the words of numbers from 1 on; 0 is null."""
    indices = pa.array(numbers - 1, mask=numbers == 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))
