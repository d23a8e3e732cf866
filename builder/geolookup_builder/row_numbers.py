"""Gives rows, and the values of dictionaries, the numbers that they have in the previous dataset.

So columns of these numbers keep their bytes if the answers are the same, and a delta of two
generations is small. A row is the same if all its values are; for a location, with country and time
zone. A country is known by its codes: other facts of it can change. New rows take the numbers that
are left::

    previous  0 unknown   1 Paris   2 Lyon   3 Nice
    build     Lyon, Lille, Paris, unknown
    numbers   2     3      1      0          Nice is gone: its number is free for Lille

Without a previous dataset, the numbers are in the order that the caller gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import LOCATION, NETWORK, OWN, in_table
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import I64
from geolookup.parallel import alongside
from geolookup_builder.columns import Columns
from geolookup_builder.complete import Locations
from geolookup_builder.factorize import Codes, factorize
from geolookup_builder.intern import InternedContent, renumbered
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.previous_dataset import Previous, with_successors


def matches(previous: Sequence[pa.Array], rows: Sequence[pa.Array]) -> Codes:
    """Return the number in ``previous`` of each row; -1: a new row.

    Both are columns of the same types. The rows are distinct. Of equal rows of ``previous`` the
    first counts.
    """
    size = len(previous[0])
    if not size:
        return np.full(len(rows[0]), -1, np.int32)
    columns = [_codes(*pair) for pair in zip(previous, rows, strict=True)]
    codes, first = factorize(columns)
    # The previous rows come first in ``columns``: they appear first at an index below ``size``.
    numbers = first[codes[size:]].astype(np.int32)
    return np.where(numbers < size, numbers, np.int32(-1))


def _codes(previous: pa.Array, rows: pa.Array) -> Codes:
    """Return a code for each value of both columns, the previous ones first; -1 for null."""
    encoded = pa.chunked_array([previous, rows]).dictionary_encode()  # one dictionary for both
    parts = (part.indices.fill_null(-1) for part in encoded.chunks)
    return np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])


def numbering(previous: Codes) -> Codes:
    """Return a number for each of n rows, from 0 to n - 1.

    ``previous`` are their former numbers, or -1; the rows are in order of preference. Rows keep
    their number where it is below n. The others take the numbers that are left, in their order.
    So a former row that is gone leaves no gap: a new row takes its number, or else a row of
    the end of the table.
    """
    numbers = np.where(previous < len(previous), previous, np.int32(-1))
    keep = numbers >= 0
    free = np.ones(len(numbers), bool)
    free[numbers[keep]] = False
    # Previous numbers 7 1 -1 of three rows: 7 is not below 3. 1 keeps its number: 0 1 2.
    numbers[~keep] = np.flatnonzero(free)
    return numbers


def inverse(numbers: Codes) -> I64:
    """Return the row that has each number."""
    # numbers 2 0 1 -> rows 1 2 0
    rows = np.empty(len(numbers), np.int64)
    rows[numbers] = np.arange(len(numbers))
    return rows


def reencode(column: pa.DictionaryArray, previous: pa.Array) -> pa.DictionaryArray:
    """Return a column with its dictionary reordered: values of ``previous`` keep their index."""
    previous_indices = pc.index_in(column.dictionary, previous).fill_null(-1)
    # Dictionary [b c a] over previous [a b]: numbers 1 2 0, so the new dictionary is [a b c].
    numbers = numbering(np.asarray(previous_indices.to_numpy(zero_copy_only=False), np.int32))
    indices = pa.array(numbers).take(column.indices).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.take(inverse(numbers)))


_Row = TypeVar("_Row")
_COUNTRY = ("country_code", "continent_code")


def as_in_previous(
    interned: InternedContent, previous: Previous, columns: Columns
) -> InternedContent:
    """Return the same content, with the row numbers of the previous dataset."""
    if not previous.batches:
        return interned
    with alongside(partial(_networks, interned, previous), interned.intervals) as get_networks:
        location, locations = _locations(interned, previous)
        network, networks = get_networks()
    numbers, own_rows = {LOCATION: location, NETWORK: network}, interned.own_rows
    if own_rows is not None:
        numbers[OWN] = _own_numbers(own_rows, interned, previous)
        own_rows = own_rows.take(inverse(numbers[OWN]))
    families = renumbered(interned.families, numbers, columns)
    return InternedContent(families, locations, networks, own_rows, interned.provenance)


def with_dictionaries(tables: Mapping[str, pa.Table], previous: Previous) -> dict[str, pa.Table]:
    """Return the same tables, by file name, with the dictionaries in the former order."""
    return {name: _reencode(table, previous.dictionaries(name)) for name, table in tables.items()}


def _reencode(table: pa.Table, dictionaries: Mapping[str, pa.Array]) -> pa.Table:
    for name in table.column_names:
        if name in dictionaries and pa.types.is_dictionary(table[name].type):
            column = reencode(table[name].combine_chunks(), dictionaries[name])
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _networks(interned: InternedContent, previous: Previous) -> tuple[Codes, pa.Table]:
    """Return the number of each row, and the rows in that order."""
    names = [field.column for field in in_table(NETWORK)]
    rows = [interned.networks[name].combine_chunks() for name in names]
    previous_rows = matches(previous.columns(fmt.NETWORK, *names), rows)
    numbers = numbering(_with_successors(previous_rows, NETWORK, interned, previous))
    return numbers, interned.networks.take(inverse(numbers))


def _own_numbers(own_rows: pa.Table, interned: InternedContent, previous: Previous) -> Codes:
    """Return the number of each row of own columns; rows of other columns are all new."""
    if fmt.OWN not in previous.batches:
        return np.arange(own_rows.num_rows, dtype=np.int32)
    columns = previous.own_columns()
    previous_rows = np.full(own_rows.num_rows, -1, np.int32)
    previous_rows[UNKNOWN] = UNKNOWN
    if [*columns] == own_rows.column_names:
        rows = [column.combine_chunks() for column in own_rows.columns]
        if all(one.type == other.type for one, other in zip(columns.values(), rows, strict=True)):
            previous_rows = matches([*columns.values()], rows)
    return numbering(_with_successors(previous_rows, OWN, interned, previous))


def _with_successors(
    previous_rows: Codes, table: str, interned: InternedContent, previous: Previous
) -> Codes:
    intervals = [(family.starts, family.rows[table]) for family in interned.families.values()]
    return with_successors(previous_rows, table, intervals, previous)


def _locations(interned: InternedContent, previous: Previous) -> tuple[Codes, Locations]:
    locations = interned.locations
    country = matches(previous.columns(fmt.COUNTRY, *_COUNTRY), _pairs(locations.countries))
    zone = matches(previous.columns(fmt.ZONE, "zone"), [pa.array(locations.zones, pa.string())])
    previous_rows = _locations_in_previous(locations, country, zone, previous)
    numbers = numbering(_with_successors(previous_rows, LOCATION, interned, previous))
    locations = _with_tables(locations, numbering(country), numbering(zone))
    return numbers, locations.take(inverse(numbers))


def _locations_in_previous(
    locations: Locations, country: Codes, zone: Codes, previous: Previous
) -> Codes:
    """Return the former number of each location, from the numbers of its country and zone."""
    names = [field.column for field in in_table(LOCATION)]
    links = [pa.array(country[locations.country]), pa.array(zone[locations.zone])]
    rows = links + [locations.tuples.values(name) for name in names]
    columns = previous.columns(fmt.LOCATION, *fmt.LINKS, *names)
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
