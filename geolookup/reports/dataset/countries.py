"""The section on countries: how much of each is known, and to which depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import F64, I64, UNITS
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import NO_COUNTRY, countries, with_region_and_city
from geolookup.reports.section import Section, Table, counts_to_hide, pairs_section

#: So many countries have a bar.
_SHOWN = 20
_NOTE = (
    "Share: of all known addresses. Region and city: the share of the "
    "country's addresses whose answer names one. An interval is a range of addresses with one "
    "answer. IPv6 is counted in /64 networks."
)


@dataclass(frozen=True, slots=True)
class Countries:
    """Sums by place in ``row_names.countries``; arrays of shape (places,)."""

    space: F64
    intervals: I64
    with_region: F64  # space
    with_city: F64


def countries_section(facts: Facts) -> Section:
    """Return bars and tables of addresses and intervals per country, by family."""
    names, _ = countries(facts.tables[COUNTRY])
    by_family = {space.family: per_country(facts, space) for space in facts.space.values()}
    pairs = [
        (_chart(family, names, of_country), _table(family, names, of_country))
        for family, of_country in by_family.items()
    ]
    return pairs_section("countries", "Countries", _NOTE, pairs)


def per_country(facts: Facts, space: KnownSpace) -> Countries:
    """Return how much of each country is known, in one family."""
    locations = facts.tables[LOCATION]
    names, places = countries(facts.tables[COUNTRY])
    country = places[locations[COUNTRY].to_numpy()]
    region, city = with_region_and_city(locations)

    def total(weights: F64) -> F64:
        return np.bincount(country, weights, len(names)).astype(np.float64)

    size = space.locations.space
    intervals = total(space.locations.intervals.astype(np.float64)).astype(np.int64)
    return Countries(total(size), intervals, total(size * region), total(size * city))


def _order(space: F64) -> Sequence[int]:
    """Return the known places, the largest first."""
    order: list[int] = np.argsort(-space, kind="stable").tolist()
    return [row for row in order if space[row]]


def _chart(family: int, names: Sequence[str], sums: Countries) -> Chart:
    of = sums.space.sum()
    largest = _order(sums.space)[:_SHOWN]
    values = [(names[row], sums.space[row] / of) for row in largest]
    known = sum(
        sums.space[row] for row in _order(sums.space) if not names[row].endswith(NO_COUNTRY)
    )
    stated = f", {wording.percent(known / of)} have a country" if of else ""
    title = f"Countries by IPv{family} {UNITS[family]}{stated}"
    head = f"share of known {UNITS[family]}"
    return bars(f"countries-ipv{family}", title, head, values, form=wording.percent, head="country")


def _table(family: int, names: Sequence[str], sums: Countries) -> Table:
    head = ("Country", UNITS[family], "share", "intervals", "region", "city")
    rows = list(_rows(names, sums))
    hidden = counts_to_hide(family, 1)
    return Table(f"IPv{family} per country", head, rows, saved_only=hidden)


def _rows(names: Sequence[str], sums: Countries) -> Iterator[tuple[str, ...]]:
    of = sums.space.sum()
    for row in _order(sums.space):
        space = float(sums.space[row])
        yield (
            wording.name(names[row]),
            wording.count(space),
            wording.percent(space / of),
            wording.count(int(sums.intervals[row])),
            wording.percent(float(sums.with_region[row]) / space),
            wording.percent(float(sums.with_city[row]) / space),
        )
