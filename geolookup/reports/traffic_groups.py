"""The sections on whose requests they are, and on their hosting and status codes by country."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup.errors import count_text
from geolookup.files.summarize import KINDS, Count, Summary
from geolookup.files.traffic import HOSTING, STATUSES, Traffic
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, stacked_bars
from geolookup.pictures.colours import CATEGORIES, GREEN, ORANGE, OTHER, UNKNOWN, YELLOW
from geolookup.reports.section import Section, Table, charts_section

_ONE = {"countries": "country", "cities": "city", "networks": "network"}
_ALL = "All requests"
_KINDS_NOTE = (
    "Status codes 4xx are errors of clients, 5xx errors of the server. The kind of a network is "
    "the user_type of the dataset."
)
#: Of the kinds of network, and of the classes of status codes: errors stand out.
_COLOURS = {
    **dict(zip(HOSTING, (ORANGE, CATEGORIES[0], UNKNOWN), strict=True)),
    **dict(zip(STATUSES, (UNKNOWN, GREEN, OTHER, YELLOW, ORANGE), strict=True)),
}


class Groups(NamedTuple):
    """The groups of a kind that a page shows, the largest first, and those that it sums."""

    kind: str
    top: Sequence[Count]
    further: Sequence[Count]
    few: Sequence[Count]  # of fewer requests than the page shows
    unknown: int  # requests whose group is not known


def groups_of(summary: Summary, kind: str, top: int, least: int) -> Groups:
    """Return the groups of a kind: ``top`` of them are shown, none of fewer than ``least``."""
    groups = summary.by(kind)
    shown = [group for group in groups if not wording.is_few(group.addresses, least)]
    few = groups[len(shown) :]  # the smallest are the last
    return Groups(kind, shown[:top], shown[top:], few, summary.public - _sum(groups))


def _sum(groups: Sequence[Count]) -> int:
    return sum(group.addresses for group in groups)


def groups_section(summary: Summary, top: int, least: int) -> Section:
    """Return bars of the largest groups of each kind, and lines on the others."""
    kinds = [groups_of(summary, kind, top, least) for kind in reversed(KINDS)]
    others = [line for groups in kinds for line in _others(groups, least)]
    tables = [Table("Requests not in these charts", ("Group", "requests"), others)]
    charts = [_bars(groups) for groups in kinds if groups.top]
    note = "" if others or charts else "No address is public."
    return charts_section(
        "whose", "Networks, cities, countries", note, charts, tables if others else []
    )


def _bars(groups: Groups) -> Chart:
    values = [(label(groups.kind, group), float(group.addresses)) for group in groups.top]
    title = f"{groups.kind.capitalize()} with the most requests"
    return bars(f"top-{groups.kind}", title, "requests", values, head=_ONE[groups.kind])


def _others(groups: Groups, least: int) -> Iterator[tuple[str, str]]:
    """Yield lines on the groups of a kind that its chart does not show, and their requests."""
    one = _ONE[groups.kind]
    names = f"further {one}", f"further {groups.kind}"
    if groups.further:
        yield count_text(len(groups.further), *names), wording.count(_sum(groups.further))
    if groups.few:
        yield few_line([group.addresses for group in groups.few], *names, least)
    if groups.unknown:
        yield f"no known {one}", wording.count_or_few(groups.unknown, least)


def few_line(counts: Sequence[int], noun: str, nouns: str, least: int) -> tuple[str, str]:
    """Return a line on hidden counts, and the text of their sum."""
    line = f"{count_text(len(counts), noun, nouns)} with fewer than {wording.count(least)} requests"
    return f"{line} each" if len(counts) > 1 else line, wording.count_or_few(sum(counts), least)


def label(kind: str, group: Count) -> str:
    """Return the name of a group of a kind, as shown."""
    names = [name for name in group.members if name is not None]
    if kind == "countries":
        return wording.name(names[-1])  # its code, if it has no name
    if kind == "networks":
        return wording.name(" ".join(("AS" + str(names[0]), *names[1:])))
    return wording.name(", ".join(names))


def classes_section(summary: Summary, traffic: Traffic, top: int, least: int) -> Section:
    """Return the kinds of networks and the classes of status codes, by country."""
    numbers = {code: number for number, code in enumerate(traffic.countries, 1)}
    shown = groups_of(summary, "countries", top, least).top
    countries = {label("countries", group): numbers[group.members[0]] for group in shown}
    charts = []
    if (traffic.statuses.sum(axis=0) >= least).any():  # else all bars are hidden
        title = "Status codes by country"
        charts.append(_stacked("status", title, STATUSES, traffic.statuses, countries, least))
    if (traffic.hosting[:, :2].sum(axis=0) >= least).any():  # not all are of an unknown kind
        title = "Kinds of network by country"
        charts.append(_stacked("hosting", title, HOSTING, traffic.hosting, countries, least))
    none = "No class of status codes or known kind of network has enough requests for a chart."
    note = _KINDS_NOTE if charts else none
    return charts_section("kinds", "Status codes and hosting", note, charts)


def _stacked(
    name: str,
    title: str,
    classes: Sequence[str],
    counts: I64,
    countries: Mapping[str, int],
    least: int,
) -> Chart:
    """Return a stacked bar of all requests and of each country; few requests are a gap at its end.

    ``counts`` has a column for each class; ``countries`` are the labels of rows.
    """
    occurring = np.flatnonzero(counts.any(axis=0))  # most logs have no 1xx
    lines = {_ALL: counts.sum(axis=0), **{row: counts[at] for row, at in countries.items()}}
    rows = {row: line[occurring].tolist() for row, line in lines.items() if line.any()}
    shares = [
        [0.0 if wording.is_few(number, least) else number / sum(line) for number in line]
        for line in rows.values()
    ]
    texts = [
        (row, *(wording.count_or_few(number, least) for number in line))
        for row, line in rows.items()
    ]
    parts = [classes[at] for at in occurring.tolist()]
    chart = stacked_bars(name, title, [*rows], parts, shares, [_COLOURS[part] for part in parts])
    return replace(chart, head=("country", *parts), rows=texts)
