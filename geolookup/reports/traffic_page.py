"""The map of a file of addresses: which sections it has, in which order.

A row counts as a request. The page states only counts of groups: no address, no instant, no
place more precise than a cell of the map.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from geolookup.dataset.metadata import Metadata
from geolookup.errors import count_text, name_text
from geolookup.files.byte_streams import STANDARD
from geolookup.files.row_streams import holds_address
from geolookup.files.summarize import Summary
from geolookup.files.traffic import Traffic
from geolookup.pictures import wording
from geolookup.pictures.world import Country, CountryDensity, Density
from geolookup.reports.dataset.sources import credits_section
from geolookup.reports.dataset.summary import Figure
from geolookup.reports.section import Section
from geolookup.reports.traffic_cube import Cube, cube_of, pack
from geolookup.reports.traffic_groups import groups_section
from geolookup.reports.traffic_kinds import hosting_section, status_section
from geolookup.reports.traffic_times import hours_section, time_section, utc_text
from geolookup.reports.world_map import world_section

#: In the order in which they need each other.
_SCRIPTS = (
    "page_data.js",
    "shares.js",
    "traffic/views.js",
    "traffic/cube.js",
    "traffic/filter.js",
    "traffic/save.js",
)
#: Labels of totals that are not their names.
_NAMES = {"addresses": "Requests", "ipv4": "IPv4", "ipv6": "IPv6"}
#: An IPv4 address in the name of a file, such as 192-0-2-1; no date and time.
#: "2026-01-31-12" and "12-2026-1-2-3" do not match: four groups of 1 to 3 digits, no digit before.
_HYPHENATED = re.compile(r"(?<!\d)(?<!\d[-_])\d{1,3}(?:[-_]\d{1,3}){3}(?!\d)")


def title(source: str) -> str:
    """Return the title of the page on a file, a folder or - by its name, without its folder."""
    name = Path(os.path.abspath(source)).name  # noqa: PTH100 - keeps symbolic links
    if source == STANDARD or _states_address(name):
        return "Map of addresses"
    return f"Map of {wording.name(name_text(name))}"


def _states_address(name: str) -> bool:
    """Tell whether a name holds an address, also one with hyphens or underscores for its marks."""
    words = name.replace(".", " ")  # the point before a suffix may follow an address
    forms = (name, words, words.translate({ord("-"): ":", ord("_"): ":"}))
    return bool(_HYPHENATED.search(name)) or any(map(holds_address, forms))


def lead(summary: Summary, traffic: Traffic, least: int) -> str:
    """Return the paragraph under the title: amounts, period, hidden groups."""
    said = f"{count_text(summary.addresses, 'request')} from "
    said += f"{count_text(traffic.distinct.count, 'distinct address', 'distinct addresses')}"
    said += f"{_period(traffic, least)}."
    if least > 1:
        said += (
            f" Places, times and groups with fewer than {wording.count(least)} requests are hidden."
        )
        said += " Where these have fewer together, the next larger one is hidden too."
        said += " The page states only the sums of hidden counts."
    return f"{said} The page holds no address, and no time more precise than a minute."


def sections(
    summary: Summary, traffic: Traffic, metadata: Metadata, top: int, least: int
) -> Iterator[Section]:
    """Yield the sections; ``top`` groups of each kind, none of fewer than ``least`` requests."""
    cube = cube_of(summary, traffic, least)
    yield _summary(summary, traffic, cube)
    yield time_section(summary, traffic, least)
    density = Density("requests", "Requests", "requests", *summary.places())
    # No cell has fewer requests than 1: nothing is hidden.
    least_shown = least if least > 1 else 0
    yield world_section("where", "World map", [density], (), least_shown, _by_country(summary))
    yield hours_section(traffic.hours, summary.addresses, least)
    yield groups_section(summary, top, least)
    yield hosting_section(summary, traffic, least)
    if (section := status_section(summary, traffic, cube, top, least)) is not None:
        yield section
    yield credits_section(metadata)


def _by_country(summary: Summary) -> CountryDensity:
    groups = summary.by("countries")
    rows = [Country(group.members[0], group.members[1], group.addresses) for group in groups]
    unknown = summary.public - sum(group.addresses for group in groups)
    rows.append(Country(None, None, unknown))
    return CountryDensity("requests-countries", "Requests by country", "requests", rows)


def _summary(summary: Summary, traffic: Traffic, cube: Cube) -> Section:
    """Return the distinct addresses, the figures of ``geolookup summarize`` and the filter."""
    distinct = traffic.distinct.count
    figures = [
        Figure("Distinct addresses", wording.count(distinct), "public"),
    ]
    figures += [
        Figure(
            _NAMES.get(name, name.capitalize()),
            wording.count(number),
            wording.percent(number / max(summary.addresses, 1)),
        )
        for name, number in summary.totals().items()
    ]
    return Section(
        "summary",
        "Summary",
        "traffic_summary.html",
        {"figures": figures, "named": {}, "filter": cube if len(cube.totals) else None},
        {"traffic-cube": pack(cube)},
        scripts=_SCRIPTS,
        styles=("traffic.css",),
    )


def _period(traffic: Traffic, least: int) -> str:
    """Return the first and the last minute; nothing if fewer than ``least`` have a time."""
    times = traffic.times
    timed = int(times.joint.rows()[2].sum())
    if times.first is None or times.last is None or timed < least:
        return ""
    return f", from {utc_text(times.first)} to {utc_text(times.last)} UTC"
