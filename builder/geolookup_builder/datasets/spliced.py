"""A few sources over a dataset, without the work of a whole build: its rows and texts stay.

The sources above are interned by themselves. Their intervals are cut into the dataset's, and only
intervals that they know get other rows::

    dataset    |0  5        |20  7         |50  8
    above             |10 (9)   |30
    result     |0  5  |10 9     |30  7     |50  8

Rows keep their numbers. New rows follow them, or take the number of a row that no interval uses any
more. The answers, the provenance and the coverage are the same as of a build from all files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_dictionary, without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import Codes, factorize, join_runs
from geolookup_builder.columns import Columns as BuildColumns
from geolookup_builder.datasets.source import DatasetSource, RowPartition
from geolookup_builder.intern import FamilyIntervals, InternedContent
from geolookup_builder.layers import Provenance, insert
from geolookup_builder.tables import interval_tables, narrowest, rows_table

Columns = dict[str, NDArray[Any]]
_PAIR = ("country_code", "continent_code")


def splice(
    above: InternedContent,
    tables: Mapping[str, pa.Table],
    dataset: DatasetSource,
    schema: Schema,
    sources: int,
    of_build: BuildColumns,
) -> tuple[dict[str, pa.Table], dict[int, Provenance]]:
    """Return the tables of ``above`` over a dataset, and the provenance by family.

    ``tables`` are the tables of ``above`` by themselves, and ``sources`` is the number of sources
    above; in the provenance the sources behind the dataset follow them.
    """
    cuts = {
        family: _cut(part.starts, _with_own(part, top), top.starts, any_known(top.rows))
        for family, top in above.families.items()
        for part in [dataset.partitions[family]]
    }
    dataset.tables.release()
    rows = _Rows(dataset, tables, schema)
    rows.set_locations(above.families, cuts)
    for table in above.families[4].rows:
        if table != LOCATION:
            rows.set_layers(table, above.families, cuts)
    dataset.tables.release()
    content = rows.finish(cuts)
    dataset.tables.release()
    # Popped: each step releases the arrays of the one before.
    families = {family: _joined(cuts.pop(family)) for family in (4, 6)}
    behind = dataset.provenance()
    provenance = {
        family: _provenance(part, behind[family], sources)
        for family, part in above.provenance.items()
    }
    return content | interval_tables(families, of_build), provenance


@dataclass(slots=True)
class _Cut:
    """A partition with the starts of another: which intervals lie in known ones of the other."""

    starts: Addresses
    columns: Columns
    at: I64  # the intervals in known ones of the other
    owner: I64  # for each of these the interval of the other


def _cut(
    starts: Addresses, columns: Mapping[str, NDArray[Any]], above: Addresses, is_known: Bools
) -> _Cut:
    """Cut the intervals of a partition at the starts of ``above``; columns become copies."""
    starts, cut, begin = insert(starts, columns, above)
    counts = np.diff(begin, append=len(starts))[is_known]
    # Intervals 3 4 5 and 9 of two known ones: begin 3 and 9, counts 3 and 1.
    first = np.repeat(begin[is_known] - np.cumsum(counts) + counts, counts)
    owner = np.repeat(np.flatnonzero(is_known), counts)
    return _Cut(starts, cut, first + np.arange(len(first)), owner)


def _with_own(part: RowPartition, above: FamilyIntervals) -> Columns:
    """Return the rows of a dataset in each table of the sources above; 0 if it has no table."""
    none = np.zeros(len(part.starts), np.int32)
    return {table: part.rows.get(table, none) for table in above.rows}


def _joined(cut: _Cut) -> FamilyIntervals:
    return FamilyIntervals(*join_runs(cut.starts, cut.columns))


def _provenance(above: Provenance, behind: Provenance, sources: int) -> Provenance:
    """Return the provenance of both; the sources behind the dataset follow those above."""
    none = np.zeros(len(behind.starts), np.uint8)
    columns = {layer: behind.sources.get(layer, none) for layer in above.sources}
    cut = _cut(behind.starts, columns, above.starts, any_known(above.sources))
    result = {}
    for layer, numbers in cut.columns.items():
        if not (numbers.any() or above.sources[layer].any()):
            result[layer] = numbers
            continue
        joined = np.where(numbers > 0, numbers + np.uint16(sources), np.uint16(0))
        decided = above.sources[layer][cut.owner]
        joined[cut.at] = np.where(decided > 0, decided, joined[cut.at])
        result[layer] = joined
    return Provenance(cut.starts, result)


class _Rows:
    """The rows of a dataset, and the rows of the sources above that it lacks."""

    def __init__(
        self, dataset: DatasetSource, tables: Mapping[str, pa.Table], schema: Schema
    ) -> None:
        self._schema, self._new = schema, dict(tables)
        # A dataset without own columns has the unknown row only.
        own = {fmt.OWN: _first_row(tables[fmt.OWN])} if fmt.OWN in tables else {}
        self._old = own | dict(dataset.batches)

    def set_locations(
        self, families: Mapping[int, FamilyIntervals], cuts: Mapping[int, _Cut]
    ) -> None:
        """Give the intervals the locations of the sources above."""
        self._link(COUNTRY, fmt.COUNTRY, _PAIR)
        self._link(ZONE, fmt.ZONE, ("zone",))
        numbers = self._extend(fmt.LOCATION, (*fmt.LINKS, "json"))
        for family, cut in cuts.items():
            rows = families[family].rows[LOCATION][cut.owner]
            cut.columns[LOCATION][cut.at] = np.where(
                rows > 0, numbers[rows], cut.columns[LOCATION][cut.at]
            )

    def set_layers(
        self, table: str, families: Mapping[int, FamilyIntervals], cuts: Mapping[int, _Cut]
    ) -> None:
        """Give the intervals rows of a table whose layers are decided one by one."""
        file = fmt.TABLES[table]
        above = [families[family].rows[table][cut.owner] for family, cut in cuts.items()]
        below = [cut.columns[table][cut.at] for cut in cuts.values()]
        pairs, first = factorize([np.append(0, np.concatenate(part)) for part in (above, below)])
        one, other = (np.append(0, np.concatenate(part))[first] for part in (above, below))
        self._new[file] = self._merged(table, one, other)
        numbers = np.where(one > 0, self._extend(file, ("json",)), other)[pairs[1:]]
        begin = 0
        for cut in cuts.values():
            cut.columns[table][cut.at] = numbers[begin : begin + len(cut.at)]
            begin += len(cut.at)

    def finish(self, cuts: Mapping[int, _Cut]) -> dict[str, pa.Table]:
        """Return the tables without the rows that nothing refers to; the cuts refer to them."""
        tables = {}
        for table in next(iter(cuts.values())).columns:
            file = fmt.TABLES[table]
            columns = [cut.columns[table] for cut in cuts.values()]
            tables[file], numbers = _without_unused(self._new.pop(file), columns)
            if numbers is not None:
                for cut in cuts.values():
                    cut.columns[table] = numbers[cut.columns[table]]
        for table, file in ((COUNTRY, fmt.COUNTRY), (ZONE, fmt.ZONE)):
            links = tables[fmt.LOCATION][table].to_numpy()
            tables[file], numbers = _without_unused(self._new[file], [links])
            if numbers is not None:
                column = pa.array(numbers[links].astype(np.uint16))
                at = tables[fmt.LOCATION].schema.get_field_index(table)
                tables[fmt.LOCATION] = tables[fmt.LOCATION].set_column(at, table, column)
        return tables

    def _link(self, table: str, file: str, key: Sequence[str]) -> None:
        """Extend a table that locations refer to, and renumber the new references."""
        numbers = self._extend(file, key)
        locations = self._new[fmt.LOCATION]
        column = pa.array(numbers[locations[table].to_numpy()].astype(np.uint16))
        at = locations.schema.get_field_index(table)
        self._new[fmt.LOCATION] = locations.set_column(at, table, column)

    def _extend(self, file: str, key: Sequence[str]) -> Codes:
        """Append the new rows of a file that it lacks; return the number of each new row.

        Rows are the same if the columns ``key`` are.
        """
        old, new = self._old[file], self._new[file]
        rows, first = _matches([old.column(name) for name in key], [new[name] for name in key])
        is_fresh = (rows < 0) & (first == np.arange(len(first)))
        numbers = rows.copy()
        numbers[is_fresh] = old.num_rows + np.arange(np.count_nonzero(is_fresh), dtype=np.int32)
        numbers = np.where(rows < 0, numbers[first], rows)
        fresh = new.filter(pa.array(is_fresh))
        columns = {
            name: _appended(old.column(name), fresh[name].combine_chunks())
            for name in old.schema.names
        }
        self._new[file] = pa.table(columns) if fresh.num_rows else pa.Table.from_batches([old])
        return numbers

    def _merged(self, table: str, above: Codes, below: Codes) -> pa.Table:
        """Return rows whose layers come from a row above, or else from a row of the dataset."""
        columns: dict[str, pa.Array] = {}
        fields, file = self._schema.in_table(table), fmt.TABLES[table]
        for layer in dict.fromkeys(field.layer for field in fields):
            names = [field.column for field in fields if field.layer == layer]
            upper = [_taken(self._new[file][name], above) for name in names]
            known = np.logical_or.reduce(
                [column.is_valid().to_numpy(zero_copy_only=False) for column in upper]
            )
            for name, column in zip(names, upper, strict=True):
                lower = _taken(self._old[file].column(name), below)
                columns[name] = pc.if_else(pa.array(known), column, lower)
        return rows_table(columns, fields)


def _first_row(table: pa.Table) -> pa.RecordBatch:
    return table.slice(0, 1).combine_chunks().to_batches()[0]


def _taken(column: pa.Array | pa.ChunkedArray, rows: Codes) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return without_dictionary(column.take(pa.array(rows)))


def _matches(old: Sequence[pa.Array], new: Sequence[pa.ChunkedArray]) -> tuple[Codes, Codes]:
    """Return for each new row the old row with the same values, else -1, and its first equal.

    Old rows are distinct. New values are few: they are hashed, and most old rows drop out at the
    last column.
    """
    last = new[-1].combine_chunks()
    is_near = pc.is_in(old[-1], value_set=last).to_numpy(zero_copy_only=False)
    near = np.flatnonzero(is_near).astype(np.int32)
    columns = []
    for of_old, of_new in zip(old, new, strict=True):
        values = of_new.combine_chunks()
        parts = pa.chunked_array([of_old.take(pa.array(near)).cast(values.type), values])
        columns.append(_codes(parts))
    codes, first = factorize(columns)
    # Rows 0 and 1 are old, 2 to 4 new: the first rows 1 2 2 of these are one old and a new one.
    at = first[codes[len(near) :]].astype(np.int32)
    is_old = at < len(near)
    rows = np.full(len(at), -1, np.int32)
    rows[is_old] = near[at[is_old]]
    return rows, np.where(is_old, np.int32(0), at - np.int32(len(near)))


def _codes(values: pa.ChunkedArray) -> Codes:
    encoded = values.dictionary_encode()
    return np.concatenate([without_nulls(part.indices, -1).to_numpy() for part in encoded.chunks])


def _appended(old: pa.Array, new: pa.Array) -> pa.Array:
    """Return the values of both; a dictionary has the narrowest indices of its values."""
    if not pa.types.is_dictionary(old.type):
        return pa.concat_arrays([old, new.cast(old.type)])
    if not pa.types.is_dictionary(new.type):
        new = new.dictionary_encode()
    places = pc.index_in(new.dictionary, value_set=old.dictionary)
    is_fresh = places.is_null()
    numbers = without_nulls(places, -1).to_numpy().copy()
    fresh = np.asarray(is_fresh.to_numpy(zero_copy_only=False))
    numbers[fresh] = len(old.dictionary) + np.arange(np.count_nonzero(fresh))
    values = pa.concat_arrays([old.dictionary, new.dictionary.filter(is_fresh)])
    kind = narrowest(len(values))
    indices = pa.array(numbers, pa.int32()).take(new.indices)
    parts = [old.indices.cast(kind), indices.cast(kind)]
    return pa.DictionaryArray.from_arrays(pa.concat_arrays(parts), values)


def _without_unused(
    table: pa.Table, references: Sequence[NDArray[np.integer]]
) -> tuple[pa.Table, Codes | None]:
    """Return a table without rows that nothing refers to, and the new number of each row.

    The last rows take the numbers of rows that are gone; the others keep theirs. None: all rows
    are in use.
    """
    is_used = np.zeros(table.num_rows, bool)
    is_used[0] = True
    for rows in references:
        is_used[rows] = True
    if is_used.all():
        return table, None
    # Of rows 0 to 4, 1 is gone: 4 takes its number, so the rows in order are 0 4 2 3.
    size = np.count_nonzero(is_used)
    gone = np.flatnonzero(~is_used[:size])
    rows = np.arange(size)
    rows[gone] = size + np.flatnonzero(is_used[size:])
    numbers = np.zeros(table.num_rows, np.int32)
    numbers[rows] = np.arange(size)
    return table.take(pa.array(rows)), numbers
