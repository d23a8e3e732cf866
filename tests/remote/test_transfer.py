"""Transfers: redirects are followed if safe, the key goes to its own host only, a rate is kept."""

from __future__ import annotations

import base64
import gzip
import hashlib
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from geolookup.errors import BuildError
from tests.internals.remote import Limits, Pace, TransientError
from tests.remote.serving import Handler, Site, fetched, file, kept_files, serving, to
from tests.skips import needs, optional

if TYPE_CHECKING:
    import trustme
else:
    trustme = optional("trustme")

ROWS = b"network,isp\n8.8.8.0/24,one\n"
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
def test_without_a_length_the_end_of_tls_counts(own: Site, tmp_path: Path) -> None:
    """RFC 8446, 6.1: without close_notify anybody on the way may have cut the file."""
    packed = gzip.compress(ROWS)
    unended = file(packed, Content_Length="")

    def ended(handler: Handler) -> None:
        unended(handler)
        assert isinstance(handler.connection, ssl.SSLSocket)
        with suppress(OSError):  # the other side closes without an answer
            handler.connection.unwrap()

    own.plan[:] = [unended]
    with pytest.raises(BuildError, match="it ended without the end mark of TLS"):
        fetched(f"{own.url}/a.csv.gz", tmp_path)
    digest = hashlib.sha256(packed).hexdigest()
    assert fetched(f"{own.url}/a.csv.gz", tmp_path, digest).file.path.read_bytes() == packed
    own.plan[:] = [ended]
    assert fetched(f"{own.url}/b.csv.gz", tmp_path).file.path.read_bytes() == packed


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
        slept.append(seconds)
        now += seconds

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(time, "sleep", sleep)
    # Seconds before each part, its bytes, and the waits after them.
    a_silence = ((50.0, 10_000),)  # made up for by one second of bytes
    for limits, parts, waits in (
        (Limits(fastest=1000), ((0.0, 500), (0.0, 500), (0.0, 3000)), [0.5, 0.5, 3.0]),
        (Limits(fastest=1000), ((0.6, 500),) * 9, []),
        (Limits(), ((0.0, 1 << 40),), []),
        (Limits(fastest=1000), a_silence, [9.0]),
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
