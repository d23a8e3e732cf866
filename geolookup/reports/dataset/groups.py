"""The section on countries and networks: how much of the known space each has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK
from geolookup.dataset.intervals import F64, I64, UNITS
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import (
    NO_COUNTRY,
    countries,
    system_names,
    systems,
    with_region_and_city,
)
from geolookup.reports.section import Section, charts_section, ranking

#: So many networks have a row in the table of their values.
_NETWORKS = 100
_NOTE = "Shares of all known addresses. IPv6 is counted in /64 networks."
_METHOD = (
    "The values of a country have the share of its addresses whose answer names a region, and of "
    "those whose answer names a city. A network is an AS, by the name that most of its addresses "
    f"have; the values list the {_NETWORKS} largest."
)


def groups_section(facts: Facts) -> Section:
    """Return bars of addresses per country and per AS, by family."""
    of_family = [_countries, _networks]
    charts = [chart(facts, space) for chart in of_family for space in facts.space.values()]
    return charts_section("groups", "Countries and networks", _NOTE, charts, method=_METHOD)


def _countries(facts: Facts, space: KnownSpace) -> Chart:
    names, of_row = countries(facts.tables[COUNTRY])
    locations = facts.tables[LOCATION]
    country = of_row[locations[COUNTRY].to_numpy()]
    sums, with_region, with_city = (
        np.bincount(country, space.locations * mask, len(names))
        for mask in (True, *with_region_and_city(locations))
    )
    rows = [
        (
            names[at],
            weight,
            wording.percent(with_region[at] / weight),
            wording.percent(with_city[at] / weight),
        )
        for at, weight in _largest(sums)
    ]
    known = sum(weight for name, weight, *_ in rows if not name.endswith(NO_COUNTRY))
    title = _title(space, known, "a country")
    heads = ("country", *_units(space), "with a region", "with a city")
    return ranking(f"countries-ipv{space.family}", title, heads, rows, space.space)


def _networks(facts: Facts, space: KnownSpace) -> Chart:
    networks = facts.tables[NETWORK]
    numbers, of_row = systems(networks)
    names = system_names(networks, of_row, space.networks)
    # Number 0 stands for the rows without an AS.
    sums = np.bincount(of_row, space.networks, len(numbers)) * (numbers > 0)
    rows = [(f"AS{numbers[at]} {names[at]}".rstrip(), weight) for at, weight in _largest(sums)]
    title = _title(space, float(sums.sum()), "an AS")
    heads = ("AS", *_units(space))
    return ranking(f"networks-ipv{space.family}", title, heads, rows[:_NETWORKS], space.space)


def _largest(sums: F64 | I64) -> Iterator[tuple[int, float]]:
    """Yield the positions of the sums above 0 and the sums, the largest first."""
    order = np.argsort(-sums, kind="stable")
    return ((at, float(sums[at])) for at in order[sums[order] > 0].tolist())


def _title(space: KnownSpace, known: float, what: str) -> str:
    return f"IPv{space.family}: {wording.percent(known / (space.space or 1))} have {what}"


def _units(space: KnownSpace) -> tuple[str, str]:
    return UNITS[space.family], f"share of known {UNITS[space.family]}"
