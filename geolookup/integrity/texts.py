"""The JSON texts of rows: correct checksums, and the same values as the other columns.

Strategy: every value is written again, a column at a time; the stored texts must be these bytes.
So a text of another type is found, and one that parses to the same value but differs. Arrow
writes the values, ``PART`` rows at a time, without a Python object for each row. Lengths are
compared before texts are joined: no dataset demands more bytes than it stores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup import kernel
from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import Bools
from geolookup.errors import DatasetError
from geolookup.integrity.tables import THREADS, Tables, damage
from geolookup.parallel import in_order

#: Repeated on purpose, like the codec below: an independent check of ``dataset.rows``.
_SEPARATOR = "\n"
_TABLES = (fields.LOCATION, fields.NETWORK, fields.COUNTRY, fields.OWN)
#: Rows that are compared at once. Four times as many take 40 MB more and no less time.
PART = 1 << 14
_ESCAPED = r'["\\\x00-\x1f]'
# With a type: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_LINE_FEED, _QUOTE, _OPEN, _CLOSE, _BEGIN, _END, _COMMA, _EMPTY, _NONE = (
    pa.scalar(text, pa.string()) for text in (_SEPARATOR, '"', *"[]{},", "", None)
)
_ZERO, _TINY, _HUGE = (pa.scalar(number, pa.float64()) for number in (0.0, 1e-4, 1e10))
#: A whole number below has no exponent.
_WHOLE_BELOW = 1e15
_NULL = "null"


def texts(tables: Tables) -> Iterator[DatasetError]:
    """Yield the rows whose checksums are wrong, or whose JSON texts differ from their columns."""
    tables_with_texts = [table for table in _TABLES if fmt.TABLES[table] in tables.batches]
    for table in tables_with_texts:
        yield from checksums(tables, fmt.TABLES[table])
    for table in tables_with_texts:
        name = fmt.TABLES[table]
        try:
            bad = _differences(tables.batches[name], tables.manifest.schema.in_table(table))
        except (pa.ArrowException, MemoryError) as error:  # texts of gigabytes
            problem = f"cannot be compared ({(str(error) or 'no memory').splitlines()[0]})"
            yield damage(tables.folder / name, problem, "json")
        else:
            yield from tables.bad(name, "json", bad, "differs from the other columns")


def _differences(batch: pa.RecordBatch, members: Sequence[fields.Field]) -> Bools:
    columns = [_values(batch.column(field.column)) for field in members]
    stored = batch.column("json")

    def differing(begin: int) -> Bools:
        part = [column.slice(begin, PART) for column in columns]
        return _differ(part, members, stored.slice(begin, PART))

    with in_order(differing, range(0, len(stored), PART), THREADS) as parts:
        return np.concatenate([*parts])


def checksums(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield the rows whose checksum is wrong."""
    bad = tables.numbers(name, fmt.CHECKSUMS) != _sums(tables.batches[name].column("json"))
    return tables.bad(name, fmt.CHECKSUMS, bad, "not the checksum of the row's text")


def _sums(texts: pa.Array) -> NDArray[np.uint32]:
    """Return the checksum of each text of an array without offset."""
    _, offsets, data = texts.buffers()
    sums = np.empty(len(texts), np.uint32)
    bounds = np.frombuffer(offsets, np.int32)[: len(texts) + 1]
    kernel.checksums(np.frombuffer(data or b"", np.uint8), bounds, sums)
    return sums


def _values(column: pa.Array) -> pa.Array:
    """Return a column with texts written as JSON; a dictionary is written once."""
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _quote(column.dictionary))
    return column


def _differ(columns: list[pa.Array], members: Sequence[fields.Field], stored: pa.Array) -> Bools:
    """Return the rows whose stored text differs from their values."""
    absent = ["" if field.optional else _NULL for field in members]
    columns = [_json_texts(column, of) for column, of in zip(columns, absent, strict=True)]
    # Members and the line feeds between them.
    lengths = sum(map(_length, columns, absent)) + len(columns) - 1
    same: Bools = lengths == _lengths(stored)
    if not same.all():
        candidates = pa.array(np.flatnonzero(same))
        stored, columns = stored.take(candidates), [column.take(candidates) for column in columns]
    texts_of_members = map(_decode, columns, absent)
    written = pc.binary_join_element_wise(
        *texts_of_members, _LINE_FEED, null_handling="replace", null_replacement=_NULL
    )
    # Rows of equal length were compared only: their results go back to their places.
    same[same] = pc.equal(written, stored).to_numpy(zero_copy_only=False)
    return ~same


