"""The map of a file of addresses: its sections in order.

A row counts as a request. The page states only counts of groups: no address, no instant, no
place more precise than a cell of the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from geolookup.dataset.metadata import Metadata
from geolookup.errors import count_text
from geolookup.files.summarize import Summary
from geolookup.files.traffic import Traffic
from geolookup.pictures import wording
from geolookup.pictures.world import Places, world
from geolookup.reports.dataset.summary import Figure, credits_section
from geolookup.reports.section import Section, charts_section
from geolookup.reports.traffic_groups import classes_section, groups_section
from geolookup.reports.traffic_times import times_section, utc_text

TITLE = "Map of addresses"
_HOLDS = (
    "A request is a row of the file, not a visitor: one visitor can send many. The page holds "
    "counts only: no address, no time more precise than a minute, and no place more precise than a "
    "city. Circles of the map are sums of about 100 km."
)
_HIDES = (
    "A place, time or group of fewer than {least} requests is shown only in a sum, and is not "
    "broken down. A sum of 1 to {most} requests reads fewer than {least}, but that of all requests "
    "is stated. Sums are exact, so a reader can often infer hidden counts: one that alone is "
    "missing from a sum always, and several if little is missing. A larger --min-count hides more."
)


def lead(summary: Summary, traffic: Traffic, least: int) -> str:
    """Return the paragraph under the title: the requests and their period."""
    requests = count_text(summary.addresses, "request")
    times = traffic.times
    if times.first is None or times.last is None or wording.is_few(times.requests, least):
        return f"{requests}."
    return f"{requests} from {utc_text(times.first)} to {utc_text(times.last)} UTC."


def sections(
    summary: Summary, traffic: Traffic, metadata: Metadata, top: int, least: int
) -> Iterator[Section]:
    """Yield the sections; ``top`` groups of each kind, none of fewer than ``least`` requests."""
    yield _world_section(summary, least)
    yield _summary_section(summary, traffic, least)
    yield times_section(traffic, least)
    yield groups_section(summary, top, least)
    yield classes_section(summary, traffic, top, least)
    yield _method_section(least)
    yield credits_section(metadata)


def _world_section(summary: Summary, least: int) -> Section:
    """Return the map of the world: countries and places of enough requests."""
    requests = Counter[str]()
    for group in summary.by("countries"):
        requests[group.members[0]] += group.addresses
    shown = {code: n for code, n in requests.items() if not wording.is_few(n, least)}
    places = Places(*summary.places())
    title = "Requests by country and place"
    chart = world("world", title, "requests", shown, places, least=least)
    if not chart.rows:
        note = "No country has enough requests for a map." if requests else "No country is known."
        return charts_section("where", "World", note, [])
    located = int(places.weights[~np.isnan(places.latitudes)].sum())
    known, placed = (wording.count_or_few(number, least) for number in (requests.total(), located))
    note = f"Requests with a known country: {known}; with a known place: {placed}."
    return charts_section("where", "World", note, [chart])


def _summary_section(summary: Summary, traffic: Traffic, least: int) -> Section:
    """Return the totals of ``geolookup summarize``, and the distinct addresses."""
    figures = [
        Figure("Requests", wording.count(summary.addresses), "rows of the file"),
        *(
            _part(name, number, summary.addresses, least)
            for name, number in summary.totals().items()
            if name in ("located", "unknown", "private", "invalid")
        ),
        Figure("Distinct addresses", wording.count_or_few(traffic.distinct(), least), "public"),
    ]
    return Section("summary", "Summary", "summary.html", {"figures": figures})


def _part(name: str, number: int, requests: int, least: int) -> Figure:
    share = "" if wording.is_few(number, least) else wording.percent(number / max(requests, 1))
    return Figure(name.capitalize(), wording.count_or_few(number, least), share)


def _method_section(least: int) -> Section:
    """Return the notes on privacy: contents, hidden counts, and inference from sums."""
    hides = _HIDES.format(least=wording.count(least), most=wording.count(least - 1))
    return charts_section("privacy", "Privacy", f"{_HOLDS} {hides}" if least > 1 else _HOLDS, [])
