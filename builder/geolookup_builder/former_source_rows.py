"""Converts the source rows of a dataset of the former format version to the current one.

The former version has the range, line and numbers of all rows in one file, and the values of a
row's layer as a JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import I64, Addresses
from geolookup_builder import explained_files
from geolookup_builder.explained_files import TableRows
from geolookup_builder.flatten import Intervals
from geolookup_builder.values import value_type

Batches = Mapping[str, pa.RecordBatch]


def converted(former: Batches) -> dict[str, pa.Table]:
    """Return the files of ``layout.EXPLAINING`` by name.

    ``former`` are those of ``layout.FORMER_EXPLAINING``, whose checksums are right. Raises
    ValueError for a text that is not that of a value, and for a number outside its table.
    """
    files = former[fmt.EXPLAINED_FILES].to_pydict()
    listed = list(zip(files["source"], files["file"], strict=True))[1:]
    rows = former[fmt.FORMER_ROWS]
    begins = _begins(former, rows.num_rows)
    intervals = [_intervals(former[name], begins) for name in fmt.EXPLAINED.values()]
    tables = [
        _table_rows(
            former[fmt.FORMER_ROWS].slice(begin, end - begin),
            dict(zip(fmt.EXPLAINED, parts, strict=True)),
        )
        for (begin, end), *parts in zip(pairwise(begins), *intervals, strict=True)
    ]
    return explained_files.tables(tables, listed, _values(former))


def _begins(former: Batches, size: int) -> list[int]:
    """Return the first row of each table, and the number of rows; tables have rows in order."""
    tables = max(int(_numbers(former[name], "table").max()) for name in fmt.EXPLAINED.values())
    last = np.zeros(tables + 1, np.int64)
    for name in fmt.EXPLAINED.values():
        np.maximum.at(last, _numbers(former[name], "table"), _numbers(former[name], "row"))
    ends = np.maximum.accumulate(last) + 1
    if ends[-1] != size:
        raise ValueError("rows of no table")
    return [int(each) for each in ends]


def _numbers(batch: pa.RecordBatch, column: str) -> I64:
    return np.asarray(batch.column(column).fill_null(0), np.int64)


def _table_rows(rows: pa.RecordBatch, intervals: dict[int, Intervals]) -> TableRows:
    first_high, first_low, last_high, last_low = (rows.column(name).to_numpy() for name in fmt.ENDS)
    return TableRows(
        rows.column("family").to_numpy(),
        Addresses(first_low, first_high),
        Addresses(last_low, last_high),
        _numbers(rows, "file"),
        _numbers(rows, "line"),
        {layer: _numbers(rows, layer) for layer in fields.LAYERS},
        intervals,
    )


def _intervals(batch: pa.RecordBatch, begins: Sequence[int]) -> Iterator[Intervals]:
    """Yield the intervals of each table, owned by its rows; -1 where they have none."""
    bounds = np.searchsorted(_numbers(batch, "table"), np.arange(1, len(begins) + 1))
    for (begin, end), (low, high) in zip(pairwise(begins), pairwise(bounds), strict=True):
        part = batch.slice(low, high - low)
        row = _numbers(part, "row")
        if not len(row) or np.any((row > 0) & ((row < begin) | (row >= end))):
            raise ValueError("rows of another table")
        yield Intervals(_starts(part), np.where(row > 0, row - begin, -1))


def _starts(batch: pa.RecordBatch) -> Addresses:
    if "start" in batch.schema.names:
        return Addresses(batch.column("start").to_numpy())
    low = batch.column("start_low").dictionary_decode()
    return Addresses(low.to_numpy(), batch.column("start_high").to_numpy())


def _values(former: Batches) -> dict[str, pa.Table]:
    """Return the values of each layer; the former version also stores them layer by layer."""
    texts = former[fmt.EXPLAINED_VALUES].column("json")
    found, begin = {}, 1
    for layer in fields.LAYERS:
        numbers = _numbers(former[fmt.FORMER_ROWS], layer)
        end = max(int(numbers.max(initial=0)) + 1, begin)
        part = texts.slice(begin, end - begin)
        found[layer] = _columns(part, fields.STATED[layer])
        if len(part) and not explained_files.objects(found[layer]).equals(part):
            raise ValueError(f"{fmt.EXPLAINED_VALUES} has other texts than those of {layer}")
        begin = end
    if begin != len(texts):
        raise ValueError("values of no row")
    return found


def _columns(texts: pa.Array, names: tuple[str, ...]) -> pa.Table:
    """Return JSON objects as columns."""
    schema = pa.schema([(name, value_type(name)) for name in names])
    if not len(texts):
        return schema.empty_table()
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    data = "\n".join(texts.to_pylist()).encode()
    return arrow_json.read_json(pa.BufferReader(data), parse_options=options).combine_chunks()
