"""Transfers: redirects are followed if safe, the key goes to its own host only, a rate is kept."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from geolookup.errors import BuildError
from tests.internals.remote import Limits, Pace, TransientError
from tests.remote.serving import (
    Site,
    fetched,
    file,
    kept_files,
    serving,
    to,
)
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


def authorizations(site: Site) -> list[str | None]:
    return [headers.get("Authorization") for _, headers in site.asked]


@encrypted
def test_certificates(authority: trustme.CA, own: Site, tmp_path: Path) -> None:
    """A valid one, one of another host, and one of an authority that nobody trusts."""
    assert fetched(f"{own.url}/a.csv", tmp_path).file.path.read_bytes() == ROWS
    for issuer, name in ((authority, "elsewhere.example"), (trustme.CA(), "127.0.0.1")):
        with (
            serving(file(ROWS), tls=issuer.issue_cert(name)) as site,
            pytest.raises(BuildError) as caught,
        ):
            fetched(f"{site.url}/a.csv", tmp_path, key_env="VENDOR_KEY")
        assert "the certificate of 127.0.0.1:" in str(caught.value)
        assert site.asked == []


@encrypted
def test_the_key_stays_with_its_host(own: Site, other: Site, tmp_path: Path) -> None:
    for code in (301, 302, 303, 307, 308):
        own.plan[:] = [*[to("/b.csv", code)] * 4, to(f"{other.url}/c.csv", code)]  # the most
        own.asked[:], other.asked[:] = [], []
        done = fetched(f"{own.url}/a.csv", tmp_path / str(code), key_env="VENDOR_KEY")
        assert done.file.path.read_bytes() == ROWS
        assert [path for path, _ in own.asked] == ["/a.csv", *["/b.csv"] * 4]
        assert authorizations(own) == [f"Bearer {HIDDEN}"] * 5
        assert authorizations(other) == [None]
        assert HIDDEN not in str(other.asked[0][1])


@encrypted
def test_a_host_that_hands_the_key_on_is_not_followed(
    own: Site, other: Site, tmp_path: Path
) -> None:
    for key in (HIDDEN, "s3cr3t-K%2Fey%2B7"):
        own.plan[:] = [to(f"{other.url}/a.csv?key={key}")]
        with pytest.raises(BuildError) as caught:
            fetched(f"{own.url}/a.csv", tmp_path, key_env="VENDOR_KEY")
        assert "redirects to 127.0.0.1 with the key in the address" in str(caught.value)
        assert key not in str(caught.value)
    assert other.asked == []


INVALID: tuple[str, ...] = (
    "ftp://127.0.0.1/a.csv",
    "file:///etc/passwd",
    "https://user:word@127.0.0.1/a.csv",
)
INVALID += ("https://[/a.csv", "https://127.0.0.1:x/a.csv", "")
WRONG = {
    **dict.fromkeys(INVALID, "redirects to an invalid address"),
    "/a.csv": "redirects over 5 times",
    "http://127.0.0.1/a.csv": "redirects to 127.0.0.1 without encryption",
}


@encrypted
def test_redirects_that_are_not_followed(own: Site, tmp_path: Path) -> None:
    for location, said in WRONG.items():
        for insecure in ("true", "false"):
            own.plan[:] = [to(location)]
            with pytest.raises(BuildError) as caught:
                fetched(f"{own.url}/a.csv", tmp_path, insecure=insecure)
            assert str(caught.value).startswith(f"{own.url}/a.csv: {said}; "), location
    assert kept_files(tmp_path, "a.csv") == []


def test_plain_http_stays_on_this_machine(tmp_path: Path) -> None:
    with serving(file(ROWS)) as target, serving(to(f"{target.url}/b.csv")) as site:
        assert fetched(f"{site.url}/a.csv", tmp_path).file.path.read_bytes() == ROWS
    with (
        serving(to("http://192.0.2.1/a.csv")) as site,
        pytest.raises(BuildError, match=r"redirects to 192\.0\.2\.1 without encryption"),
    ):
        fetched(f"{site.url}/a.csv", tmp_path)


@encrypted
def test_the_ways_of_a_key(own: Site, tmp_path: Path) -> None:
    basic = base64.b64encode(b"42:word").decode()
    (tmp_path / "key.txt").write_text("42:word\n", encoding="utf-8")
    fetched(f"{own.url}/a.csv", tmp_path, key_env="VENDOR_KEY")
    fetched(f"{own.url}/b.csv", tmp_path, key_env="VENDOR_KEY", key_as="X-Api-Key")
    fetched(f"{own.url}/c.csv", tmp_path, key_file="key.txt", key_as="basic")
    fetched(f"{own.url}/{{key}}/d.csv?k={{key}}", tmp_path, key_env="VENDOR_KEY")
    fetched(f"{own.url}/e.csv", tmp_path)
    named = [(headers.get("Authorization"), headers.get("X-Api-Key")) for _, headers in own.asked]
    header = [(f"Bearer {HIDDEN}", None), (None, HIDDEN), (f"Basic {basic}", None)]
    assert named == [*header, (None, None), (None, None)]
    assert own.asked[3][0] == "/s3cr3t-K%2Fey%2B7/d.csv?k=s3cr3t-K%2Fey%2B7"


class Clock:
    """A clock that only sleeping, and a test, move on."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock


def test_the_highest_and_the_lowest_rate(clock: Clock) -> None:
    pace = Pace(Limits(fastest=1000))
    for count in (500, 500, 3000):
        pace.keep(count)
    assert clock.slept == pytest.approx([0.5, 0.5, 3.0])
    pace = Pace(Limits(fastest=1000))
    for _ in range(9):
        clock.now += 0.6
        pace.keep(500)
    Pace(Limits()).keep(1 << 40)  # without a highest rate
    assert len(clock.slept) == 3
    pace = Pace(Limits(fastest=1000))
    clock.now += 50  # a silence, made up for by one second of bytes
    pace.keep(10_000)
    assert clock.slept[3:] == pytest.approx([9.0])
    # Waiting does not count as a slow server.
    clock.slept.clear()
    pace = Pace(Limits(fastest=2000, pace_over=10.0))
    for _ in range(49):
        pace.keep(4000)
    assert sum(clock.slept) == pytest.approx(98.0)
    pace = Pace(Limits(pace_over=10.0))
    clock.now += 10
    with pytest.raises(TransientError, match="fewer than 1,024 bytes"):
        pace.keep(10_000)
