"""How pages name the rows of a dataset's tables: countries, levels of location, AS."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import F64, I64
from geolookup.dataset.runs import Codes, distinct, factorize

NO_COUNTRY = "no country"
#: The finest value that a location has, from the finest on; the rest is unknown.
LEVELS = ("city", "region", "country", NO_COUNTRY)


def countries(table: pa.Table) -> tuple[list[str], I64]:
    """Return the names of the countries, and for each row of the table the place of its country.

    Rows with the same code are one country: sources may state different facts of it, such as its
    continent. Those without a code are one by continent. Place 0 belongs to row 0.
    """
    columns = ("country_code", "country_name", "continent_name")
    names: dict[tuple[str | None, str | None], str] = {}
    keys = []
    for code, name, continent in zip(*(table[it].to_pylist() for it in columns), strict=True):
        keys.append((code, None if code else continent))
        names.setdefault(keys[-1], _country_name(name, code, continent))
    places = {key: index for index, key in enumerate(names)}
    return list(names.values()), np.array([places[key] for key in keys])


def _country_name(name: str | None, code: str | None, continent: str | None) -> str:
    if code:
        return f"{name or 'unnamed'} ({code})"
    return f"{continent}, {NO_COUNTRY}" if continent else NO_COUNTRY


def finest_levels(tables: Mapping[str, pa.Table]) -> I64:
    """Return the position in ``LEVELS`` of each location row, shape (rows,).

    Row 0 ("unknown") has the last one.
    """
    locations = tables[LOCATION]
    region = pc.or_(locations["region_code"].is_valid(), locations["region_name"].is_valid())
    country = np.asarray(tables[COUNTRY]["country_code"].is_valid())
    has_country = country[locations[COUNTRY].to_numpy()]
    # The first condition that holds: a location with a city is 0, whatever else it has.
    conditions = [np.asarray(locations["city_name"].is_valid()), np.asarray(region), has_country]
    return np.select(conditions, [0, 1, 2], 3).astype(np.int64)


def systems(networks: pa.Table) -> tuple[I64, Codes]:
    """Return the numbers of the AS, and for each network row the place of its AS.

    Place 0 has the reserved number 0 (RFC 7607): the rows without an AS, such as row 0.
    """
    asn = networks["asn"].combine_chunks().fill_null(0).to_numpy().astype(np.int64)
    places, first = factorize([asn])
    return asn[first], places


def system_names(networks: pa.Table, places: Codes, weights: F64) -> list[str]:
    """Return the organization of each AS: the one with most weight, or nothing if none has one.

    ``places`` are those that ``systems`` returns, ``weights`` have their shape, (rows,).
    """
    column = networks["asn_organization"].cast(pa.string()).combine_chunks().dictionary_encode()
    texts, rows = column.dictionary.to_pylist(), np.flatnonzero(column.is_valid())
    numbers = column.indices.take(pa.array(rows)).to_numpy()
    pairs = distinct([places[rows], numbers], weights[rows])
    names = [""] * (int(places.max(initial=0)) + 1)
    # The last one of a place stays: that with most weight.
    ascending = np.argsort(pairs.weight, kind="stable")
    for place, number in zip(*(of[ascending].tolist() for of in pairs.columns), strict=True):
        names[place] = texts[number]
    return names
