"""Headers that decide on the bytes of a download, or are stored and sent again."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import BuildError
from geolookup.remote import CacheState, TransientError, Version
from geolookup.remote.headers import (
    coding,
    conditions,
    entity_tag,
    http_date,
    response_range,
    retry_seconds,
    version,
)
from geolookup.remote.key import Key
from tests.remote.serving import MODIFIED, Act, Handler, cut, fetched, file, serving, status

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


def strict(content: bytes, **headers: str) -> Act:
    """A server like nginx: a head with a long or folded line is answered with 400."""

    def act(handler: Handler) -> None:
        values = handler.headers.values()
        is_bad = any(len(value) > 4096 or "\n" in value for value in values)
        (status(400) if is_bad else file(content, **headers))(handler)

    return act


def test_only_entity_tags_are_stored_and_sent_again() -> None:
    for name, tag in BAD_TAGS.items():
        assert entity_tag(tag) == "", name
        assert version(message({"ETag": tag}), None) == Version(), name
        assert conditions(CacheState(Version(tag))) == {}, name
        assert conditions(CacheState(start=7, validator=tag)) == {}, name
    for tag in GOOD_TAGS:
        assert version(message({"ETag": f" {tag}\t"}), None).etag == tag
        assert conditions(CacheState(Version(tag))) == {"If-None-Match": tag}


def test_one_bad_entity_tag_does_not_stop_later_downloads(tmp_path: Path) -> None:
    """Neither of a whole file, nor of a part."""
    for name, tag in BAD_TAGS.items():
        with serving(file(ROWS, tag), strict(ROWS)) as site:
            assert fetched(f"{site.url}/a.csv", tmp_path / name).file.version.etag == ""
            assert fetched(f"{site.url}/a.csv", tmp_path / name).changed, name
        with serving(cut(ROWS, 100, etag=tag), strict(ROWS)) as site:
            done = fetched(f"{site.url}/b.csv", tmp_path / name)
        assert done.file.path.read_bytes() == ROWS, name
        assert site.ranges == [None, None], name


def test_bad_validators_in_the_cache_are_not_sent(tmp_path: Path) -> None:
    """Such as those that an earlier version has stored."""
    with serving(file(ROWS), strict(ROWS)) as site:
        kept = fetched(f"{site.url}/a.csv", tmp_path).file.path.parent.parent
        for path in kept.glob("*.json"):
            stated = json.loads(path.read_bytes())
            path.write_text(json.dumps({**stated, "etag": BAD_TAGS["long"]}), encoding="utf-8")
        assert fetched(f"{site.url}/a.csv", tmp_path).file.path.read_bytes() == ROWS


def test_refused_conditions_are_left_out_once(tmp_path: Path) -> None:
    """Whatever the reason: a filter of requests may refuse an entity tag that is well-formed."""
    for code in (400, 403, 404, 412, 416, 431):

        def act(handler: Handler, code: int = code) -> None:
            names = {"If-None-Match", "If-Modified-Since", "Range"} & set(handler.headers)
            (status(code) if names else file(ROWS, '"two"'))(handler)

        folder = tmp_path / str(code)
        with serving(file(ROWS, Last_Modified=MODIFIED), act) as site:
            fetched(f"{site.url}/a.csv", folder)
            assert fetched(f"{site.url}/a.csv", folder).file.version.etag == '"two"'
            assert [headers.get("If-None-Match") for _, headers in site.asked[1:]] == [
                '"one"',
                None,
            ]
        with serving(cut(ROWS, 100), act) as site:
            assert fetched(f"{site.url}/b.csv", folder).file.path.read_bytes() == ROWS
            assert site.ranges == [None, "bytes=100-", None]
        with serving(file(ROWS), status(code)) as site:
            fetched(f"{site.url}/c.csv", folder)
            with pytest.raises(BuildError, match=str(code)):
                fetched(f"{site.url}/c.csv", folder)
            assert len(site.asked) == 3
        with serving(status(code)) as site, pytest.raises(BuildError, match=str(code)):
            fetched(f"{site.url}/d.csv", folder)
        assert len(site.asked) == 1


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
    result = version(message(headers), Key("k"))
    if result.modified:
        assert datetime.fromisoformat(result.modified).tzinfo == UTC
        http_date(result.modified)  # the next request sends it
    coding(message(headers))
    with suppress(TransientError):
        start, total = response_range(status, message(headers), 7)
        assert start == (7 if status == 206 else 0)
        assert total is None or total >= start


@given(text=HOSTILE)
def test_a_hostile_retry_after(text: str) -> None:
    wait = retry_seconds(text)
    assert wait is None or 0 <= wait <= 2**31


def test_an_endless_retry_after_is_a_number() -> None:
    """RFC 9111, 1.2.2, for a number of seconds too great to represent."""
    assert retry_seconds("9" * 60_000) == retry_seconds(str(2**31)) == 2**31
    assert retry_seconds("Fri, 31 Dec 9999 23:59:59 GMT") == 2**31
    for malformed in (None, "", "-1", "1.5", "\u0661", "1 second"):
        assert retry_seconds(malformed) is None, malformed


def test_a_date_is_short_and_sent_in_one_form() -> None:
    """RFC 9110, 5.6.7: three forms are read, the first is written."""
    sent = "Sun, 06 Nov 1994 08:49:37 GMT"
    for date in (sent, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"):
        state = CacheState(version(message({"Last-Modified": date}), None))
        assert conditions(state) == {"If-Modified-Since": sent}
    assert version(message({"Last-Modified": sent + " " * 40 + "x"}), None) == Version()
    for year in ("0000", "0001", "0068", "0099"):  # none of 1969 to 2068
        early = sent.replace("1994", year)
        assert version(message({"Last-Modified": early}), None) == Version()
    assert conditions(CacheState(start=7, validator=sent))["If-Range"] == sent


@given(start=st.integers(1, 10**9), length=st.integers(1, 10**9))
def test_the_rest_of_a_file(start: int, length: int) -> None:
    total = start + length
    stated = {"Content-Range": f"bytes {start}-{total - 1}/{total}"}
    assert response_range(206, message(stated), start) == (start, total)
    unknown = {"Content-Range": f"bytes {start}-{total - 1}/*"}
    assert response_range(206, message(unknown), start) == (start, total)
    for wrong in (
        f"bytes {start - 1}-{total - 1}/{total}",
        f"bytes {start}-{total - 1}/{total + 1}",
    ):
        with pytest.raises(TransientError) as caught:
            response_range(206, message({"Content-Range": wrong}), start)
        assert caught.value.discard


def test_a_part_that_nobody_asked_for() -> None:
    with pytest.raises(TransientError):
        response_range(206, message({"Content-Range": "bytes 0-9/10"}), 0)


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
