"""The map of a file of addresses: which sections it has, in which order.

A row counts as a request. The page states only counts of groups: no address, no instant, no
place more precise than a cell of the map.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geolookup.dataset.intervals import Bools
from geolookup.dataset.metadata import Metadata
from geolookup.errors import name_text
from geolookup.files.byte_streams import STANDARD
from geolookup.files.row_streams import holds_address
from geolookup.files.summarize import LocalHours, Summary
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, heatmap
from geolookup.pictures.wording import mark_shown
from geolookup.pictures.world import Country, CountryDensity, Density
from geolookup.reports.dataset.sources import credits_section
from geolookup.reports.dataset.summary import Figure
from geolookup.reports.section import Section, charts_section
from geolookup.reports.traffic_groups import groups_section
from geolookup.reports.world_map import world_section

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


def lead(least: int) -> str:
    """Return the paragraph under the title."""
    said = "Where requests come from, at which local hours, and from which networks."
    if least > 1:
        said += (
            f" Places, hours and groups with fewer than {wording.count(least)} requests are hidden."
        )
        said += " Where these have fewer together, the next larger one is hidden too."
        said += " The page states only the sums of hidden counts."
    return f"{said} The page holds no address and no time of a request."


def sections(summary: Summary, metadata: Metadata, top: int, least: int) -> Iterator[Section]:
    """Yield the sections; ``top`` groups of each kind, none of fewer than ``least`` requests."""
    yield _figures(summary)
    density = Density("requests", "Requests", "requests", *summary.places())
    # No cell has fewer requests than 1: nothing is hidden.
    least_shown = least if least > 1 else 0
    yield world_section("where", "World map", [density], (), least_shown, _by_country(summary))
    if summary.hours is not None:
        yield hours_section(summary.hours, least)
    yield groups_section(summary, top, least)
    yield credits_section(metadata)


def _by_country(summary: Summary) -> CountryDensity:
    groups = summary.by("countries")
    rows = [Country(group.members[0], group.members[1], group.addresses) for group in groups]
    unknown = summary.public - sum(group.addresses for group in groups)
    rows.append(Country(None, None, unknown))
    return CountryDensity("requests-countries", "Requests by country", "requests", rows)


def _figures(summary: Summary) -> Section:
    """Return the figures that ``geolookup summarize`` prints."""
    figures = [
        Figure(
            _NAMES.get(name, name.capitalize()),
            wording.count(number),
            wording.percent(number / max(summary.addresses, 1)),
        )
        for name, number in summary.totals().items()
    ]
    return Section("summary", "Summary", "summary.html", {"figures": figures, "named": {}})


_DAYS = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_HOURS = [f"{hour:02d}" for hour in range(24)]
_NO_TIMES = (
    "No request has a time. The lines of a log have one; of another file, --at names the column."
)
_NO_ADDRESSES = "No request has a public address."
_NO_ZONES = "No request with a time has an address whose time zone is known."


def hours_section(hours: LocalHours, least: int) -> Section:
    """Return a heat map of the hours of a week; hidden ones have no colour.

    Hours of fewer than ``least`` requests are hidden, and another as ``wording.cover`` says.
    """
    is_shown = mark_shown(hours.counts.ravel(), least).reshape(hours.counts.shape)
    charts = [_chart(hours, is_shown)] if is_shown.any() else []
    return charts_section("when", "Local hours", " ".join(_sentences(hours, is_shown)), charts)


def _chart(hours: LocalHours, is_shown: Bools) -> Chart:
    cells = np.where(is_shown, hours.counts, -1).tolist()
    # -1 for hidden: numpy's integers have no null.
    values = [[None if n < 0 else n for n in day] for day in cells]
    return heatmap("hours", "Requests by local hour", "requests", _DAYS, _HOURS, values)


def _sentences(hours: LocalHours, is_shown: Bools) -> Iterator[str]:
    counts = hours.counts
    if not counts.any():
        yield _nothing(hours)
        return
    total = wording.count(int(counts.sum()))
    yield f"{total} requests by the local time at the location of their address."
    others = {
        "In hidden hours": int(counts[~is_shown].sum()),
        "Without a time": hours.without_time,
        "With a time, but without a known time zone": hours.without_zone,
    }
    for name, number in others.items():
        if number:
            yield f"{name}: {wording.count(number)}."


def _nothing(hours: LocalHours) -> str:
    if hours.without_zone:
        return _NO_ZONES
    return _NO_TIMES if hours.without_time else _NO_ADDRESSES
