"""The headers of a response that decide on its bytes, or are stored and sent again (RFC 9110).

A server chooses them, and a header that it sends once is sent back with every later request. So
each is checked against its grammar and a length; a malformed one counts as missing.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus

from geolookup.remote import CacheState, TransientError, Version
from geolookup.remote.key import Key

#: RFC 9110, 8.8.3: "v1" is strong; W/"v1" is weak: equal meaning, maybe other bytes.
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"')
#: Bytes of an entity tag. The longest ones of common servers have about 70.
LONGEST_TAG = 256
#: Characters of a date. The longest form of RFC 9110, 5.6.7, has 33.
LONGEST_DATE = 64
#: A year of four digits that ``parsedate_to_datetime`` reads as one of two: 0001 as 2001.
_EARLY_YEAR = re.compile(r"\b00[0-9][0-9]\b")
#: "bytes 100-199/200": first and last byte, both included, of 200; "*" for an unknown size.
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")
_SECONDS = re.compile(r"[0-9]+")
#: RFC 9110, 8.8.2.2: a file may change twice within the second that a date resolves.
_SURE_SECONDS = 60
#: RFC 9111, 1.2.2: stands for any greater number of seconds.
_MOST_SECONDS = 2.0**31


def conditions(state: CacheState) -> dict[str, str]:
    """Return headers that request the rest of a file, or the file only if it has changed.

    The validators come from a file of the cache; malformed ones are not sent.
    """
    if state.start:
        # If-Range: the whole file (200) instead of the part (206) if the validator differs.
        validator = entity_tag(state.validator) or http_date(_iso(state.validator))
        return {"Range": f"bytes={state.start}-", "If-Range": validator} if validator else {}
    if state.version is None:
        return {}
    etag, modified = entity_tag(state.version.etag), http_date(state.version.modified)
    headers = {"If-None-Match": etag, "If-Modified-Since": modified}
    return {name: value for name, value in headers.items() if value}


def entity_tag(text: str) -> str:
    """Return an entity tag; empty if it is malformed or too long (RFC 9110, 8.8.3)."""
    tag = text.strip(" \t")
    return tag if len(tag) <= LONGEST_TAG and _ENTITY_TAG.fullmatch(tag) else ""


def response_range(status: int, headers: Message, start: int) -> tuple[int, int | None]:
    """Return the first byte of a response, and the size of the whole file, if stated.

    RFC 9110, 8.6 and 14.4. Raises TransientError for a part that is not the rest from byte
    ``start`` on.
    """
    length = headers.get("Content-Length", "").strip()
    if status != HTTPStatus.PARTIAL_CONTENT:
        return 0, int(length) if _LENGTH.fullmatch(length) else None
    part = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if part is None:
        raise TransientError("the server does not state which part it sends", discard=True)
    first, last = int(part[1]), int(part[2])
    # The rest was requested, so the last byte sent is the last of the file.
    total = last + 1 if part[3] == "*" else int(part[3])
    if not start or first != start or last + 1 != total:
        raise TransientError("the server sent another part than requested", discard=True)
    return first, total


def version(headers: Message, key: Key | None) -> Version:
    """Return the version of the file; weak ETags and recent dates are not validators (RFC 9110)."""
    etag, modified = entity_tag(headers.get("ETag", "")), _iso(headers.get("Last-Modified", ""))
    if key and key.is_in(etag):  # the cache stores the ETag
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
    """Return the Content-Encoding of the response; empty without one."""
    value = headers.get("Content-Encoding", "").strip().lower()
    return {"identity": "", "x-gzip": "gzip"}.get(value, value)


def retry_seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After (RFC 9110, 10.2.3), a number or a date; else None."""
    text = (retry_after or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), _MOST_SECONDS)
    until = _iso(text)
    if not until:
        return None
    return min(max(0.0, datetime.fromisoformat(until).timestamp() - time.time()), _MOST_SECONDS)


def _iso(date: str) -> str:
    """Return the date of a header as ISO 8601 in UTC; empty if it is malformed or too long."""
    if len(date) > LONGEST_DATE or _EARLY_YEAR.search(date):
        return ""
    try:
        instant = parsedate_to_datetime(date)
        aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return ""


def http_date(iso: str) -> str:
    """Return an instant of ISO 8601, or an empty text, in the format of headers."""
    return iso and format_datetime(datetime.fromisoformat(iso), usegmt=True)
