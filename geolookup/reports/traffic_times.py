"""The sections on when requests occur: over time, and by hour of the week."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from geolookup.contract.gregorian import DAY
from geolookup.dataset.intervals import I64
from geolookup.files.summarize import Summary
from geolookup.files.traffic import DAYS, HOURS, LocalHours, Times, Traffic
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, heatmap, histogram
from geolookup.pictures.wording import mark_shown
from geolookup.reports.section import Section
from geolookup.reports.traffic_views import View, is_drawn, known_title, share_text, views_section

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {60: "minute", 3600: "hour", DAY: "day", 7 * DAY: "week from Monday"}
#: A chart has no more columns of time: a stray time can be centuries away.
MOST_COLUMNS = 1000
_DAY_NAMES = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_HOUR_NAMES = [f"{hour:02d}" for hour in range(HOURS)]
_NO_TIMES = (
    "No request has a time. The lines of a log have one; of another file, "
    "--local-time-column names the column."
)
_NO_ADDRESSES = "No request has a public address."


def utc_text(second: int, *, day: bool = False) -> str:
    """Return the text of a Unix second: a minute, or with ``day`` a date."""
    return f"{_EPOCH + timedelta(seconds=second):{'%Y-%m-%d' if day else '%Y-%m-%d %H:%M'}}"


def shown_counts(counts: I64, least: int) -> list[int | None]:
    """Return counts, None for hidden ones: see ``wording.cover``; no 0 is hidden from 1 on."""
    is_shown = mark_shown(counts, least)
    return [
        int(count) if shown or least <= 1 else None
        for count, shown in zip(counts, is_shown, strict=True)
    ]


def bucket_counts(times: Times) -> I64:
    """Return the requests of each bucket of a period."""
    buckets = times.buckets()
    _, values, counts = times.joint.rows()
    if not len(buckets):
        return np.zeros(0, np.int64)
    return np.bincount(values - buckets.start, counts, len(buckets)).astype(np.int64)


def time_section(summary: Summary, traffic: Traffic, least: int) -> Section:
    """Return the requests by minute, hour, day or week in UTC."""
    times = traffic.times
    unit, buckets = _UNITS[times.size], times.buckets()
    counts = bucket_counts(times) if len(buckets) <= MOST_COLUMNS else np.zeros(0, np.int64)
    known, total = int(counts.sum()), summary.addresses
    if not is_drawn(known, total):
        return views_section("time", "Requests over time", _no_columns(summary, buckets, known))
    labels = [utc_text(times.start(at), day=times.size >= DAY) for at in buckets]
    values = shown_counts(counts, least)
    title = known_title(f"Requests by {unit}, UTC", known, total)
    drawn = [(label, value or 0) for label, value in zip(labels, values, strict=True)]
    rows = [(label, [value]) for label, value in zip(labels, values, strict=True)]
    picture = histogram("requests-time", title, unit, "requests", drawn)
    view = View("requests-time", "columns", title, (unit, "requests"), rows, picture)
    hidden = known - sum(value or 0 for value in values)
    note = f"In hidden parts: {wording.count(hidden)}." if hidden else ""
    return views_section("time", "Requests over time", note, [view])


def _no_columns(summary: Summary, buckets: Sequence[int], known: int) -> str:
    if not summary.public:
        return _NO_ADDRESSES
    if len(buckets) > MOST_COLUMNS:
        return f"The times are up to {len(buckets):,} weeks apart: too far for a chart."
    if not known:
        return _NO_TIMES
    return f"Only {share_text(known, summary.addresses)} of the requests have a time: no chart."


def hours_section(hours: LocalHours, requests: int, least: int) -> Section:
    """Return the requests by hour of the week: local hours, or UTC if too few are known.

    Hours of fewer than ``least`` requests are hidden, and another as ``wording.cover`` says.
    """
    views = []
    local, utc = int(hours.counts.sum()), int(hours.utc.sum())
    said = []
    if is_drawn(local, requests):
        title = known_title("Requests by local hour", local, requests)
        views = [_view(title, hours.counts, least)]
        said = [*_sentences(hours, views[0])]
    elif is_drawn(utc, requests):
        title = known_title("Requests by hour, UTC", utc, requests)
        views = [_view(title, hours.utc, least)]
        share = share_text(local, requests)
        said = [f"The local hour is known for only {share} of the requests: the hours are in UTC."]
        said += _hidden(hours.utc, views[0])
    else:
        said = [_nothing(hours, requests)]
    return views_section("when", "Local hours" if local else "Hours", " ".join(said), views)


def _view(title: str, counts: I64, least: int) -> View:
    values = np.array(shown_counts(counts, least), object).reshape(DAYS, HOURS).tolist()
    rows = list(zip(_DAY_NAMES, values, strict=True))
    return View("hours", "heat", title, ("", *_HOUR_NAMES), rows, _picture(title, values))


def _picture(title: str, values: Sequence[Sequence[int | None]]) -> Chart:
    return heatmap("hours", title, "requests", _DAY_NAMES, _HOUR_NAMES, values)


def _sentences(hours: LocalHours, view: View) -> Iterator[str]:
    yield "The local time at the location of the address, with daylight saving."
    yield from _hidden(hours.counts, view)
    others = {
        "Without a time": hours.without_time,
        "With a time, but without a known time zone": hours.without_zone,
    }
    for name, number in others.items():
        if number:
            yield f"{name}: {wording.count(number)}."


def _hidden(counts: I64, view: View) -> Iterator[str]:
    shown = sum(count or 0 for _, row in view.rows for count in row)
    if hidden := int(counts.sum()) - shown:
        yield f"In hidden hours: {wording.count(hidden)}."


def _nothing(hours: LocalHours, requests: int) -> str:
    if timed := int(hours.utc.sum()):
        return f"Only {share_text(timed, requests)} of the requests have a time: no chart."
    return _NO_TIMES if hours.without_time else _NO_ADDRESSES
