"""The section on when requests come: by local hour and weekday at the location of their address."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from geolookup.dataset.intervals import Bools
from geolookup.files.summarize import LocalHours
from geolookup.pictures import texts
from geolookup.pictures.charts import Chart, heatmap
from geolookup.pictures.hidden import not_hidden
from geolookup.reports.charts_section import charts_section
from geolookup.reports.section import Section

_DAYS = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_HOURS = [f"{hour:02d}" for hour in range(24)]
_NO_TIMES = (
    "No request has a time. The lines of a log have one; of another file, --at names the column."
)
_NO_ADDRESSES = "No request has a public address."
_NO_ZONES = "No request with a time has an address whose time zone is known."


def hours_section(hours: LocalHours, least: int) -> Section:
    """Return a heat map of the hours of a week; hidden ones have no colour.

    Hours of fewer than ``least`` requests are hidden, and another as ``covered`` says.
    """
    shown = not_hidden(hours.counts.ravel(), least).reshape(hours.counts.shape)
    charts = [_chart(hours, shown)] if shown.any() else []
    return charts_section("when", "Local hours", " ".join(_sentences(hours, shown)), charts)


def _chart(hours: LocalHours, shown: Bools) -> Chart:
    cells = np.where(shown, hours.counts, -1).tolist()
    values = [[None if n < 0 else n for n in day] for day in cells]
    return heatmap("hours", "Requests by local hour", "requests", _DAYS, _HOURS, values)


def _sentences(hours: LocalHours, shown: Bools) -> Iterator[str]:
    counts = hours.counts
    if not counts.any():
        yield _nothing(hours)
        return
    total = texts.count(int(counts.sum()))
    yield f"{total} requests by the local time at the location of their address."
    others = {
        "In hidden hours": int(counts[~shown].sum()),
        "Without a time": hours.without_time,
        "With a time, but without a known time zone": hours.without_zone,
    }
    for what, number in others.items():
        if number:
            yield f"{what}: {texts.count(number)}."


def _nothing(hours: LocalHours) -> str:
    if hours.without_zone:
        return _NO_ZONES
    return _NO_TIMES if hours.without_time else _NO_ADDRESSES
