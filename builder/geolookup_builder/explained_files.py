"""The side files of ``explain = "full"``, as Arrow tables.

Nothing is stored that follows from other columns. Most rows decide one interval, and have its
range: only other ranges are stored. Rows on consecutive lines share one entry. Numbers of values
are stored for the layers that a source table states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import I64, Addresses, Bools, concat, lasts
from geolookup.dataset.runs import run_starts
from geolookup.errors import BuildError
from geolookup.parallel import alongside
from geolookup_builder.flatten import Intervals
from geolookup_builder.fragments import checksums, json_texts
from geolookup_builder.tables import encode, starts

#: Values whose texts are made at once.
_PART = 1 << 16
_BEGIN, _END, _COMMA, _EMPTY, _NONE = (
    pa.scalar(text, pa.string()) for text in ("{", "}", ",", "", None)
)


@dataclass(frozen=True, slots=True)
class TableRows:
    """The deciding rows of one source table, in its order; IPv4 addresses in 128 bits."""

    family: NDArray[np.uint8]
    first: Addresses
    last: Addresses
    file: I64  # rows of the table of files
    line: I64  # 0: the file has no lines
    numbers: Mapping[str, NDArray[np.integer]]  # rows of the table of values, by layer
    intervals: Mapping[int, Intervals]  # by family, owned by rows of this table; -1: a gap

    def __len__(self) -> int:
        return len(self.family)


def tables(
    rows: Sequence[TableRows],
    files: Sequence[tuple[int, str]],
    values: Mapping[str, pa.Table],
) -> dict[str, pa.Table]:
    """Return the tables by file name.

    ``rows`` are the rows of each source table in order of precedence, ``files`` the number of the
    source and the name of each file, ``values`` the distinct values of each layer, by field, in the
    order of the layers.
    """
    # Tables of 3 and 2 rows: begins 1 4 6; row 0 is "unknown".
    begins = np.cumsum([1, *map(len, rows)])
    with alongside(partial(_ranges, rows, begins), int(begins[-1])) as ranges:
        value_table = _values(values)
    return {
        **{fmt.EXPLAINED[family]: _intervals(rows, begins, family) for family in fmt.EXPLAINED},
        fmt.EXPLAINED_TABLES: _tables(rows, begins, [*values]),
        fmt.EXPLAINED_NUMBERS: _numbers(rows, [*values]),
        fmt.EXPLAINED_RANGES: ranges(),
        fmt.EXPLAINED_LINES: _lines(rows),
        fmt.EXPLAINED_FILES: _files(files),
        fmt.EXPLAINED_VALUES: value_table,
    }


def _intervals(rows: Sequence[TableRows], begins: I64, family: int) -> pa.Table:
    """Concatenate the intervals of one family, table by table."""
    parts = [table.intervals[family] for table in rows]
    numbers = [
        np.where(part.owner < 0, 0, part.owner + begin).astype(np.uint32)
        for part, begin in zip(parts, begins[:-1], strict=True)
    ]
    first = concat([part.starts for part in parts])
    return pa.table({**starts(first), "row": np.concatenate(numbers)})


def _tables(rows: Sequence[TableRows], begins: I64, layers: Sequence[str]) -> pa.Table:
    """Return where each table begins; the last entry is the end of the last table."""
    columns: dict[str, list[int]] = {"row": begins.tolist()}
    for family, name in fmt.EXPLAINED_STARTS.items():
        sizes = [len(table.intervals[family].owner) for table in rows]
        # Two tables of 3 and 5 intervals: 0, 3, 8.
        columns[name] = np.cumsum([0, *sizes]).tolist()
    columns |= {layer: [0] * len(begins) for layer in layers}
    begin = 1
    for at, layer in _stated_layers(rows, layers):
        # 0 stays where no row states the layer; so the numbers begin at 1.
        columns[layer][at] = begin
        begin += len(rows[at])
    return pa.table({name: pa.array(numbers, pa.uint32()) for name, numbers in columns.items()})


def _stated_layers(rows: Sequence[TableRows], layers: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield pairs: the index of a table, and a layer in which a row of the table has a value."""
    for at, table in enumerate(rows):
        for layer in layers:
            if layer in table.numbers and table.numbers[layer].any():
                yield at, layer


def _numbers(rows: Sequence[TableRows], layers: Sequence[str]) -> pa.Table:
    stated = _stated_layers(rows, layers)
    parts = [rows[at].numbers[layer].astype(np.uint32) for at, layer in stated]
    return pa.table({"value": np.concatenate([np.zeros(1, np.uint32), *parts])})


