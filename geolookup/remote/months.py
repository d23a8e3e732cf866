"""The months of an address with ``{month}``: publishers name a file by the month of its data.

A new month may begin days before its file is published, so the month before follows.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


def is_month(text: str) -> bool:
    """Return whether a text is a month such as 2026-11."""
    return _MONTH.fullmatch(text) is not None


def today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


def candidates(known: str, day: date) -> tuple[str, ...]:
    """Return the months to request, the newest first; ``known`` is that of the cached file.

    An older file never replaces the cached one: on 2026-12-02 with the file of 2026-12 cached, only
    2026-12 is requested, also if the publisher has withdrawn it. Without a cached file, 2026-11
    follows.
    """
    before = day.replace(day=1) - timedelta(days=1)
    months = (f"{date:%Y-%m}" for date in (day, before))
    return tuple(month for month in months if month >= known) or (known,)
