"""The map of a file of addresses: which sections it has, in which order.

A row counts as a request. The page states counts of groups alone: no address, no instant, no
place more precise than a cell of the map.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from geolookup.dataset.metadata import Metadata
from geolookup.errors import name_text
from geolookup.files.byte_streams import STANDARD
from geolookup.files.row_streams import holds_address
from geolookup.files.summarize import Summary
from geolookup.pictures import texts
from geolookup.pictures.world import Density
from geolookup.pictures.world_countries import Country, CountryDensity
from geolookup.reports.dataset.summary import Figure
from geolookup.reports.licences_section import licences_section
from geolookup.reports.section import Section
from geolookup.reports.traffic.groups import groups_section
from geolookup.reports.traffic.hours import hours_section
from geolookup.reports.world_map import world_section

#: Labels of totals that are not their names.
_NAMES = {"addresses": "Requests", "ipv4": "IPv4", "ipv6": "IPv6"}
#: An IPv4 address in the name of a file, such as 192-0-2-1; no date and time.
_HYPHENATED = re.compile(r"(?<!\d)(?<!\d[-_])\d{1,3}(?:[-_]\d{1,3}){3}(?!\d)")


def title(source: str) -> str:
    """Return the title of the page on a file, a folder or - by its name, without its folder."""
    name = Path(os.path.abspath(source)).name  # noqa: PTH100 - keeps symbolic links
    if source == STANDARD or _states_address(name):
        return "Map of addresses"
    return f"Map of {texts.name(name_text(name))}"


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
            f" Places, hours and groups with fewer than {texts.count(least)} requests are hidden."
        )
        said += " Where these have fewer together, the next larger one is hidden too."
        said += " The page states only the sums of what it hides."
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
    yield licences_section(metadata)


def _by_country(summary: Summary) -> CountryDensity:
    found = summary.by("countries")
    rows = [Country(each.members[0], each.members[1], each.addresses) for each in found]
    unknown = summary.public - sum(each.addresses for each in found)
    rows.append(Country(None, None, unknown))
    return CountryDensity("requests-countries", "Requests by country", "requests", rows)


def _figures(summary: Summary) -> Section:
    """Return the figures that ``geolookup summarize`` prints."""
    figures = [
        Figure(
            _NAMES.get(name, name.capitalize()),
            texts.count(number),
            texts.percent(number / max(summary.addresses, 1)),
        )
        for name, number in summary.totals().items()
    ]
    return Section("summary", "Summary", "summary.html", {"figures": figures, "named": {}})
