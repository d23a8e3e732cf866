"""The headers of an answer that say which bytes it brings, and of which version of the file.

Sources: RFC 9110 (8.6 length, 8.8 validators, 10.2.3 Retry-After, 14.4 ranges).
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus

from geolookup_builder.remote.answer import PassingError, Version
from geolookup_builder.remote.key import Key

_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")
#: RFC 9110, 8.8.2.2: a file may change twice within the second that a date can tell.
_SURE_SECONDS = 60


def answered_range(status: int, headers: Message, wanted: int) -> tuple[int, int | None]:
    """Return the first byte that an answer brings, and how many the whole file has, if told.

    Raises PassingError where a part came that is not the rest from byte ``wanted`` on.
    """
    length = headers.get("Content-Length", "").strip()
    if status != HTTPStatus.PARTIAL_CONTENT:
        return 0, int(length) if _LENGTH.fullmatch(length) else None
    found = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if found is None:
        raise PassingError("the server does not say which part it sends", discard=True)
    first, last = int(found[1]), int(found[2])
    total = last + 1 if found[3] == "*" else int(found[3])
    if not wanted or first != wanted or last + 1 != total:
        raise PassingError("the server sent another part than it was asked for", discard=True)
    return first, total


def version(headers: Message, key: Key | None) -> Version:
    """Return which version of the file came; a weak ETag or a young date proves no bytes."""
    etag, modified = headers.get("ETag", ""), _iso(headers.get("Last-Modified", ""))
    if key and key.is_in(etag):  # which would be noted in the cache
        etag = ""
    if etag.startswith('"'):
        return Version(etag, modified, etag)
    date = _iso(headers.get("Date", ""))
    return Version(etag, modified, http_date(modified) if _is_sure(modified, date) else "")


def _is_sure(modified: str, date: str) -> bool:
    if not (modified and date):
        return False
    passed = datetime.fromisoformat(date) - datetime.fromisoformat(modified)
    return passed.total_seconds() >= _SURE_SECONDS


def coding(headers: Message) -> str:
    """Return how the server packed the file for the way; empty where it did not."""
    stated = headers.get("Content-Encoding", "").strip().lower()
    return {"identity": "", "x-gzip": "gzip"}.get(stated, stated)


def seconds(retry_after: str | None) -> float | None:
    """Read a Retry-After, in seconds or as a date; None where it is neither."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    until = _iso(retry_after)
    return max(0.0, datetime.fromisoformat(until).timestamp() - time.time()) if until else None


def _iso(date: str) -> str:
    """Read the date of a header as ISO 8601 in UTC; empty where it is none."""
    try:
        found = parsedate_to_datetime(date)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return ""


def http_date(iso: str) -> str:
    """Return an instant of ISO 8601 as headers have it."""
    return format_datetime(datetime.fromisoformat(iso), usegmt=True)
