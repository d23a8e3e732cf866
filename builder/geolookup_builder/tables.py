"""The tables of a dataset, as Arrow tables ready to write, with the JSON texts of their rows.

The texts of ``geolookup.dataset.rows`` are written by columns. Each distinct string is quoted once;
the standard library quotes the few that need escapes. Arrow writes numbers: its cast gives the
shortest decimal that reads back as the same float, without ``.0``; ``dataset.rows`` writes those
with an exponent. Then the columns are joined row by row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK, OWN, TEXTS, Field, in_table
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import type_of, without_nulls
from geolookup.dataset.intervals import U64, Addresses, jump_table, sparse_index
from geolookup.dataset.rows import ABSENT, SEPARATOR, UNKNOWN, number_text
from geolookup.errors import BuildError
from geolookup.parallel import in_order, threads_for
from geolookup_builder.columns import Columns, Partition
from geolookup_builder.intern import InternedContent, Pair
from geolookup_builder.values import Reference, lists

_ZERO, _TINY, _HUGE = (pa.scalar(number, pa.float64()) for number in (0.0, 1e-4, 1e10))
_NEEDS_ESCAPE = r'["\\\x00-\x1f]'
# Typed: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_QUOTE, _EMPTY, _SEPARATOR, _OPEN, _CLOSE, _COMMA, _NO_TEXT = (
    pa.scalar(text, pa.string()) for text in ('"', "", SEPARATOR, *"[],", None)
)
#: The columns of a row of the country table.
CountryRecord = Mapping[str, object]


def tables(
    interned: InternedContent,
    reference: Reference,
    schema: Schema,
    columns: Columns,
    countries: Iterable[CountryRecord] = (),
) -> dict[str, pa.Table]:
    """Return every table but provenance by file name.

    ``countries`` are rows of datasets; they replace the rows that follow from the reference.
    """
    rows, fields = interned.rows, {LOCATION: in_table(LOCATION), NETWORK: in_table(NETWORK)}
    fields[OWN] = schema.own
    threads = threads_for(rows[LOCATION].num_rows)
    with in_order(lambda table: _rows_table(rows[table], fields[table]), rows, threads) as made:
        content = {fmt.TABLES[table]: of for table, of in zip(rows, made, strict=True)}
    content[fmt.COUNTRY] = _country(interned.countries, reference, countries)
    content[fmt.ZONE] = pa.table({"zone": pa.array(interned.zones, pa.string())})
    families = interned.families
    jumps = jump_table(families[4].starts.low, columns.release)
    return {
        **{fmt.INTERVALS[family]: _intervals(part, columns) for family, part in families.items()},
        fmt.IPV4_JUMP: pa.table({"interval": jumps}),
        fmt.IPV6_SPARSE_INDEX: pa.table({"start_high": _sparse(families[6].starts.high, columns)}),
        **content,
    }


def _sparse(highs: U64 | None, columns: Columns) -> U64:
    """Return the sparse index, chunk by chunk."""
    highs, stride = np.asarray(highs), fmt.SPARSE_STRIDE
    # A chunk from 100 on: the next multiple of 64 is 28 further.
    firsts = ((part, part.start + -part.start % stride) for part in columns.chunks(len(highs)))
    # A copy: a view would need the pages again.
    parts = [sparse_index(highs[first : part.stop]).copy() for part, first in firsts]
    return np.concatenate(parts)


def provenance_tables(families: Mapping[int, Partition], columns: Columns) -> dict[str, pa.Table]:
    """Return the tables of provenance, by file name.

    A layer that no source decides has no column.
    """
    content = {}
    for family, part in families.items():
        sources = {layer: numbers for layer, numbers in part.numbers.items() if numbers.any()}
        content[fmt.PROVENANCE[family]] = pa.table({**_starts(part.starts, columns), **sources})
    return content


def _starts(first: Addresses, columns: Columns) -> dict[str, pa.Array]:
    """Return the columns of the intervals' first addresses."""
    if first.high is None:
        return {"start": _array(first.low)}
    # Nearly all starts are multiples of 2^64, so there are few distinct lower halves.
    codes, distinct = columns.encoded(first.low)
    indices = np.arange(len(distinct), dtype=_narrowest(len(distinct)).to_pandas_dtype())
    low = pa.DictionaryArray.from_arrays(_array(columns.looked_up(indices, codes)), distinct)
    return {"start_high": _array(first.high), "start_low": low}


