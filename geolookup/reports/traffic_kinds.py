"""The sections on status codes by country, and on hosting."""

from __future__ import annotations

import numpy as np

from geolookup.files.joint_counts import JointCounts
from geolookup.files.summarize import Summary
from geolookup.files.traffic import HOSTING, STATUSES, Traffic
from geolookup.pictures import wording
from geolookup.pictures.charts import bars, stacked_bars
from geolookup.reports.section import Section
from geolookup.reports.traffic_cube import Cube
from geolookup.reports.traffic_times import shown_counts
from geolookup.reports.traffic_views import (
    View,
    is_drawn,
    known_title,
    share_text,
    views_section,
)

_ALL = "All countries"


def _totals(joint: JointCounts, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    _, values, counts = joint.rows()
    return np.bincount(values, counts, count).astype(np.int64)


def status_section(
    summary: Summary, traffic: Traffic, cube: Cube, top: int, least: int
) -> Section | None:
    """Return the classes of status codes by country; None if no request has a status code."""
    totals = _totals(traffic.statuses.joint, len(STATUSES))
    known, requests = int(totals.sum()), summary.addresses
    if not known:
        return None
    if not is_drawn(known, requests):
        note = f"Only {share_text(known, requests)} of the requests have a status code: no chart."
        return views_section("status", "Status codes", note)
    # Most logs have no 1xx.
    occurring = np.flatnonzero(totals).tolist()
    rows = [(_ALL, shown_counts(totals, least))]
    for at, country in list(enumerate(cube.countries))[:top]:
        counts = cube.of_country("statuses", at)
        if any(counts):
            rows.append((country.label, counts))
    rows = [(name, [counts[at] for at in occurring]) for name, counts in rows]
    classes = [STATUSES[at] for at in occurring]
    title = known_title("Status codes by country", known, requests)
    picture = stacked_bars("status-countries", title, [name for name, _ in rows], classes,
        [[(n or 0) / (sum(m or 0 for m in counts) or 1) for n in counts] for _, counts in rows],
    )  # fmt: skip
    view = View("status-countries", "parts", title, ("country", *classes), rows, picture)
    note = "Classes of status codes: 4xx are errors of clients, 5xx errors of the server."
    return views_section("status", "Status codes", note, [view])


def hosting_section(summary: Summary, traffic: Traffic, least: int) -> Section:
    """Return the share of requests from networks of hosting providers."""
    totals = _totals(traffic.hosting.joint, len(HOSTING))
    known, requests = int(totals[:2].sum()), summary.addresses
    if not is_drawn(known, requests):
        share = share_text(known, requests)
        note = f"The kind of network (user_type) is known for {share} of the requests: no chart."
        return views_section("hosting", "Hosting", note)
    counts = shown_counts(totals, least)[:2]
    rows = list(zip(HOSTING, ([count] for count in counts), strict=False))
    title = known_title("Requests from hosting", known, requests)
    drawn = [(name, count or 0) for name, (count,) in rows]
    view = View("hosting-share", "bars", title, ("kind of network", "requests"), rows,
        bars("hosting-share", title, "requests", drawn, head="kind of network"),
    )  # fmt: skip
    share = "" if counts[0] is None else share_text(counts[0], known)
    note = f"Hosting: {share} of the requests whose kind of network is known." if share else ""
    note += " The kind is the user_type of the dataset."
    hidden = known - sum(count or 0 for count in counts)
    return views_section(
        "hosting",
        "Hosting",
        note.strip() + (f" Hidden: {wording.count(hidden)}." if hidden else ""),
        [view],
    )
