"""Headers of an answer: whatever they hold, they are read or refused, and nothing else happens."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from email.message import Message

import pytest
from geolookup_builder.remote.key import Key
from geolookup_builder.remote.protocol import TransientError, Version
from geolookup_builder.remote.web import answered_range, coding, http_date, retry_seconds, version
from hypothesis import given
from hypothesis import strategies as st

NAMES = (
    *("Content-Length", "Content-Range", "Content-Encoding"),
    *("ETag", "Last-Modified", "Date"),
)
LINE = st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=40)
NUMBER = st.integers(0, 10**20)
DATE = st.builds(
    "Thu, {} {} {:04} {}:00:00 {}".format,
    st.integers(0, 40),
    st.sampled_from(["Nov", "Jan", "Dec", "X"]),
    st.integers(0, 10_000),
    st.integers(0, 30),
    st.sampled_from(["GMT", "+2359", "-2359", "", "-0000", "+9999"]),
)
RANGE = st.builds("bytes {}-{}/{}".format, NUMBER, NUMBER, NUMBER | st.just("*"))
HOSTILE = LINE | DATE | RANGE | NUMBER.map(str)


def message(headers: dict[str, str]) -> Message:
    made = Message()
    for name, value in headers.items():
        made[name] = value
    return made


@given(headers=st.dictionaries(st.sampled_from(NAMES), HOSTILE), status=st.sampled_from([200, 206]))
def test_hostile_headers(headers: dict[str, str], status: int) -> None:
    found = version(message(headers), Key("k"))
    if found.modified:
        assert datetime.fromisoformat(found.modified).tzinfo == UTC
        http_date(found.modified)  # so that the server can be asked with it
    coding(message(headers))
    with suppress(TransientError):
        start, total = answered_range(status, message(headers), 7)
        assert start == (7 if status == 206 else 0)
        assert total is None or total >= start


@given(text=HOSTILE)
def test_a_hostile_retry_after(text: str) -> None:
    wait = retry_seconds(text)
    assert wait is None or 0 <= wait <= 1e12


def test_an_endless_retry_after_is_a_number() -> None:
    """RFC 9111, 1.2.2, for a number of seconds too great to represent."""
    assert retry_seconds("9" * 400) == retry_seconds(str(2**31)) == 2**31


@given(start=st.integers(1, 10**9), rest=st.integers(1, 10**9))
def test_the_rest_of_a_file(start: int, rest: int) -> None:
    total = start + rest
    stated = {"Content-Range": f"bytes {start}-{total - 1}/{total}"}
    assert answered_range(206, message(stated), start) == (start, total)
    unknown = {"Content-Range": f"bytes {start}-{total - 1}/*"}
    assert answered_range(206, message(unknown), start) == (start, total)
    for wrong in (
        f"bytes {start - 1}-{total - 1}/{total}",
        f"bytes {start}-{total - 1}/{total + 1}",
    ):
        with pytest.raises(TransientError) as caught:
            answered_range(206, message({"Content-Range": wrong}), start)
        assert caught.value.discard


def test_a_part_that_nobody_asked_for() -> None:
    with pytest.raises(TransientError):
        answered_range(206, message({"Content-Range": "bytes 0-9/10"}), 0)


def test_what_proves_the_same_bytes() -> None:
    old, young = "Thu, 19 Nov 2026 08:00:00 GMT", "Thu, 19 Nov 2026 08:00:30 GMT"
    now = "Thu, 19 Nov 2026 08:01:00 GMT"
    iso = "2026-11-19T08:00:00+00:00"
    for stated, wanted in (
        ({"ETag": '"a"'}, Version('"a"', "", '"a"')),
        ({"ETag": 'W/"a"'}, Version('W/"a"')),
        ({"ETag": 'W/"a"', "Last-Modified": old, "Date": now}, Version('W/"a"', iso, old)),
        ({"Last-Modified": old, "Date": young}, Version("", iso, "")),
        ({"Last-Modified": old}, Version("", iso, "")),
        ({"ETag": '"the key"'}, Version()),
    ):
        assert version(message(stated), Key("the key")) == wanted