def _array(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers as an Arrow array; nothing is copied."""
    if not numbers.strides[0] and not numbers[0]:
        numbers = np.zeros(len(numbers), numbers.dtype)  # takes no memory until it is written to
    return pa.array(numbers)


def _intervals(family: Partition, columns: Columns) -> pa.Table:
    return pa.table(
        {
            **_starts(family.starts, columns),
            # No number is negative: the same bytes, without a copy.
            **{table: _array(rows.view(np.uint32)) for table, rows in family.numbers.items()},
        }
    )


def _rows_table(rows: pa.Table, fields: Sequence[Field]) -> pa.Table:
    """Return a table of its rows' values, and of links to rows of other tables."""
    columns, texts = {link: rows[link] for link in fmt.LINKS if link in rows.column_names}, []
    for field in fields:
        values = rows[field.source_column].combine_chunks()
        # Lists of texts are JSON texts before.
        values = lists(values) if field.type == TEXTS else dictionary(values)
        columns[field.column] = values
        texts.append(json_texts(values, ABSENT if field.optional else UNKNOWN))
    return pa.table({**columns, "json": row_texts(texts)})


def _country(
    pairs: Iterable[Pair], reference: Reference, countries: Iterable[CountryRecord]
) -> pa.Table:
    by_pair = {(row["country_code"], row["continent_code"]): row for row in countries}
    records = [by_pair.get(pair) or _country_record(*pair, reference) for pair in pairs]
    columns = {
        field.column: pa.array([record[field.column] for record in records], type_of(field))
        for field in in_table(COUNTRY)
    }
    return pa.table({**columns, "json": row_texts([*map(json_texts, columns.values())])})


def _country_record(
    code: str | None, continent: str | None, reference: Reference
) -> dict[str, object]:
    country = reference.countries[code] if code else None
    record = {field.column: getattr(country, field.column, None) for field in in_table(COUNTRY)}
    record["continent_code"] = continent
    record["continent_name"] = reference.continents.get(continent) if continent else None
    return record


def dictionary(column: pa.Array) -> pa.Array:
    """Return texts as a dictionary with the narrowest indices; other values as they are."""
    if not pa.types.is_string(column.type):
        return column
    distinct = column.dictionary_encode()
    indices = distinct.indices.cast(_narrowest(len(distinct.dictionary)))
    return pa.DictionaryArray.from_arrays(indices, distinct.dictionary)


def _narrowest(values: int) -> pa.DataType:
    """Return the narrowest type of indices of so many distinct values."""
    # int8 holds -128, and the indices up to 127 of 128 values.
    return pa.from_numpy_dtype(np.min_scalar_type(-max(values, 1)))


def json_texts(column: pa.Array, absent: str = UNKNOWN) -> pa.Array:
    """Return the JSON text of each value, also of a list; ``absent`` stands for null.

    Strings may be a dictionary column.
    """
    if column.null_count == len(column):  # as most fields of most datasets
        return pa.repeat(pa.scalar(absent, pa.string()), len(column))
    if pa.types.is_string(column.type):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        texts = _quote(column.dictionary).take(column.indices)
    else:
        texts = list_texts(column) if pa.types.is_list(column.type) else _numbers(column)
    return without_nulls(texts, absent)


def list_texts(column: pa.ListArray) -> pa.Array:
    """Return lists of texts as JSON; null stays null."""
    lists = pc.take(column, pa.array(np.arange(len(column))))  # without offset
    quoted = pa.ListArray.from_arrays(lists.offsets, _quote(lists.values))
    texts = pc.binary_join_element_wise(_OPEN, pc.binary_join(quoted, _COMMA), _CLOSE, _EMPTY)
    return pc.if_else(column.is_valid(), texts, _NO_TEXT)


def _quote(values: pa.Array) -> pa.Array:
    texts = pc.binary_join_element_wise(_QUOTE, values, _QUOTE, _EMPTY)
    special = pc.match_substring_regex(values, _NEEDS_ESCAPE)
    if special.true_count:
        escaped_texts = [
            json.dumps(text, ensure_ascii=False) for text in values.filter(special).to_pylist()
        ]
        texts = pc.replace_with_mask(texts, special, pa.array(escaped_texts, pa.string()))
    return texts


def _numbers(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        # Arrow writes 0.00001, 1e-7 and 1e+10 where Python writes 1e-05, 1e-07 and 10000000000.
        size = pc.abs(column)
        others = pc.or_(pc.less(size, _TINY), pc.greater_equal(size, _HUGE))
        others = without_nulls(pc.and_(others, pc.not_equal(column, _ZERO)), False)
        if others.true_count:
            decimals = map(number_text, column.filter(others).to_pylist())
            texts = pc.replace_with_mask(texts, others, pa.array(decimals, pa.string()))
    return texts


def row_texts(columns: list[pa.Array]) -> pa.Array:
    """Join the JSON texts of each row's members."""
    # ptp: greatest less least bound: the size of the texts, also of a slice.
    size = sum(int(np.ptp(_bounds(column))) for column in columns)
    # One separator between two members of each row. Offsets of Arrow's strings have 32 bits.
    if size + (len(columns) - 1) * len(columns[0]) >= 1 << 31:
        raise BuildError("dataset", "more than 2 GiB of distinct values in one table")
    return pc.binary_join_element_wise(*columns, _SEPARATOR)


def _bounds(texts: pa.Array) -> NDArray[np.int32]:
    """Return where each text begins in the array's bytes, and where the last one ends."""
    return np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
