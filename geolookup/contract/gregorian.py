"""Days as numbers, and timestamps as texts."""

from __future__ import annotations

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from datetime import datetime

DAY = 86400  # seconds


def first_day(year: int) -> int:
    """Return 1 January of a year as days since 1970-01-01."""
    past = year - 1
    # 719,162 days from 0001-01-01 to 1970-01-01.
    return past * 365 + past // 4 - past // 100 + past // 400 - 719_162


def timestamp(at: datetime | int | None = None) -> str:
    """Return an instant or Unix second, by default the present, as files and commands state it.

    That is RFC 3339 in UTC, to the second: "2026-11-25T23:03:41Z".
    """
    from datetime import UTC, datetime, timedelta

    if isinstance(at, int):  # ``fromtimestamp`` of Windows refuses times before 1970
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)
    instant = datetime.now(UTC) if at is None else at.astimezone(UTC)
    return f"{instant.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def read_timestamp(text: str) -> datetime:
    """Return the instant of a text that ``timestamp`` wrote; ValueError for any other text."""
    from datetime import datetime

    instant = datetime.fromisoformat(text)
    if timestamp(instant) != text:
        raise ValueError(f"{text!r} is not a timestamp")
    return instant
