"""The section on whose requests they are: countries, cities and networks, the largest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import I64, Bools
from geolookup.files.summarize import KINDS, Count, Summary
from geolookup.pictures import wording
from geolookup.pictures.charts import bars
from geolookup.pictures.wording import cover
from geolookup.reports.section import Section, Table
from geolookup.reports.traffic_views import (
    View,
    is_drawn,
    known_title,
    share_text,
    views_section,
)

_NOTE = "By requests, the largest first."
_HEAD = ("", "groups", "in the chart", "in further groups", "hidden", "unknown")


class Groups(NamedTuple):
    """The groups of a kind that a page shows, and the requests of those that it does not."""

    kind: str
    top: Sequence[Count]  # the largest first
    number: int  # of the groups that are not hidden
    further: int  # requests in groups that are not hidden, after the top
    hidden: int  # requests in groups that are hidden
    unknown: int  # requests whose group is not known


def groups_of(summary: Summary, kind: str, top: int, least: int) -> Groups:
    """Return the ``top`` groups of a kind; groups of fewer than ``least`` requests are hidden.

    Another is hidden as ``cover`` says: among all groups, and among the cities of a country: a
    reader can subtract them from the country.
    """
    every = summary.by(kind)
    sizes = np.array([group.addresses for group in every], np.int64)
    is_shown = sizes >= least
    if kind == "cities":
        is_shown = _cover_by_country(summary, every, sizes, is_shown, least)
    is_shown = cover(is_shown, sizes, least)
    # The numbers of the shown groups: the first ``top`` and the further ones.
    at, further = np.split(np.flatnonzero(is_shown), [top])
    return Groups(
        kind,
        [every[number] for number in at],
        int(is_shown.sum()),
        int(sizes[further].sum()),
        int(sizes[~is_shown].sum()),
        summary.public - int(sizes.sum()),
    )


def _cover_by_country(
    summary: Summary, cities: Sequence[Count], sizes: I64, is_shown: Bools, least: int
) -> Bools:
    """Return which cities are shown, where a reader subtracts them from their country."""
    of_country = Counter[str]()
    for country in summary.by("countries"):
        of_country[country.members[0]] += country.addresses
    # City, region, country code: the members of a city.
    codes = np.array([city.members[2] or "" for city in cities], str)
    is_shown = is_shown.copy()
    for code, total in of_country.items():
        among = codes == code
        # A reader could compute a single hidden city as its country less all shown cities.
        beside = total - int(sizes[among].sum())  # without a known city
        is_shown[among] = cover(is_shown[among], sizes[among], least, beside)
    return is_shown


def groups_section(summary: Summary, top: int, least: int) -> Section:
    """Return bars of the largest groups of each kind, and a table of all others."""
    kinds = [groups_of(summary, kind, top, least) for kind in reversed(KINDS)]
    views, said = [], [_NOTE]
    for groups in kinds:
        known = summary.public - groups.unknown
        if is_drawn(known, summary.addresses):
            views.append(_view(groups, known, summary.addresses))
        elif summary.public:
            share = share_text(known, summary.addresses)
            said.append(f"Known {groups.kind}: only {share} of the requests, no chart.")
    if not summary.public:
        said = ["No request has a public address."]
    return views_section("whose", "Networks, cities, countries", " ".join(said), views,
                         [_table(kinds)])  # fmt: skip


def _view(groups: Groups, known: int, requests: int) -> View:
    rows = [(label(groups.kind, group), [group.addresses]) for group in groups.top]
    title = known_title(f"Top {groups.kind} by requests", known, requests)
    name = f"top-{groups.kind}"
    values = [(text, counts[0]) for text, counts in rows]
    picture = bars(name, title, "requests", values, head=groups.kind)
    return View(name, "bars", title, (groups.kind, "requests"), rows, picture)


def _table(kinds: Sequence[Groups]) -> Table:
    rows = [
        (
            groups.kind,
            # groups[3:]: further, hidden, unknown.
            *map(wording.count, (groups.number, sum(n.addresses for n in groups.top), *groups[3:])),
        )
        for groups in kinds
    ]
    return Table("Requests that the charts show, and others", _HEAD, rows)


def label(kind: str, group: Count) -> str:
    """Return the name of a group of a kind, as shown."""
    return wording.name(_LABELS[kind](*group.members))


def _country(code: str, name: str | None) -> str:
    return name or code


def _city(city: str, region: str | None, country: str | None) -> str:
    return ", ".join(name for name in (city, region, country) if name is not None)


def _network(number: int, name: str | None) -> str:
    return f"AS{number}" if name is None else f"AS{number} {name}"


#: What names a group of each kind, by its members.
_LABELS: dict[str, Callable[..., str]] = {
    "countries": _country,
    "cities": _city,
    "networks": _network,
}