def _ranges(rows: Sequence[TableRows], begins: I64) -> pa.Table:
    """Return the ranges of rows that do not decide exactly one interval of that range."""
    indices = [np.flatnonzero(~_are_intervals(table)) for table in rows]
    number = [row + begin for row, begin in zip(indices, begins[:-1], strict=True)]
    selections = list(zip(rows, indices, strict=True))
    none = Addresses.of(6, [0])
    first = concat([none, *(table.first[at] for table, at in selections)])
    last = concat([none, *(table.last[at] for table, at in selections)])
    return pa.table(
        {
            "row": _join(number, np.uint32),
            "family": _join([table.family[at] for table, at in selections], np.uint8),
            **dict(zip(fmt.ENDS, (first.high, first.low, last.high, last.low), strict=True)),
        }
    )


def _are_intervals(rows: TableRows) -> Bools:
    """Mark the rows that decide exactly one interval, of their own range."""
    decides, same = np.zeros(len(rows), np.int64), np.zeros(len(rows), bool)
    for family, intervals in rows.intervals.items():
        at = np.flatnonzero(intervals.owner >= 0)
        owner = intervals.owner[at]
        decides += np.bincount(owner, minlength=len(rows))
        first, last = (
            ends[at].in_128_bits() for ends in (intervals.starts, lasts(intervals.starts))
        )
        are_equal = (rows.family[owner] == family) & rows.first[owner].equals(first)
        # A row of several intervals gets any of their results; ``decides`` removes it.
        same[owner] = are_equal & rows.last[owner].equals(last)
    same &= decides == 1
    return same


def _lines(rows: Sequence[TableRows]) -> pa.Table:
    """Return the first of rows on consecutive lines of a file, or in a file without lines."""
    file = _join([table.file for table in rows], np.uint32)
    line = _join([table.line for table in rows], np.uint32)
    # Line 0 is "none". Rows 4 5 6 on the lines 7 8 9 are 3 before their lines.
    before = np.where(line > 0, line - np.arange(len(line)), 0)
    row = np.flatnonzero(run_starts(file, line > 0, before))
    lines = line[row]
    columns = {"row": row.astype(np.uint32), "file": file[row]}
    return pa.table({**columns, "line": pa.array(lines, mask=lines == 0)})


def _join(parts: Iterable[NDArray[np.integer]], kind: type[np.integer]) -> NDArray[np.integer]:
    """Join a column of all tables, after row 0."""
    return np.concatenate([np.zeros(1, kind), *(part.astype(kind) for part in parts)])


def _files(files: Sequence[tuple[int, str]]) -> pa.Table:
    return pa.table(
        {
            "source": pa.array([0, *(source for source, _ in files)], pa.uint8()),
            "file": pa.array([None, *(name for _, name in files)], pa.string()),
        }
    )


def _values(layers: Mapping[str, pa.Table]) -> pa.Table:
    """Return the values of all layers, layer after layer, with their checksums."""
    # One row without columns: the unknown row.
    none = pa.table({"": pa.nulls(1)}).select([])
    blocks = [none, *(block for block in layers.values() if block.num_rows)]
    sizes = [block.num_rows for block in blocks]
    names = {name: block.schema.field(name).type for block in blocks for name in block.column_names}
    columns = {}
    for name, kind in names.items():
        parts = [
            block[name].combine_chunks() if name in block.column_names else pa.nulls(size, kind)
            for block, size in zip(blocks, sizes, strict=True)
        ]
        column = pa.concat_arrays(parts)
        if column.null_count < len(column):
            columns[name] = encode(column) if pa.types.is_string(kind) else column
    return pa.table({**columns, fmt.CHECKSUMS: _checksums(blocks[1:])})


def _checksums(layers: Sequence[pa.Table]) -> NDArray[np.uint32]:
    """Return the checksum of each value as JSON, after row 0."""
    sums, size = [np.zeros(1, np.uint32)], 0
    for part in chain.from_iterable(map(_parts, layers)):
        texts = objects(part)
        sums.append(checksums(texts))
        size += texts.nbytes
    # One Arrow array of int32 offsets must be able to hold them all when they are verified.
    if size >= 1 << 31:
        raise BuildError("dataset", "more than 2 GiB of distinct values in one table")
    return np.concatenate(sums)


def _parts(values: pa.Table) -> Iterator[pa.Table]:
    """Yield parts whose texts one Arrow array can hold."""
    return (values.slice(begin, _PART) for begin in range(0, values.num_rows, _PART))


def objects(values: pa.Table) -> pa.Array:
    """Return each row as a JSON object of its known fields."""
    members = []
    for name in values.column_names:
        column = values[name].combine_chunks()
        key = pa.scalar(f'"{name}":', pa.string())
        member = pc.binary_join_element_wise(key, json_texts(column), _EMPTY)
        members.append(pc.if_else(column.is_valid(), member, _NONE))
    # A null member is left out, with its comma.
    inside = pc.binary_join_element_wise(*members, _COMMA, null_handling="skip")
    return pc.binary_join_element_wise(_BEGIN, inside, _END, _EMPTY)
