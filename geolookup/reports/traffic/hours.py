"""The section on when requests come: by local hour and weekday at the location of their address."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.files.local_hours import LocalHours
from geolookup.pictures import texts
from geolookup.pictures.charts import Chart, heatmap
from geolookup.reports.charts_section import charts_section
from geolookup.reports.section import Section

_DAYS = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_HOURS = [f"{hour:02d}" for hour in range(24)]
_NO_TIMES = (
    "No request has a time. The lines of a log have one; of another file, --at names the column."
)
_NO_ZONES = "No request with a time has an address whose time zone is known."


def hours_section(hours: LocalHours, least: int) -> Section:
    """Return a heat map of the hours of a week; those of fewer than ``least`` have no colour."""
    shown = hours.counts >= least
    charts = [_chart(hours, least)] if shown.any() else []
    return charts_section("when", "Local hours", " ".join(_sentences(hours, least)), charts)


def _chart(hours: LocalHours, least: int) -> Chart:
    values = [[int(n) if n >= least else None for n in day] for day in hours.counts]
    return heatmap("hours", "Requests by local hour", "requests", _DAYS, _HOURS, values)


def _sentences(hours: LocalHours, least: int) -> Iterator[str]:
    counts = hours.counts
    if not counts.any():
        yield _NO_ZONES if hours.without_zone else _NO_TIMES
        return
    total = texts.count(int(counts.sum()))
    yield f"{total} requests by the local time at the location of their address."
    others = {
        "In hidden hours": int(counts[counts < least].sum()),
        "Without a time": hours.without_time,
        "With a time, but without a known time zone": hours.without_zone,
    }
    for what, number in others.items():
        if number:
            yield f"{what}: {texts.count(number)}."
