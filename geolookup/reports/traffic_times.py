"""The sections on when requests occur: over time, and by hour of the week."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import isnan

from geolookup.contract.gregorian import DAY
from geolookup.dataset.intervals import I64
from geolookup.files.traffic import DAYS, HOUR, HOURS, WEEK, Times, Traffic
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, heatmap, periods
from geolookup.reports.section import Section, charts_section
from geolookup.reports.traffic_groups import few_line

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {60: "minute", HOUR: "hour", DAY: "day", WEEK: "week"}
#: A chart has no more columns of time: a stray time can be centuries away.
MOST_COLUMNS = 1000
_DAY_NAMES = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_HOUR_NAMES = [f"{hour:02d}" for hour in range(HOURS)]
_NO_TIMES = (
    "No request has a time. The lines of a log have one; of another file, "
    "--local-time-at names the column."
)
_AVERAGE = (
    "The average week has the requests of each hour of the week, divided by how often this hour "
    "occurs in the period of all requests, in the local time of the address. A blank hour is "
    "hidden, or not wholly in this period."
)


def utc_text(second: int, *, day: bool = False) -> str:
    """Return the text of a Unix second: a minute, or with ``day`` a date."""
    return f"{_EPOCH + timedelta(seconds=second):{'%Y-%m-%d' if day else '%Y-%m-%d %H:%M'}}"


def times_section(traffic: Traffic, least: int) -> Section:
    """Return the requests over time, and by hour of the week."""
    timed = traffic.times.requests
    if timed < least:
        note = f"Requests with a time: {wording.count_or_few(timed, least)}, too few for a chart."
        return charts_section("time", "Time", note if timed else _NO_TIMES, [])
    parts = _over_time(traffic.times, least), _week(traffic.times, least)
    sentences = [sentence for several, _ in parts for sentence in several]
    charts = [chart for _, several in parts for chart in several]
    return charts_section("time", "Time", " ".join(sentences), charts)


def _over_time(times: Times, least: int) -> tuple[list[str], list[Chart]]:
    """Return sentences on the requests by minute, hour, day or week in UTC, and their chart."""
    unit, buckets = _UNITS[times.size], times.buckets(whole=True)
    if len(buckets) > MOST_COLUMNS:
        return [f"The times are up to {len(buckets):,} weeks apart: no chart over time."], []
    if len(buckets) < 2:
        return ["The times are within a few minutes: no chart over time."], []
    counts = times.counts(buckets)
    starts = [utc_text(times.start(bucket), day=times.size >= DAY) for bucket in buckets]
    hidden = _hidden(counts, unit, least)
    if (counts < least).all():
        return [*hidden, "No chart over time."], []
    values = [None if wording.is_few(count, least) else count for count in counts.tolist()]
    chart = periods("over-time", f"Requests by {unit}, UTC", "requests", starts, values)
    whole = [f"The chart over time has only whole {unit}s."] if buckets != times.buckets() else []
    return [*whole, *hidden], [chart]


def _hidden(counts: I64, unit: str, least: int) -> Iterator[str]:
    few = [count for count in counts.tolist() if wording.is_few(count, least)]
    if few:
        line, requests = few_line(few, unit, f"{unit}s", least)
        yield f"Hidden: {line}, {requests} in all."


def _week(times: Times, least: int) -> tuple[list[str], list[Chart]]:
    """Return sentences on the requests by hour of the local week, and their chart."""
    local = f"Requests with a known local time: {wording.count_or_few(times.known, least)}."
    average, counts = times.average_week(times.first or 0, times.last or 0)
    hidden = _hidden(counts, "hour", least)
    if (counts < least).all():
        return [local, *hidden, "No chart of an average week."], []
    cells = [
        None if isnan(value) or wording.is_few(count, least) else value
        for value, count in zip(average.tolist(), counts.tolist(), strict=True)
    ]
    days = [cells[day * HOURS : (day + 1) * HOURS] for day in range(DAYS)]
    title = "Average week, local time"
    chart = heatmap("week", title, "requests per hour", _DAY_NAMES, _HOUR_NAMES, days)
    return [_AVERAGE, local, *hidden], [chart]
