"""Requests: what is followed, where the key goes, and the headers that decide about the bytes."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.internals.remote import (
    Key,
    Limits,
    Pace,
    TransientError,
    Version,
    conditions,
    content_range,
    entity_tag,
    version,
)
from tests.remote.serving import (
    MODIFIED,
    Handler,
    Site,
    cut,
    fetched,
    file,
    kept_files,
    serving,
    status,
    to,
)
from tests.skips import needs, optional

if TYPE_CHECKING:
    import trustme
else:
    trustme = optional("trustme")

ROWS = b"network,isp\n8.8.8.0/24,one\n" * 1000
HIDDEN = "s3cr3t-K/ey+7"

#: A server with a certificate.
encrypted = needs("trustme")


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """A certificate authority that this process trusts, as it would one of its system."""
    made = trustme.CA()
    path = tmp_path / "authority.pem"
    made.cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    monkeypatch.setenv("VENDOR_KEY", HIDDEN)
    return made


def certified(authority: trustme.CA) -> Iterator[Site]:
    """A host (that is: a port) with a valid certificate."""
    with serving(file(ROWS), tls=authority.issue_cert("127.0.0.1")) as site:
        yield site


#: The host of the source, and another one.
own, other = (pytest.fixture(certified, name=name) for name in ("own", "other"))


@encrypted
def test_certificates(authority: trustme.CA, own: Site, tmp_path: Path) -> None:
    """A valid one, one of another host, and one of an authority that nobody trusts."""
    assert fetched(f"{own.url}/a.csv", tmp_path).file.path.read_bytes() == ROWS
    for issuer, name in ((authority, "elsewhere.example"), (trustme.CA(), "127.0.0.1")):
        with (
            serving(file(ROWS), tls=issuer.issue_cert(name)) as site,
            pytest.raises(BuildError, match=r"the certificate of 127\.0\.0\.1:"),
        ):
            fetched(f"{site.url}/a.csv", tmp_path, key_env="VENDOR_KEY")
        assert site.asked == []


@encrypted
def test_the_key_stays_with_its_host(own: Site, other: Site, tmp_path: Path) -> None:
    for code in (301, 302, 303, 307, 308):
        own.plan[:] = [*[to("/b.csv", code)] * 4, to(f"{other.url}/c.csv", code)]  # the most
        own.asked[:], other.asked[:] = [], []
        done = fetched(f"{own.url}/a.csv", tmp_path / str(code), key_env="VENDOR_KEY")
        assert done.file.path.read_bytes() == ROWS
        sent = [(path, headers.get("Authorization")) for path, headers in own.asked]
        key = f"Bearer {HIDDEN}"
        assert sent == [("/a.csv", key), *[("/b.csv", key)] * 4]
        ((_, headers),) = other.asked
        assert HIDDEN not in str(headers)
        assert "Authorization" not in headers


INVALID = ["ftp://127.0.0.1/a.csv", "file:///etc/passwd", "https://user:word@127.0.0.1/a.csv"]
INVALID += ("https://[/a.csv", "https://127.0.0.1:x/a.csv", "")
WRONG = {
    **dict.fromkeys(INVALID, "redirects to an invalid address"),
    "/a.csv": "redirects over 5 times",
    "http://127.0.0.1/a.csv": "redirects to 127.0.0.1 without encryption",
    **dict.fromkeys(
        (f"https://127.0.0.1:1/a.csv?key={key}" for key in (HIDDEN, "s3cr3t-K%2Fey%2B7")),
        "redirects to 127.0.0.1 with the key in the address",
    ),
}


@encrypted
def test_redirects_that_are_not_followed(own: Site, tmp_path: Path) -> None:
    for location, said in WRONG.items():
        for insecure in ("true", "false"):
            own.plan[:] = [to(location)]
            with pytest.raises(BuildError) as caught:
                fetched(f"{own.url}/a.csv", tmp_path, insecure=insecure, key_env="VENDOR_KEY")
            assert str(caught.value).startswith(f"{own.url}/a.csv: {said}; "), location
            assert "s3cr3t" not in str(caught.value)
    assert kept_files(tmp_path, "a.csv") == []


def test_plain_http_stays_on_this_machine(tmp_path: Path) -> None:
    with serving(file(ROWS)) as target, serving(to(f"{target.url}/b.csv")) as site:
        assert fetched(f"{site.url}/a.csv", tmp_path).file.path.read_bytes() == ROWS
        site.plan[:] = [to("http://192.0.2.1/a.csv")]
        with pytest.raises(BuildError, match=r"redirects to 192\.0\.2\.1 without encryption"):
            fetched(f"{site.url}/a.csv", tmp_path)


@encrypted
def test_the_ways_of_a_key(own: Site, tmp_path: Path) -> None:
    basic = base64.b64encode(b"42:word").decode()
    (tmp_path / "key.txt").write_text("42:word\n", encoding="utf-8")
    by_file = {"key_file": "key.txt", "key_as": "basic"}
    for path, texts, sent in (
        ("a.csv", {"key_env": "VENDOR_KEY"}, (f"Bearer {HIDDEN}", None)),
        ("b.csv", {"key_env": "VENDOR_KEY", "key_as": "X-Api-Key"}, (None, HIDDEN)),
        ("c.csv", by_file, (f"Basic {basic}", None)),
        ("e.csv", {}, (None, None)),
        ("{key}/d.csv?k={key}", {"key_env": "VENDOR_KEY"}, (None, None)),
    ):
        fetched(f"{own.url}/{path}", tmp_path, **texts)
        _, headers = own.asked[-1]
        assert (headers.get("Authorization"), headers.get("X-Api-Key")) == sent
    assert own.asked[-1][0] == "/s3cr3t-K%2Fey%2B7/d.csv?k=s3cr3t-K%2Fey%2B7"


def test_the_highest_and_the_lowest_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only sleeping, and the test, move on."""
    now, slept = 1000.0, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.extend([seconds] if seconds else [])
        now += seconds

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(time, "sleep", sleep)
    # Seconds before each part, its bytes, and the waits after them.
    a_silence = ((20.0, 30_000), (0.0, 1000))  # the time of a part, not more, counts for it
    for limits, parts, waits in (
        (Limits(fastest=1000), ((0.0, 500), (0.0, 500), (0.0, 3000)), [0.5, 0.5, 3.0]),
        (Limits(fastest=1000), ((0.6, 500),) * 9, []),
        (Limits(), ((0.0, 1 << 40),), []),
        (Limits(fastest=1000), a_silence, [10.0, 1.0]),
        # Waiting does not count as a slow server.
        (Limits(fastest=2000, pace_over=10.0), ((0.0, 4000),) * 50, [2.0] * 50),
    ):
        slept.clear()
        pace = Pace(limits)
        for seconds, count in parts:
            now += seconds
            pace.keep(count)
        assert slept == pytest.approx(waits)
    pace = Pace(Limits(pace_over=10.0))
    now += 10
    with pytest.raises(TransientError, match="fewer than 1,024 bytes"):
        pace.keep(10_000)


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
            assert conditions(Version(tag), start) == {}
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


