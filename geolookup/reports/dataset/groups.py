"""The sections on countries and on networks: how much of the known space each has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK
from geolookup.dataset.intervals import UNITS
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import (
    NO_COUNTRY,
    countries,
    system_names,
    systems,
    with_region_and_city,
)
from geolookup.reports.section import Section, Table, charts_section

#: So many groups have a bar, and so many networks a row.
_BARS, _NETWORKS = 12, 100
_SHARES = "Shares are of all known addresses. IPv6 is counted in /64 networks."
_COUNTRIES_NOTE = (
    f"{_SHARES} Region and city: the share of the country's addresses whose answer names one."
)


@dataclass(frozen=True, slots=True)
class _Group:
    """A country or a network, with its part of the known space of a family."""

    name: str
    space: float
    share: float
    cells: tuple[str, ...] = ()  # more columns of its row


def countries_section(facts: Facts) -> Section:
    """Return bars and tables of addresses per country, by family."""
    parts: list[Chart | Table] = []
    for family, space in facts.space.items():
        groups = list(_countries(facts, space))
        known = sum(group.share for group in groups if not group.name.endswith(NO_COUNTRY))
        title = f"IPv{family}: {wording.percent(known)} have a country"
        parts.append(_chart("countries", "country", family, title, groups))
        caption = f"IPv{family} {UNITS[family]} by country"
        parts.append(_table(caption, ("Country", "region", "city"), family, groups))
    return charts_section("countries", "Countries", _COUNTRIES_NOTE, parts)


def _countries(facts: Facts, space: KnownSpace) -> Iterable[_Group]:
    locations = facts.tables[LOCATION]
    names, places = countries(facts.tables[COUNTRY])
    country = places[locations[COUNTRY].to_numpy()]
    sums, *of_named = (
        np.bincount(country, space.locations * mask, len(names))
        for mask in (True, *with_region_and_city(locations))
    )
    for at in _largest(sums):
        cells = (wording.percent(float(named[at] / sums[at])) for named in of_named)
        yield _Group(names[at], float(sums[at]), float(sums[at] / space.space), tuple(cells))


def networks_section(facts: Facts) -> Section:
    """Return bars and tables of the AS with the most addresses, by family."""
    parts: list[Chart | Table] = []
    for family, space in facts.space.items():
        groups = list(_networks(facts, space))
        known = sum(group.share for group in groups)
        title = f"IPv{family}: {wording.percent(known)} have an AS"
        parts.append(_chart("networks", "AS", family, title, groups))
        listed = groups[:_NETWORKS]
        caption = f"IPv{family}: {len(listed):,} of {len(groups):,} AS, by {UNITS[family]}"
        parts.append(_table(caption, ("AS",), family, listed))
    return charts_section("networks", "Networks", _SHARES, parts)


def _networks(facts: Facts, space: KnownSpace) -> Iterable[_Group]:
    numbers, of_row = systems(facts.tables[NETWORK])
    sums = np.bincount(of_row, space.networks, len(numbers))
    names = system_names(facts.tables[NETWORK], of_row, space.networks)
    for at in _largest(sums):
        # Number 0 stands for the rows without an AS.
        if numbers[at]:
            name = f"AS{numbers[at]} {names[at]}".rstrip()
            yield _Group(name, float(sums[at]), float(sums[at] / space.space))


def _largest(sums: NDArray[Any]) -> list[int]:
    """Return the positions of the sums above 0, the largest first."""
    order = np.argsort(-sums, kind="stable")
    positions: list[int] = order[sums[order] > 0].tolist()
    return positions


def _chart(name: str, head: str, family: int, title: str, groups: list[_Group]) -> Chart:
    values = [(group.name, group.share) for group in groups[:_BARS]]
    unit = f"share of known {UNITS[family]}"
    return bars(f"{name}-ipv{family}", title, unit, values, form=wording.percent, head=head)


def _table(caption: str, head: tuple[str, ...], family: int, groups: list[_Group]) -> Table:
    rows = [
        (
            wording.name(group.name),
            wording.count(group.space),
            wording.percent(group.share),
            *group.cells,
        )
        for group in groups
    ]
    columns = (head[0], UNITS[family], "share", *head[1:])
    # Counts of /64 networks are too long to read.
    return Table(caption, columns, rows, saved_only=[1] if family == 6 else [])
