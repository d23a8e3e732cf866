"""Tables that rows refer to by a key (places, providers): read whole, once, into Arrow columns.

Unlike a row of ranges, a row of these that cannot be cut is an error: nobody
would notice the ranges that lose their meaning with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from geolookup.errors import BuildError
from geolookup_builder.ranges import WRONG_CELL_COUNT
from geolookup_builder.sources.reading.damage import QuoteCount, arrow_failure, check_quotes
from geolookup_builder.sources.reading.dictionary_cells import Cells
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.locate import locate

_BLOCK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """Columns of texts, found by key; of a key stated twice the first row counts."""

    keys: pa.Array
    columns: Mapping[str, pa.Array]

    def places(self, cells: Cells) -> pa.Array:
        """Return the row of each key; null where there is none."""
        found = pc.index_in(cells.dictionary.cast(pa.string()), self.keys)
        return found.take(cells.indices)


def concatenated(tables: list[KeyedTable]) -> KeyedTable:
    """Join tables of the same columns; the earlier ones count first."""
    names = tables[0].columns
    return KeyedTable(
        pa.concat_arrays([each.keys for each in tables]),
        {name: pa.concat_arrays([each.columns[name] for each in tables]) for name in names},
    )


def load(member: Member, names: tuple[str, ...], key: str, columns: tuple[str, ...]) -> KeyedTable:
    """Read a CSV of ``names``; columns that it lacks are null throughout."""
    layout = Layout(names, frozenset(names), frozenset())
    skipped: dict[int, str] = {}
    with member.open() as stream:
        counted = QuoteCount(stream)
        try:
            table = _read(counted, {key, *columns} & set(names), skipped)
        except pa.ArrowInvalid as error:
            raise arrow_failure(member, error) from error
    check_quotes(member, counted.count, ",")
    for reject in locate(member, skipped, layout=layout):
        remedy = "the file may be cut off: fetch it again"
        raise BuildError(member.label, WRONG_CELL_COUNT, line=reject.line, remedy=remedy)
    found = {name: table[name].combine_chunks() for name in columns if name in names}
    absent = {name: pa.nulls(len(table), pa.string()) for name in columns if name not in names}
    return KeyedTable(table[key].combine_chunks(), found | absent)


def _read(stream: object, used: set[str], skipped: dict[int, str]) -> pa.Table:
    def skip(row: Any) -> str:
        skipped[row.number - 1] = WRONG_CELL_COUNT  # Arrow counts the header as row 1
        return "skip"

    return pacsv.read_csv(
        stream,
        pacsv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
        pacsv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        pacsv.ConvertOptions(
            column_types=dict.fromkeys(used, pa.string()),
            include_columns=sorted(used),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
