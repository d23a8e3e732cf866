"""A short cut for a dataset below all other sources: its rows and their texts stay as they are.

Only the space of the sources above is compiled, with the layers of the dataset that one row has
together with theirs. Those intervals are cut into the dataset's::

    dataset    |0  5        |20  7         |50  8
    above             |10 (9)   |30
    result     |0  5  |10 9     |30  7     |50  8

New rows follow those of the dataset; rows that no interval uses any more are dropped. The answers,
the provenance and the coverage are the same as of a build of all intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import Codes, factorize, join_runs
from geolookup_builder.columns import Columns as BuildColumns
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.flatten import Intervals, flatten
from geolookup_builder.intern import FamilyIntervals, InternedContent
from geolookup_builder.layers import LayerPartition, Provenance, insert
from geolookup_builder.rows import Rows
from geolookup_builder.tables import interval_tables, narrowest

Columns = dict[str, NDArray[Any]]
#: The columns that tell rows apart, by table; of the others, their texts.
_KEYS = {
    COUNTRY: ("country_code", "continent_code"),
    ZONE: ("zone",),
    LOCATION: (*fmt.LINKS, "json"),
}


def fields_beside(schema: Schema) -> frozenset[str]:
    """Return the fields whose layers share a row with others: those of no location."""
    return frozenset(
        name for name, field in schema.by_source_column.items() if field.layer != LOCATION
    )


def intervals_beside(above: LayerPartition, dataset: FamilyIntervals) -> Intervals:
    """Return the intervals of a dataset that the sources above have a part of."""
    known = np.flatnonzero(any_known(above.numbers))
    begin, last = (dataset.starts.search(ends) - 1 for ends in _ends(above.starts, known))
    # The intervals 3 to 5 and 5 to 6: 3 4 5, and 6.
    begin = np.maximum(begin, np.append(-1, last[:-1]) + 1)
    at = _spread(begin, last + 1 - begin)[1]
    beside = flatten(Rows(*_ends(dataset.starts, at), at), dataset.starts.family)
    return Intervals(beside.starts, np.append(at, -1)[beside.owner])


def _ends(starts: Addresses, at: I64) -> tuple[Addresses, Addresses]:
    """Return the first and last addresses of some intervals."""
    return starts[at], starts[(at + 1) % len(starts)].predecessor()


def put_in(
    above: InternedContent,
    tables: Mapping[str, pa.Table],
    dataset: DatasetSource,
    sources: int,
    of_build: BuildColumns,
) -> tuple[dict[str, pa.Table], dict[int, Provenance]]:
    """Return the tables of ``above`` over a dataset, and the provenance by family.

    ``tables`` are the tables of ``above`` by themselves, and ``sources`` is the number of sources
    above; in the provenance the sources behind the dataset follow them.
    """
    cuts = {
        family: _cut(part.starts, _of_tables(part, top), top.starts, any_known(top.rows))
        for family, top in above.families.items()
        for part in [dataset.families[family]]
    }
    dataset.tables.release()
    content = dict(tables)
    for table in fmt.LINKS:
        _relink(content, table, _extend(content, dataset, table))
    for table in above.families[4].rows:
        numbers = _extend(content, dataset, table)
        for family, cut in cuts.items():
            rows, before = above.families[family].rows[table][cut.owner], cut.columns[table]
            before[cut.at] = np.where(rows > 0, numbers[rows], before[cut.at])
        used = _drop_unused(content, table, [cut.columns[table] for cut in cuts.values()])
        if used is not None:
            for cut in cuts.values():
                cut.columns[table] = used[cut.columns[table]]
    for table in fmt.LINKS:
        used = _drop_unused(content, table, [content[fmt.LOCATION][table].to_numpy()])
        if used is not None:
            _relink(content, table, used)
    dataset.tables.release()
    # Popped: each step releases the arrays of the one before.
    families = {
        family: FamilyIntervals(*join_runs(cut.starts, cut.columns))
        for family, cut in ((family, cuts.pop(family)) for family in (4, 6))
    }
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
    number, at = _spread(begin[is_known], np.diff(begin, append=len(starts))[is_known])
    return _Cut(starts, cut, at, np.flatnonzero(is_known)[number])


def _spread(begin: I64, counts: I64) -> tuple[I64, I64]:
    """Return for each item of runs the number of its run, and its place.

    The runs 3 4 5 and 9, that begin at 3 and 9, are of the numbers 0 0 0 and 1.
    """
    first = np.repeat(begin - np.cumsum(counts) + counts, counts)
    return np.repeat(np.arange(len(begin)), counts), first + np.arange(len(first))


def _of_tables(part: FamilyIntervals, above: FamilyIntervals) -> Columns:
    """Return the rows of a dataset in each table of the sources above; 0 if it has no table."""
    none = np.zeros(len(part.starts), np.int32)
    return {table: part.rows.get(table, none) for table in above.rows}


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
        # The number after the sources above is the dataset's.
        is_above = (decided > 0) & (decided <= sources)
        joined[cut.at] = np.where(is_above, decided, joined[cut.at])
        result[layer] = joined
    return Provenance(cut.starts, result)


def _extend(content: dict[str, pa.Table], dataset: DatasetSource, table: str) -> Codes:
    """Let the new rows of a table follow the dataset's; return the number of each new row."""
    file = fmt.TABLES[table]
    new = content[file]
    # A dataset without own columns has the unknown row only.
    old = pa.Table.from_batches([dataset.batches[file]]) if file in dataset.batches else new[:1]
    codes = [_codes([old[name], new[name]]) for name in _KEYS.get(table, ("json",))]
    # Old rows are distinct and come first: they keep their numbers.
    numbers, first = factorize(codes)
    fresh = pa.array(first[old.num_rows :] - old.num_rows)
    content[file] = old
    if len(fresh):
        columns = {name: _joined([old[name], new[name].take(fresh)]) for name in old.column_names}
        content[file] = pa.table(columns)
    return numbers[old.num_rows :]


