"""Sources that fail: the store stays as it was, and the next update succeeds."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from geolookup_builder.remote import transfer
from geolookup_builder.remote.protocol import Limits

import geolookup
from geolookup.errors import UpdateError
from tests.builder.remote.serving import Handler, cut, file, serving, status, to, trickle
from tests.cli.program import run
from tests.updates.conftest import Update, country, is_tidy
from tests.updates.publisher import ASN, COUNTRY, Publisher, countries

LATER = "Thu, 19 Nov 2026 09:00:00 GMT"


def kept(update: Update, publisher: Publisher, store: Path, problem: str) -> None:
    """A failing update keeps the store; the next one with good sources succeeds."""
    before = (store / "current").read_bytes()
    with pytest.raises(UpdateError, match=problem):
        update()
    assert (store / "current").read_bytes() == before
    assert country() == "FR"
    assert is_tidy(store)
    publisher.put(COUNTRY, countries("DE"))
    assert update().state == "updated"
    assert country() == "DE"


def test_truncated(update: Update, publisher: Publisher, store: Path) -> None:
    """The network ends in the middle, time after time."""
    update()
    publisher.acts[COUNTRY] = cut(countries("DE"), 700, etag='"two"')
    kept(update, publisher, store, r"truncated, at 700 of .* \(tried 4 times\)")


def test_the_network_ends_in_the_middle_and_comes_back(
    update: Update, publisher: Publisher, store: Path
) -> None:
    update()
    content, acts = countries("DE"), [cut(countries("DE"), 700, reset=True, etag='"two"')]

    def act(handler: Handler) -> None:
        (acts.pop() if acts else file(content, '"two"', Last_Modified=LATER))(handler)

    publisher.acts[COUNTRY] = act
    assert update().state == "updated"
    assert publisher.site.ranges[-2] == "bytes=700-"


def test_no_connection(update: Update, publisher: Publisher, store: Path) -> None:
    update()
    publisher.rewrite(publisher.site.url, "http://localhost:1")
    with pytest.raises(UpdateError, match="cannot be reached") as caught:
        update()
    assert len(caught.value.problems) == 2  # every source is named
    assert country() == "FR"


def test_half_a_file(update: Update, publisher: Publisher, store: Path) -> None:
    """Whole for the protocol, half for the reader: a row ends in its middle."""
    update()
    content = countries()
    publisher.put(COUNTRY, content[: content.index(b"\n", len(content) // 2) + 16])
    kept(update, publisher, store, r"country-ipv4-num\.csv:\d+: ")


def test_half_a_file_at_the_end_of_a_row(update: Update, publisher: Publisher, store: Path) -> None:
    update()
    publisher.put(COUNTRY, b"".join(countries().splitlines(keepends=True)[:50]))
    with pytest.raises(UpdateError, match=r"null_gained.location.country_code is 50 %"):
        update()
    assert country("8.0.99.1") == "FR"


def test_wrong_digest(update: Update, publisher: Publisher, store: Path) -> None:
    digest = hashlib.sha256(countries()).hexdigest()
    publisher.rewrite('date = "last-modified"', f'date = "last-modified"\nsha256 = "{digest}"')
    update()
    publisher.rewrite(digest, "0" * 64)
    with pytest.raises(UpdateError, match=f"SHA-256 of the file is {digest}, the recipe says 0000"):
        update()
    assert country() == "FR"


def test_a_slow_server(
    update: Update, publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update()
    limits = Limits(attempts=2, first_wait=0.001, silence=5.0, pace_over=0.2, slowest=1 << 20)
    monkeypatch.setattr(transfer.fetch, "__defaults__", (limits,))
    publisher.acts[COUNTRY] = trickle(countries("DE")[:200], 0.01)
    kept(update, publisher, store, "the server sends fewer than 1,048,576 bytes a second")


@pytest.mark.parametrize(
    ("code", "problem"), [(404, "no such file on"), (403, "refuses access"), (503, "answers 503")]
)
def test_a_status(
    update: Update, publisher: Publisher, store: Path, code: int, problem: str
) -> None:
    update()
    publisher.acts[COUNTRY] = status(code)
    kept(update, publisher, store, problem)


def test_a_redirect_to_another_host(update: Update, publisher: Publisher, store: Path) -> None:
    with serving(
        file(countries("IT"), '"cdn"', Last_Modified="Thu, 19 Nov 2026 08:00:00 GMT")
    ) as other:
        elsewhere = other.url.replace("localhost", "127.0.0.1")
        publisher.acts[COUNTRY] = to(f"{elsewhere}/signed?token=1")
        assert update().state == "updated"
        assert country() == "IT"
        assert update().state == "current"
    assert [headers["If-None-Match"] for _, headers in other.asked] == [None, '"cdn"']


def test_without_a_first_update_nothing_is_published(publisher: Publisher, store: Path) -> None:
    publisher.acts[ASN] = status(404)
    done = run("update", str(publisher.recipe))
    assert done.returncode == 1
    assert done.stderr.startswith(f"geolookup: {ASN}: {publisher.site.url}/{ASN}: no such file")
    assert not (store / "current").exists()
    with geolookup.open() as engine:
        assert engine.path.parent != store / "generations"
