"""The deciding rows of each source table: the files of a dataset for ``explain = "full"``.

They contain what the overlay of the layers discards: the intervals of each table with their
deciding row, and the range, file, line and values of these rows. Tables are not overlaid here,
so the files grow with the sum of the sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import I64, Addresses, concat
from geolookup_builder.factorize import factorize
from geolookup_builder.flatten import Intervals, coalesce
from geolookup_builder.fragments import json_columns, json_texts
from geolookup_builder.gather import SourceRows, Stated
from geolookup_builder.layer_values import UNKNOWN, Codes, LayerValues, Tuples
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.schema import LAYERS
from geolookup_builder.sources.reading.inputs import label_in_recipe
from geolookup_builder.sources.reading.positions import RowPositions
from geolookup_builder.tables import starts


@dataclass(frozen=True, slots=True)
class _TableRows:
    """The deciding rows of one source table."""

    stated: Stated
    file: I64  # rows of the table of files
    line: I64


class DecidingRows:
    """Collects the deciding rows of all source tables; row 0 is for gaps."""

    def __init__(self) -> None:
        self._intervals: dict[int, list[Intervals]] = {4: [], 6: []}
        self._rows: list[_TableRows] = []
        self._files: list[tuple[int, str]] = []
        self._size = 1

    def add(
        self,
        source: int,
        spec: SourceSpec,
        rows: SourceRows,
        positions: RowPositions,
        deciding: Mapping[int, Intervals],
    ) -> None:
        """Add a table of the source with that number in the recipe, from 1.

        ``deciding`` are its intervals by family, owned by row numbers of the table.
        """
        used = np.zeros(positions.rows + 1, bool)  # the last is for the owner -1
        for each in deciding.values():
            used[each.owner] = True
        used[-1] = False
        number = np.where(used, np.cumsum(used) - 1 + self._size, UNKNOWN)
        for family, each in deciding.items():
            numbered = Intervals(each.starts, number[each.owner])
            self._intervals[family].append(coalesce(numbered))
        self._size += int(used.sum())
        self._add_rows(source, spec, rows.stated(used[:-1]), positions, np.flatnonzero(used))

    def _add_rows(
        self, source: int, spec: SourceSpec, stated: Stated, positions: RowPositions, chosen: I64
    ) -> None:
        found = positions.of(chosen)
        self._rows.append(_TableRows(stated, found.file + len(self._files) + 1, found.line))
        names = (label_in_recipe(label, spec.path, spec.base) for label in found.labels)
        self._files.extend((source, name) for name in names)

    def tables(self, layers: Mapping[str, LayerValues]) -> dict[str, pa.Table]:
        """Return the tables by file name."""
        values, indices = self._values(layers)
        return {
            **{fmt.EXPLAINED[f]: _intervals(each) for f, each in self._intervals.items()},
            fmt.EXPLAINED_ROWS: self._rows_table(indices),
            fmt.EXPLAINED_FILES: pa.table(
                {
                    "source": pa.array([0, *(source for source, _ in self._files)], pa.uint8()),
                    "file": pa.array([None, *(name for _, name in self._files)], pa.string()),
                }
            ),
            fmt.EXPLAINED_VALUES: pa.table(json_columns([values])),
        }

    def _rows_table(self, indices: Mapping[str, Codes]) -> pa.Table:
        none = Addresses.of(6, [0])
        first = concat([none, *(each.stated.first for each in self._rows)])
        last = concat([none, *(each.stated.last for each in self._rows)])
        line = _joined([each.line for each in self._rows]).astype(np.uint32)
        return pa.table(
            {
                "file": _joined([each.file for each in self._rows]).astype(np.uint32),
                "line": pa.array(line, mask=line == 0),
                "family": _joined([each.stated.family for each in self._rows]).astype(np.uint8),
                "first_high": first.high,
                "first_low": first.low,
                "last_high": last.high,
                "last_low": last.low,
                **{layer: codes.astype(np.uint32) for layer, codes in indices.items()},
            }
        )

    def _values(self, layers: Mapping[str, LayerValues]) -> tuple[pa.Array, dict[str, Codes]]:
        """Return distinct values as JSON, and for each layer the index of each row's value."""
        texts, indices, begin = [pa.array([""], pa.large_string())], {}, 0
        for layer, values in layers.items():
            tuples, numbers = values.in_use(_joined([_numbers(each, layer) for each in self._rows]))
            # In the order of the rows, independent of the blocks in which they were read.
            codes, first = factorize([numbers])
            texts.append(_objects(tuples.take(numbers[first[1:]]), LAYERS[layer]))
            indices[layer] = np.where(codes > 0, codes + np.int32(begin), np.int32(0))
            begin += len(first) - 1
        return pa.concat_arrays(texts), indices


def _joined(parts: Sequence[NDArray[np.integer]]) -> I64:
    """Join a column of all tables, after row 0."""
    return np.concatenate([np.zeros(1, np.int64), *parts])


def _numbers(rows: _TableRows, layer: str) -> I64:
    numbers = rows.stated.numbers.get(layer)
    return np.zeros(len(rows.line), np.int64) if numbers is None else numbers.astype(np.int64)


def _intervals(tables: list[Intervals]) -> pa.Table:
    """Concatenate the intervals of one family, table by table."""
    sizes = [len(each.starts) for each in tables]
    return pa.table(
        {
            "table": np.repeat(np.arange(1, len(tables) + 1, dtype=np.uint16), sizes),
            **starts(concat([each.starts for each in tables])),
            "row": np.concatenate([each.owner for each in tables]).astype(np.uint32),
        }
    )


def _objects(tuples: Tuples, fields: tuple[str, ...]) -> pa.Array:
    """Return each tuple as a JSON object of its known fields."""
    members = []
    for name in fields:
        values = tuples.values(name)
        member = pc.binary_join_element_wise(f'"{name}":', json_texts(values), "")
        members.append(pc.if_else(values.is_valid(), member, pa.scalar(None, member.type)))
    inside = pc.binary_join_element_wise(*members, ",", null_handling="skip")
    return pc.binary_join_element_wise("{", inside, "}", "").cast(pa.large_string())
