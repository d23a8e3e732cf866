"""Gives rows, and the values of dictionaries, the numbers that they have in the base.

A row is the base's if all its values are; of a location that includes country and time zone. A
country is known by its codes, as other facts of it may change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

import pyarrow as pa

from geolookup.contract.fields import LOCATION, NETWORK, in_table
from geolookup.dataset import layout as fmt
from geolookup.parallel import alongside
from geolookup_builder.base import Base
from geolookup_builder.complete import Located
from geolookup_builder.factorize import Codes
from geolookup_builder.intern import FamilyIntervals, Interned
from geolookup_builder.numbering import inverse, kept, matches, reencoded
from geolookup_builder.successors import with_successors

_Row = TypeVar("_Row")
_COUNTRY = ("country_code", "continent_code")


def as_in_base(interned: Interned, base: Base) -> Interned:
    """Return the same content, with the row numbers of the base."""
    if not base.batches:
        return interned
    with alongside(partial(_networks, interned, base), interned.intervals) as of_networks:
        location, located = _locations(interned, base)
        network, networks = of_networks()
    families = {
        family: FamilyIntervals(each.starts, location[each.location], network[each.network])
        for family, each in interned.families.items()
    }
    return Interned(families, located, networks, interned.provenance)


def with_dictionaries(tables: Mapping[str, pa.Table], base: Base) -> dict[str, pa.Table]:
    """Return the same tables, by file name, with the dictionaries in the order of the base."""
    return {name: _reencoded(table, base.dictionaries(name)) for name, table in tables.items()}


def _reencoded(table: pa.Table, dictionaries: Mapping[str, pa.Array]) -> pa.Table:
    for name in table.column_names:
        if name in dictionaries:
            column = reencoded(table[name].combine_chunks(), dictionaries[name])
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _networks(interned: Interned, base: Base) -> tuple[Codes, pa.Table]:
    """Return the number of each row, and the rows in that order."""
    names = [each.column for each in in_table(NETWORK)]
    rows = [interned.networks[name].combine_chunks() for name in names]
    known = matches(base.columns(fmt.NETWORK, *names), rows)
    intervals = [(each.starts, each.network) for each in interned.families.values()]
    numbers = kept(with_successors(known, "network", intervals, base))
    return numbers, interned.networks.take(inverse(numbers))


def _locations(interned: Interned, base: Base) -> tuple[Codes, Located]:
    located = interned.located
    country = matches(base.columns(fmt.COUNTRY, *_COUNTRY), _pairs(located.countries))
    zone = matches(base.columns(fmt.ZONE, "zone"), [pa.array(located.zones, pa.string())])
    known = _known_locations(located, country, zone, base)
    intervals = [(each.starts, each.location) for each in interned.families.values()]
    numbers = kept(with_successors(known, "location", intervals, base))
    renumbered = _with_tables(located, kept(country), kept(zone))
    return numbers, renumbered.take(inverse(numbers))


def _known_locations(located: Located, country: Codes, zone: Codes, base: Base) -> Codes:
    """Return the number of each location in the base, given those of its country and zone."""
    names = [each.column for each in in_table(LOCATION)]
    links = [pa.array(country[located.country]), pa.array(zone[located.zone])]
    rows = links + [located.tuples.values(name) for name in names]
    stated = base.columns(fmt.LOCATION, *fmt.LINKS, *names)
    return matches([each.cast(to.type) for each, to in zip(stated, rows, strict=True)], rows)


def _pairs(countries: Sequence[tuple[str | None, str | None]]) -> list[pa.Array]:
    return [pa.array(codes, pa.string()) for codes in zip(*countries, strict=True)]


def _with_tables(located: Located, country: Codes, zone: Codes) -> Located:
    """Return the locations with new numbers of the rows of the country and zone tables."""
    return Located(
        country[located.country],
        zone[located.zone],
        located.tuples,
        _ordered(located.countries, country),
        _ordered(located.zones, zone),
    )


def _ordered(rows: Sequence[_Row], numbers: Codes) -> list[_Row]:
    return [rows[at] for at in inverse(numbers).tolist()]
