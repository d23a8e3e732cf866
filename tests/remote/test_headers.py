"""Headers that decide on the bytes of a download, or are stored and sent again."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.message import Message
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.internals.remote import (
    Key,
    TransientError,
    Version,
    conditions,
    content_range,
    entity_tag,
    retry_seconds,
    version,
)
from tests.remote.serving import MODIFIED, Handler, cut, fetched, file, serving, status

ROWS = b"network,isp\n8.8.8.0/24,one\n" * 1000

#: Entity tags that no server may send, or that are too long to be sent again.
BAD_TAGS = {
    "long": '"' + "a" * 60_000 + '"',
    "just too long": '"' + "a" * 255 + '"',
    "folded": '"one\r\n two"',
    "bare": "one",
    "open": '"one',
    "quote inside": '"o"e"',
    "blank inside": '"o e"',
    "control": '"o\x01e"',
    "delete": '"o\x7fe"',
    "lower-case weak": 'w/"one"',
    "two": '"one", "two"',
    "empty": "",
}
GOOD_TAGS = ('""', '"one"', 'W/"one"', '"' + "a" * 254 + '"', '"\xe4"', '"5f8-\\-!#~"')


def message(headers: dict[str, str]) -> Message:
    made = Message()
    for name, value in headers.items():
        made[name] = value
    return made


def test_only_entity_tags_are_stored_and_sent_again() -> None:
    for tag in BAD_TAGS.values():
        assert entity_tag(tag) == ""
        assert version(message({"ETag": tag}), None) == Version()
        for start in (0, 7):
            assert conditions(Version(tag, validator=tag), start) == {}
    for tag in GOOD_TAGS:
        assert version(message({"ETag": f" {tag}\t"}), None).etag == tag
        assert conditions(Version(tag)) == {"If-None-Match": tag}


@pytest.mark.parametrize("code", [400, 403, 404, 412, 416, 431])
def test_refused_conditions_are_left_out_once(tmp_path: Path, code: int) -> None:
    """Whatever the reason: a filter of requests may refuse an entity tag that is well-formed."""

    def act(handler: Handler) -> None:
        names = {"If-None-Match", "If-Modified-Since", "Range"} & set(handler.headers)
        (status(code) if names else file(ROWS, '"two"'))(handler)

    with serving(file(ROWS, Last_Modified=MODIFIED), act) as site:
        fetched(f"{site.url}/a.csv", tmp_path)
        assert fetched(f"{site.url}/a.csv", tmp_path).file.version.etag == '"two"'
        tags = [headers.get("If-None-Match") for _, headers in site.asked]
        assert tags == [None, '"one"', None]
    with serving(cut(ROWS, 100), act) as site:
        assert fetched(f"{site.url}/b.csv", tmp_path).file.path.read_bytes() == ROWS
        assert site.ranges == [None, "bytes=100-", None]
    with serving(file(ROWS), status(code)) as site:
        fetched(f"{site.url}/c.csv", tmp_path)
        for name, requests in (("c.csv", 3), ("d.csv", 4)):  # the second one has no conditions
            with pytest.raises(BuildError, match=str(code)):
                fetched(f"{site.url}/{name}", tmp_path)
            assert len(site.asked) == requests


NAMES = ("Content-Range", "ETag", "Last-Modified", "Date")
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


@given(headers=st.dictionaries(st.sampled_from(NAMES), HOSTILE), retry_after=HOSTILE)
def test_hostile_headers(headers: dict[str, str], retry_after: str) -> None:
    result = version(message(headers), Key("k"))
    if result.modified:
        assert datetime.fromisoformat(result.modified).tzinfo == UTC
        assert "If-Modified-Since" in conditions(result)
    with suppress(TransientError):
        assert content_range(message(headers), 7) > 7
    wait = retry_seconds(retry_after)
    assert wait is None or 0 <= wait <= 2**31


def test_a_date_is_short_and_sent_in_one_form() -> None:
    """RFC 9110, 5.6.7: three forms are read, the first is written."""
    sent = "Sun, 06 Nov 1994 08:49:37 GMT"
    for date in (sent, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"):
        known = version(message({"Last-Modified": date, "Date": MODIFIED}), None)
        assert conditions(known) == {"If-Modified-Since": sent}
        assert conditions(known, 7) == {"Range": "bytes=7-", "If-Range": sent}
    early = [sent.replace("1994", year) for year in ("0000", "0001", "0068", "0099")]
    for date in (sent + " " * 40 + "x", *early):  # none of 1969 to 2068
        assert version(message({"Last-Modified": date}), None) == Version()


def test_what_proves_the_same_bytes() -> None:
    modified = datetime(2026, 11, 19, 8, tzinfo=UTC)
    old, young, now = (
        f"{modified + timedelta(seconds=seconds):%a, %d %b %Y %H:%M:%S GMT}"
        for seconds in (0, 59, 60)
    )
    iso = modified.isoformat()
    for stated, wanted in (
        ({"ETag": '"a"'}, Version('"a"', "", '"a"')),
        ({"ETag": 'W/"a"'}, Version('W/"a"')),
        ({"ETag": 'W/"a"', "Last-Modified": old, "Date": now}, Version('W/"a"', iso, iso)),
        ({"Last-Modified": old, "Date": young}, Version("", iso, "")),
        ({"Last-Modified": old}, Version("", iso, "")),
        ({"ETag": '"the key"'}, Version()),
    ):
        assert version(message(stated), Key("the key")) == wanted
