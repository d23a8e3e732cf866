"""Resuming: the file that is kept is one version, whole; headers are read or refused."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.errors import BuildError
from geolookup.remote import Answer, TransientError, Version
from geolookup.remote.address import Remote
from geolookup.remote.cache import Cached
from geolookup.remote.key import Key
from geolookup.remote.web import coding, http_date, response_range, retry_seconds, version
from tests.remote.serving import (
    FAST,
    MODIFIED,
    Act,
    Handler,
    cut,
    fetched,
    file,
    kept_files,
    serving,
    status,
)
from tests.tiers import scaled

ONE = b"".join(b"%06d,one\n" % at for at in range(30_000))
TWO = ONE.replace(b"one", b"two")
SHA256 = hashlib.sha256(ONE).hexdigest()
AT = 200_000


def answered(content: bytes, place: str, **headers: str) -> Act:
    """An answer to a Range: these bytes, under that Content-Range."""
    headers = {"ETag": '"one"', "Content_Range": place, **headers}
    return lambda handler: handler.answer(206, content, **headers)


def test_a_download_goes_on(tmp_path: Path) -> None:
    with serving(cut(ONE, AT), status(404), file(ONE)) as site:
        with pytest.raises(BuildError, match="404"):
            fetched(f"{site.url}/a.csv", tmp_path)
        assert kept_files(tmp_path, "a.csv") == []
        assert fetched(f"{site.url}/a.csv", tmp_path).start == AT
    assert kept_files(tmp_path, "a.csv") == [ONE]
    with serving(cut(ONE, AT), file(ONE)) as site:
        done = fetched(f"{site.url}/a.csv", tmp_path)
    assert done.file.path.read_bytes() == ONE
    assert done.start == AT
    assert str(done) == f"fetched {len(ONE):,} bytes, resumed at byte {AT:,}"
    assert site.ranges == [None, f"bytes={AT}-"]
    assert site.asked[1][1]["If-Range"] == '"one"'
    # Such as that of a hotel's network, in place of the rest.
    page = status(200, b"<html>", Content_Type="text/html")
    with serving(cut(ONE, AT), page, file(ONE)) as site:
        with pytest.raises(BuildError, match="HTML page"):
            fetched(f"{site.url}/a.csv", tmp_path)
        assert fetched(f"{site.url}/a.csv", tmp_path).start == AT


ONE_ENDS, GREW = f"{len(ONE) - 1}/{len(ONE)}", ONE + TWO
LATER = {
    "the range is ignored": [status(200, ONE, ETag='"one"')],
    "the file changed": [file(TWO, '"two"')],
    "the file changed, and the range is answered": [
        answered(TWO[AT:], f"bytes {AT}-{ONE_ENDS}", ETag='"two"'),
        file(TWO, '"two"'),
    ],
    "the file grew, under the same ETag": [
        answered(GREW[AT:], f"bytes {AT}-{len(GREW) - 1}/{len(GREW)}"),
        file(ONE),
    ],
    "another range": [answered(ONE[9:], f"bytes 9-{ONE_ENDS}"), file(ONE)],
    "not to the end": [answered(ONE[AT : AT + 9], f"bytes {AT}-{AT + 8}/{len(ONE)}"), file(ONE)],
    "no range stated": [answered(ONE[AT:], ""), file(ONE)],
    "nonsense stated": [answered(ONE[AT:], "bytes x-y/z"), file(ONE)],
    "out of range": [status(416, Content_Range=f"bytes */{len(ONE)}"), file(ONE)],
    "cut again": [cut(ONE, AT), file(ONE)],  # from the beginning, for the range is ignored
    "packed now": [
        answered(ONE[AT:], f"bytes {AT}-{ONE_ENDS}", Content_Encoding="gzip"),
        file(ONE),
    ],
}


def test_no_file_is_made_of_two(tmp_path: Path) -> None:
    with serving(file(ONE)) as site:
        for name, acts in LATER.items():
            site.plan[:], site.asked[:] = [cut(ONE, AT), *acts], []
            found = fetched(f"{site.url}/a.csv", tmp_path / name).file.path.read_bytes()
            assert found == (TWO if "changed" in name else ONE), name
            assert kept_files(tmp_path / name, "a.csv") == [found], name
            # What is not the rest of this version is not built upon.
            last = f"bytes={AT}-" if len(acts) == 1 or name == "cut again" else None
            assert site.ranges[-1] == last, name


def test_what_is_no_sure_version(tmp_path: Path) -> None:
    # The server sends the rest of another file under the same ETag and length.
    rest = answered(TWO[AT:], f"bytes {AT}-{len(TWO) - 1}/{len(TWO)}")
    with serving(cut(ONE, AT), rest, file(ONE)) as site:
        assert fetched(f"{site.url}/a.csv", tmp_path, SHA256).file.path.read_bytes() == ONE
    assert site.ranges == [None, f"bytes={AT}-", None]
    for number, etag in enumerate(("", 'W/"one"')):
        with serving(cut(ONE, AT, etag=etag), file(ONE, etag)) as site:
            done = fetched(f"{site.url}/a.csv", tmp_path / str(number))
        assert done.file.path.read_bytes() == ONE
        assert site.ranges == [None, None]


def test_what_stays_of_a_failure_is_what_can_be_resumed(tmp_path: Path) -> None:
    """Nothing stays of what is too large."""
    for name, etag, stays in (("no version", "", []), ("version", '"one"', [ONE[:AT]])):
        folder = tmp_path / name
        with serving(cut(ONE, AT, etag=etag), status(503)) as site, pytest.raises(BuildError):
            fetched(f"{site.url}/a.csv", folder)
        assert [path.read_bytes() for path in folder.glob("cache/*/part/*")] == stays
    with serving(file(ONE)) as site, pytest.raises(BuildError, match="larger than"):
        fetched(f"{site.url}/a.csv", tmp_path, "", replace(FAST, largest=AT))
    assert list(tmp_path.glob("cache/*/part")) == []


def test_a_date_is_sure_a_minute_later(tmp_path: Path) -> None:
    """RFC 9110, 8.8.2.2: until then the file might have changed twice within its second."""
    for date, sure in (("08:00:59", False), ("08:01:00", True)):

        def act(handler: Handler, date: str = date) -> None:
            handler.send_response_only(200)
            handler.send_header("Date", f"{MODIFIED[:16]} {date} GMT")
            handler.send_header("Last-Modified", MODIFIED)
            handler.send_header("Content-Length", str(len(ONE)))
            handler.end_headers()
            handler.wfile.write(ONE[:AT])

        with serving(act, file(ONE, "", Last_Modified=MODIFIED)) as site:
            done = fetched(f"{site.url}/a.csv", tmp_path / str(sure))
        assert done.file.path.read_bytes() == ONE
        assert site.ranges == [None, f"bytes={AT}-" if sure else None]
        assert site.asked[1][1].get("If-Range") == (MODIFIED if sure else None)


def test_a_part_is_complete_and_has_its_note(tmp_path: Path) -> None:
    for note in (None, "{", "[]", json.dumps({"validator": '"one"', "total": "x"})):
        with serving(cut(ONE, AT), status(404), file(ONE)) as site:
            folder = tmp_path / str(note)
            folder.mkdir()
            with pytest.raises(BuildError):
                fetched(f"{site.url}/a.csv", folder)
            (path,) = folder.glob("cache/*/part.json")
            path.unlink() if note is None else path.write_text(note, encoding="utf-8")
            assert fetched(f"{site.url}/a.csv", folder).file.path.read_bytes() == ONE
    # A run that ended between the last byte and the swap.
    with serving(cut(ONE, AT), status(404), file(ONE)) as site:
        with pytest.raises(BuildError):
            fetched(f"{site.url}/a.csv", tmp_path)
        (part,) = tmp_path.glob("cache/*/part/a.csv")
        part.write_bytes(ONE)
        assert fetched(f"{site.url}/a.csv", tmp_path).file.path.read_bytes() == ONE
    assert site.ranges[-1] == f"bytes={len(ONE) - 1}-"


@settings(max_examples=scaled(8, 25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(ONE) - 1), max_size=3), resets=st.booleans())
def test_any_cuts(cuts: list[int], resets: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each answer ends somewhere, and ranges are answered: the file is the same in the end."""
    folder = tmp_path_factory.mktemp("cuts")

    def ending(at: int) -> Act:
        def act(handler: Handler) -> None:
            start = int((handler.headers.get("Range") or "bytes=0-")[6:-1])
            code = 206 if start else 200
            headers = {"Content_Range": f"bytes {start}-{len(ONE) - 1}/{len(ONE)}" if start else ""}
            length = str(len(ONE) - start)
            handler.answer(code, ONE[start:at], Content_Length=length, ETag='"one"', **headers)
            if resets:
                handler.reset()

        return act

    with serving(*(ending(at) for at in cuts), file(ONE)) as site:
        assert fetched(f"{site.url}/a.csv", folder).file.path.read_bytes() == ONE
    assert len(site.asked) == len(cuts) + 1


def test_a_malformed_size_of_a_part_is_unknown(tmp_path: Path) -> None:
    cached = Cached(tmp_path, Remote(tmp_path, "https://example.net/rows.csv", "rows.csv"))
    with cached.lock():
        part = cached.begin(Answer(Version(), iter(()), None))
        part.path.write_bytes(b"abc")
        for total in ("-5", "0", "true", '"9"', "1e3"):
            (part.path.parent.parent / "part.json").write_text(f'{{"total": {total}}}', "utf-8")
            assert (cached.part().total, cached.part().size) == (None, 3), total


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
        start, total = response_range(status, message(headers), 7)
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