NAMES = ("Content-Range", "ETag", "Last-Modified")
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


@given(headers=st.dictionaries(st.sampled_from(NAMES), HOSTILE))
def test_hostile_headers(headers: dict[str, str]) -> None:
    result = version(message(headers), Key("k"))
    if result.modified:
        assert datetime.fromisoformat(result.modified).tzinfo == UTC
        assert "If-Modified-Since" in conditions(result)
    with suppress(TransientError):
        assert content_range(message(headers), 7) > 7


def test_a_date_is_short_and_sent_in_one_form() -> None:
    """RFC 9110, 5.6.7: three forms are read, the first is written."""
    sent = "Sun, 06 Nov 1994 08:49:37 GMT"
    for date in (sent, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"):
        known = version(message({"Last-Modified": date, "Date": MODIFIED}), None)
        assert conditions(known) == {"If-Modified-Since": sent}
    early = [sent.replace("1994", year) for year in ("0000", "0001", "0068", "0099")]
    for date in (sent + " " * 40 + "x", *early):  # none of 1969 to 2068
        assert version(message({"Last-Modified": date}), None) == Version()


def test_what_proves_the_same_bytes() -> None:
    """A strong ETag, unless it is or contains the key; a date resolves only seconds."""
    for tag, validator in (('"a"', '"a"'), ('W/"a"', ""), ('"the key"', ""), ("", "")):
        known = version(message({"ETag": tag, "Last-Modified": MODIFIED}), Key("the key"))
        assert known.modified == "2020-11-19T08:00:00+00:00"
        assert known.validator == validator
        wanted = {"Range": "bytes=7-", "If-Range": validator} if validator else {}
        assert conditions(known, 7) == wanted
