"""The tables of a dataset, as Arrow tables ready to write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK, OWN, TEXTS, Field, in_table
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import type_of
from geolookup.dataset.intervals import U64, Addresses, jump_table, sparse_index
from geolookup.dataset.rows import ABSENT, UNKNOWN
from geolookup.parallel import in_order, threads_for
from geolookup_builder.columns import Columns, Partition
from geolookup_builder.fragments import json_columns, json_texts
from geolookup_builder.intern import InternedContent, Pair
from geolookup_builder.values import Reference, lists

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
    return interval_tables(interned.families, columns) | content


def interval_tables(families: Mapping[int, Partition], columns: Columns) -> dict[str, pa.Table]:
    """Return the tables of the intervals that answer, by file name."""
    jumps = jump_table(families[4].starts.low, columns.release)
    return {
        **{fmt.INTERVALS[family]: _intervals(part, columns) for family, part in families.items()},
        fmt.IPV4_JUMP: pa.table({"interval": jumps}),
        fmt.IPV6_SPARSE_INDEX: pa.table({"start_high": _sparse(families[6].starts.high, columns)}),
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
    return pa.table({**columns, **json_columns(texts)})


def _country(
    pairs: Iterable[Pair], reference: Reference, countries: Iterable[CountryRecord]
) -> pa.Table:
    by_pair = {(row["country_code"], row["continent_code"]): row for row in countries}
    records = [by_pair.get(pair) or _country_record(*pair, reference) for pair in pairs]
    columns = {
        field.column: pa.array([record[field.column] for record in records], type_of(field))
        for field in in_table(COUNTRY)
    }
    return pa.table({**columns, **json_columns([*map(json_texts, columns.values())])})


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