def _joined(parts: Sequence[pa.ChunkedArray]) -> pa.Array:
    """Return the values of both; a dictionary has the narrowest indices of its values."""
    one, other = (part.combine_chunks() for part in parts)
    if not pa.types.is_dictionary(one.type):
        return pa.concat_arrays([one, other.cast(one.type)])
    both = pa.concat_arrays(
        [part.cast(pa.dictionary(pa.int32(), part.type.value_type)) for part in (one, other)]
    )
    indices = both.indices.cast(narrowest(len(both.dictionary)))
    return pa.DictionaryArray.from_arrays(indices, both.dictionary)


def _codes(parts: Sequence[pa.ChunkedArray]) -> Codes:
    encoded = _joined(parts)
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    codes: Codes = without_nulls(encoded.indices, -1).to_numpy()
    return codes


def _relink(content: dict[str, pa.Table], table: str, numbers: Codes) -> None:
    """Renumber the rows of a table that locations refer to."""
    locations = content[fmt.LOCATION]
    column = pa.array(numbers[locations[table].to_numpy()].astype(np.uint16))
    at = locations.schema.get_field_index(table)
    content[fmt.LOCATION] = locations.set_column(at, table, column)


def _drop_unused(
    content: dict[str, pa.Table], table: str, references: Sequence[NDArray[np.integer]]
) -> Codes | None:
    """Drop the rows of a table that nothing refers to; return the new numbers of the others."""
    rows = content[fmt.TABLES[table]]
    is_used = np.zeros(rows.num_rows, bool)
    is_used[0] = True
    for of_interval in references:
        is_used[of_interval] = True
    if is_used.all():
        return None
    content[fmt.TABLES[table]] = rows.filter(pa.array(is_used))
    # Of rows 0 to 3, 1 is gone: the numbers 0 0 1 2.
    numbers: Codes = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return numbers