def _length(column: pa.Array, absent: str) -> Any:
    """Return the length in bytes of each JSON text; null counts as ``absent``."""
    if not pa.types.is_dictionary(column.type):
        return _lengths(column)
    # The last entry is for null: index -1 reads it.
    lengths = np.append(_lengths(column.dictionary), len(absent))
    return lengths[without_nulls(column.indices, -1).to_numpy()]


def _lengths(array: pa.Array) -> Any:
    """Return the length in bytes of each text of an array without nulls."""
    return pc.binary_length(array).to_numpy().astype(np.int64)


def _json_texts(column: pa.Array, absent: str) -> pa.Array:
    """Return the JSON text of each value, ``absent`` for null; dictionaries do not change."""
    if pa.types.is_dictionary(column.type):
        return column
    if column.null_count == len(column):  # as many fields of most datasets
        return _repeat(absent, len(column))
    return without_nulls(_written(column), absent)


def _written(column: pa.Array) -> pa.Array:
    """Return the JSON text of each value; of a dictionary, whose texts are written, those."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary.take(column.indices)
    if pa.types.is_list(column.type):
        return _lists(column)
    return _quote(column) if pa.types.is_string(column.type) else _numbers(column)


def _decode(column: pa.Array, absent: str) -> pa.Array:
    """Return each JSON text, ``absent`` for null; null may stay if ``absent`` is ``_NULL``."""
    if column.null_count == len(column):
        return _repeat(absent, len(column))
    if not pa.types.is_dictionary(column.type):
        return column
    texts = column.dictionary.take(column.indices)
    return texts if absent == _NULL else without_nulls(texts, absent)


def _repeat(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), rows)


def _quote(texts: pa.Array) -> pa.Array:
    """Return JSON strings; the standard library writes those with characters to escape."""
    if not len(texts):
        return texts
    quoted = pc.binary_join_element_wise(_QUOTE, texts, _QUOTE, _EMPTY)
    special = pc.match_substring_regex(texts, _ESCAPED)
    if not special.true_count:
        return quoted
    special = without_nulls(special, False)
    to_escape = texts.filter(special)
    parts = (to_escape.slice(begin, PART) for begin in range(0, len(to_escape), PART))
    escaped = pa.chunked_array([_escape(part) for part in parts], pa.string())
    return pc.replace_with_mask(quoted, special, escaped.combine_chunks())


def _escape(texts: pa.Array) -> pa.Array:
    written = [json.dumps(text, ensure_ascii=False) for text in texts.to_pylist()]
    return pa.array(written, pa.string())


def _lists(column: pa.Array) -> pa.Array:
    """Return JSON arrays of texts; a list with an unknown text has no text."""
    # A slice of a list array has offsets that begin above 0; take writes new ones.
    lists = pc.take(column, pa.array(np.arange(len(column))))  # without offset
    quoted = pa.ListArray.from_arrays(lists.offsets, _quote(lists.values))
    joined = pc.binary_join_element_wise(_OPEN, pc.binary_join(quoted, _COMMA), _CLOSE, _EMPTY)
    return pc.if_else(column.is_valid(), joined, _NONE)


def _numbers(column: pa.Array) -> pa.Array:
    """Return numbers and Booleans as JSON: Arrow writes the shortest decimal, without ``.0``."""
    texts = column.cast(pa.string())
    if not pa.types.is_floating(column.type):
        return texts
    # Below 1e-4 and from 1e10 Arrow and the standard library write exponents differently.
    size = pc.abs(column)
    others = pc.or_(pc.less(size, _TINY), pc.greater_equal(size, _HUGE))
    others = without_nulls(pc.and_(others, pc.not_equal(column, _ZERO)), False)
    if not others.true_count:
        return texts
    written = [_number(number) for number in column.filter(others).to_pylist()]
    return pc.replace_with_mask(texts, others, pa.array(written, pa.string()))


def _number(number: float) -> str:
    is_whole = number.is_integer() and abs(number) < _WHOLE_BELOW
    return json.dumps(int(number) if is_whole else number)
