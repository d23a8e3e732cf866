"""The first section and the last one: a dataset in a few figures, and the sizes of its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY
from geolookup.dataset.coverage import public_space
from geolookup.dataset.metadata import Age
from geolookup.errors import count_text
from geolookup.pictures import wording
from geolookup.pictures.charts import bars
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Section, charts_section


class Figure(NamedTuple):
    """A number in large type, its name, and a line below it."""

    name: str
    value: str
    note: str


def summary_section(facts: Facts) -> Section:
    """Return the name, generation, size and age of a dataset, and how much it knows."""
    identity = {"Name": wording.name(facts.metadata.name), "Generation": facts.metadata.generation}
    values = {"figures": list(_figures(facts)), "named": identity}
    return Section("summary", "Summary", "summary.html", values)


def _figures(facts: Facts) -> Iterator[Figure]:
    counts = facts.metadata.counts
    for family, space in facts.space.items():
        yield _known(family, space.space, counts[f"ipv{family}_intervals"])
    yield Figure("Locations", wording.count(counts["locations"]), "distinct")
    yield Figure("Networks", wording.count(counts["networks"]), "distinct")
    # Not the rows of the table: a country may have several, and a row no country.
    codes = pc.count_distinct(facts.tables[COUNTRY]["country_code"]).as_py()
    yield Figure("Countries", wording.count(codes), "and territories")
    size = facts.metadata.bytes
    yield Figure("Size", wording.size(size), f"{wording.count(size)} bytes")
    yield _age(facts.metadata.age)


def _known(family: int, space: float, intervals: int) -> Figure:
    note = count_text(intervals, "interval")
    share = wording.percent(space / public_space(family))
    if family == 4:
        return Figure(
            "IPv4 addresses known", wording.short(space), f"{share} of public space; {note}"
        )
    return Figure("IPv6 space known", share, f"of 2000::/3, all that is assigned so far; {note}")


def _age(age: Age) -> Figure:
    if age.days is None:
        return Figure("Age of the data", "unknown", "no deciding source has an ISO 8601 date")
    days = f"{age.days:,} day{'s' * (age.days != 1)}"
    return Figure(
        "Age of the data", days, f"oldest source: {wording.name(str(age.source))}, {age.date}"
    )


def files_section(facts: Facts) -> Section:
    """Return the sizes of the files in a dataset's folder."""
    files = (path for path in Path(facts.dataset.path).iterdir() if path.is_file())
    sizes = sorted(
        ((path.name, path.stat().st_size) for path in files),
        key=lambda item: (-item[1], item[0]),
    )
    total = sum(size for _, size in sizes)
    title = f"File sizes, {total:,} bytes in total"
    chart = bars("file-sizes", title, "bytes", sizes, head="file")
    return charts_section("files", "Files", "All files of the dataset.", [chart])
