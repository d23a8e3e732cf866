"""The sections on when requests occur: over time, and by hour of the week."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from geolookup.contract.gregorian import DAY
from geolookup.dataset.intervals import F64, I64
from geolookup.files.summarize import Summary
from geolookup.files.traffic import DAYS, HOUR, HOURS, WEEK, Times, Traffic
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, heatmap, periods
from geolookup.reports.section import Section, charts_section
from geolookup.reports.traffic_groups import is_drawn, no_chart

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {60: "minute", HOUR: "hour", DAY: "day", WEEK: "week"}
#: A chart has no more columns of time: a stray time can be centuries away.
MOST_COLUMNS = 1000
#: The first or the last column is shown if the log covers this part of its time.
_WHOLE = 0.9
_DAY_NAMES = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_HOUR_NAMES = [f"{hour:02d}" for hour in range(HOURS)]
_NO_TIMES = (
    "No request has a time. The lines of a log have one; of another file, "
    "--local-time-column names the column."
)
_HOURS_NOTE = (
    "Requests per hour on an average day: the requests of an hour of the week are divided by the "
    "number of times that it occurs from the first request to the last. Hours that lie partly in "
    "this period count in part, but at least once."
)


def utc_text(second: int, *, day: bool = False) -> str:
    """Return the text of a Unix second: a minute, or with ``day`` a date."""
    return f"{_EPOCH + timedelta(seconds=second):{'%Y-%m-%d' if day else '%Y-%m-%d %H:%M'}}"


def time_section(summary: Summary, times: Times, least: int) -> Section:
    """Return the requests by minute, hour, day or week in UTC."""
    unit, buckets = _UNITS[times.size], _whole_buckets(times)
    note, charts = "", []
    if not times.counts.any():
        note = _NO_TIMES
    elif not is_drawn(int(times.counts.sum()), summary.addresses):
        note = no_chart("a time")
    elif len(buckets) > MOST_COLUMNS:
        note = f"The times are up to {len(buckets):,} weeks apart: too far for a chart."
    elif len(buckets) < 2:
        note = "The times are within a few minutes: too close for a chart."
    else:
        note = _left_out(times, buckets, unit)
        charts = [_columns(times, buckets, unit, least)]
    return charts_section("time", "Requests over time", note, charts)


def _whole_buckets(times: Times) -> range:
    """Return the buckets without the first and the last, unless the log covers these too."""
    buckets = times.buckets()
    if times.first is None or times.last is None:
        return buckets
    before = times.first - times.start(buckets[0])
    after = times.start(buckets[-1] + 1) - 1 - times.last
    most = (1 - _WHOLE) * times.size
    return buckets[before > most : len(buckets) - (after > most)]


def _left_out(times: Times, buckets: range, unit: str) -> str:
    every = times.buckets()
    ends = [("first", every[0]), ("last", every[-1])]
    names = [name for name, bucket in ends if bucket not in buckets]
    if not names:
        return ""
    units = f"{unit}s are" if len(names) > 1 else f"{unit} is"
    return f"The {' and the '.join(names)} {units} left out: the log covers only a part of them."


def _columns(times: Times, buckets: range, unit: str, least: int) -> Chart:
    counts = np.zeros(len(buckets), np.int64)
    at = times.numbers - buckets.start
    inside = (at >= 0) & (at < len(buckets))
    counts[at[inside]] = times.counts[inside]
    starts = [utc_text(times.start(bucket), day=times.size >= DAY) for bucket in buckets]
    title = f"Requests by {unit}, UTC"
    return periods("requests-time", title, "requests", starts, _shown(counts, counts, least))


def _shown(values: F64 | I64, counts: I64, least: int) -> list[float | None]:
    """Return n values; None for those of few requests."""
    return [
        None if wording.is_few(count, least) else float(value)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    ]


def hours_section(summary: Summary, traffic: Traffic, least: int) -> Section:
    """Return the requests by hour of the week: local hours, or UTC if too few are known."""
    times, hours = traffic.times, traffic.hours
    first, last = times.first or 0, times.last or 0
    local = hours.local.sum(axis=0)
    if is_drawn(int(local.sum()), summary.addresses):
        chart = _week("Requests per local hour", hours.local_average(first, last), local, least)
        note = "The hour at the location of the address, with daylight saving. " + _HOURS_NOTE
    elif is_drawn(int(hours.utc.sum()), summary.addresses):
        chart = _week("Requests per hour, UTC", hours.utc_average(first, last), hours.utc, least)
        note = "Few local hours are known: the hours are in UTC. " + _HOURS_NOTE
    else:
        note = no_chart("a time") if hours.utc.any() else _NO_TIMES
        return charts_section("when", "Hours", note, [])
    return charts_section("when", "Hours", note, [chart])


def _week(title: str, averages: F64, counts: I64, least: int) -> Chart:
    shown = _shown(averages, counts, least)
    values: Sequence[Sequence[float | None]] = [
        shown[day * HOURS : (day + 1) * HOURS] for day in range(DAYS)
    ]
    return heatmap("hours", title, "requests per hour", _DAY_NAMES, _HOUR_NAMES, values)
