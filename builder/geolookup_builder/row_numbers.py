"""Gives rows, and the values of dictionaries, the numbers that they have in the base of a build.

The base is an earlier dataset. What it has keeps its number, so columns of these numbers keep
their bytes where the answers are the same, and a delta of two generations is small. A row is the
base's if all its values are; of a location that includes country and time zone. A country is
known by its codes, as other facts of it may change. New rows take the numbers that are left::

    base      0 unknown   1 Paris   2 Lyon   3 Nice
    build     Lyon, Lille, Paris, unknown
    numbers   2     3      1      0          Nice is gone: its number is free for Lille

Without a base, the numbers are in the order that the caller gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import LOCATION, NETWORK, in_table
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import I64
from geolookup.parallel import alongside
from geolookup_builder.base_dataset import Base, with_successors
from geolookup_builder.complete import Locations
from geolookup_builder.factorize import Codes, factorize
from geolookup_builder.intern import FamilyIntervals, Interned


def matches(base: Sequence[pa.Array], rows: Sequence[pa.Array]) -> Codes:
    """Return the number in the base of each row; -1: the base does not have the row.

    Both are given by columns, of the same types. The rows are distinct. Of rows of the base that
    are equal, the first counts.
    """
    size = len(base[0])
    if not size:
        return np.full(len(rows[0]), -1, np.int32)
    columns = [_codes(*pair) for pair in zip(base, rows, strict=True)]
    codes, first = factorize(columns)
    # The base comes first in ``columns``: its rows appear first at an index below ``size``.
    numbers = first[codes[size:]].astype(np.int32)
    return np.where(numbers < size, numbers, np.int32(-1))


def _codes(base: pa.Array, rows: pa.Array) -> Codes:
    """Return a code for each value of both columns, the base before the rows; -1 for null."""
    encoded = pa.chunked_array([base, rows]).dictionary_encode()  # one dictionary for both
    parts = (part.indices.fill_null(-1) for part in encoded.chunks)
    return np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])


def numbering(base: Codes) -> Codes:
    """Return a number for each of n rows, from 0 to n - 1.

    ``base`` are their numbers in the base, or -1; the rows are in order of preference. Rows keep
    their number where it is below n. The others take the numbers that are left, in their order.
    So a row of the base that is gone leaves no gap: a new row takes its number, or else a row of
    the end of the table.
    """
    numbers = np.where(base < len(base), base, np.int32(-1))
    keep = numbers >= 0
    free = np.ones(len(numbers), bool)
    free[numbers[keep]] = False
    # Base numbers 7 1 -1 of three rows: 7 is not below 3. 1 keeps its number: 0 1 2.
    numbers[~keep] = np.flatnonzero(free)
    return numbers


def inverse(numbers: Codes) -> I64:
    """Return the row that has each number."""
    # numbers 2 0 1 -> rows 1 2 0
    rows = np.empty(len(numbers), np.int64)
    rows[numbers] = np.arange(len(numbers))
    return rows


def reencode(column: pa.DictionaryArray, base: pa.Array) -> pa.DictionaryArray:
    """Return a column with its dictionary reordered: values of ``base`` keep their index there."""
    base_indices = pc.index_in(column.dictionary, base).fill_null(-1)
    # Dictionary [b c a] over base [a b]: numbers 1 2 0, so the new dictionary is [a b c].
    numbers = numbering(np.asarray(base_indices.to_numpy(zero_copy_only=False), np.int32))
    indices = pa.array(numbers).take(column.indices).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.take(inverse(numbers)))


_Row = TypeVar("_Row")
_COUNTRY = ("country_code", "continent_code")


def as_in_base(interned: Interned, base: Base) -> Interned:
    """Return the same content, with the row numbers of the base."""
    if not base.batches:
        return interned
    with alongside(partial(_networks, interned, base), interned.intervals) as get_networks:
        location, locations = _locations(interned, base)
        network, networks = get_networks()
    families = {
        family: FamilyIntervals(
            intervals.starts, location[intervals.location], network[intervals.network]
        )
        for family, intervals in interned.families.items()
    }
    return Interned(families, locations, networks, interned.provenance)


def with_dictionaries(tables: Mapping[str, pa.Table], base: Base) -> dict[str, pa.Table]:
    """Return the same tables, by file name, with the dictionaries in the order of the base."""
    return {name: _reencode(table, base.dictionaries(name)) for name, table in tables.items()}


def _reencode(table: pa.Table, dictionaries: Mapping[str, pa.Array]) -> pa.Table:
    for name in table.column_names:
        if name in dictionaries:
            column = reencode(table[name].combine_chunks(), dictionaries[name])
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _networks(interned: Interned, base: Base) -> tuple[Codes, pa.Table]:
    """Return the number of each row, and the rows in that order."""
    names = [field.column for field in in_table(NETWORK)]
    rows = [interned.networks[name].combine_chunks() for name in names]
    base_rows = matches(base.columns(fmt.NETWORK, *names), rows)
    intervals = [(family.starts, family.network) for family in interned.families.values()]
    numbers = numbering(with_successors(base_rows, "network", intervals, base))
    return numbers, interned.networks.take(inverse(numbers))


def _locations(interned: Interned, base: Base) -> tuple[Codes, Locations]:
    locations = interned.locations
    country = matches(base.columns(fmt.COUNTRY, *_COUNTRY), _pairs(locations.countries))
    zone = matches(base.columns(fmt.ZONE, "zone"), [pa.array(locations.zones, pa.string())])
    base_rows = _locations_in_base(locations, country, zone, base)
    intervals = [(family.starts, family.location) for family in interned.families.values()]
    numbers = numbering(with_successors(base_rows, "location", intervals, base))
    locations = _with_tables(locations, numbering(country), numbering(zone))
    return numbers, locations.take(inverse(numbers))


def _locations_in_base(locations: Locations, country: Codes, zone: Codes, base: Base) -> Codes:
    """Return the number of each location in the base, given those of its country and zone."""
    names = [field.column for field in in_table(LOCATION)]
    links = [pa.array(country[locations.country]), pa.array(zone[locations.zone])]
    rows = links + [locations.tuples.values(name) for name in names]
    columns = base.columns(fmt.LOCATION, *fmt.LINKS, *names)
    return matches([column.cast(to.type) for column, to in zip(columns, rows, strict=True)], rows)


def _pairs(countries: Sequence[tuple[str | None, str | None]]) -> list[pa.Array]:
    return [pa.array(codes, pa.string()) for codes in zip(*countries, strict=True)]


def _with_tables(locations: Locations, country: Codes, zone: Codes) -> Locations:
    """Return the locations with new numbers of the rows of the country and zone tables."""
    return Locations(
        country[locations.country],
        zone[locations.zone],
        locations.tuples,
        _order(locations.countries, country),
        _order(locations.zones, zone),
    )


def _order(rows: Sequence[_Row], numbers: Codes) -> list[_Row]:
    return [rows[at] for at in inverse(numbers).tolist()]
