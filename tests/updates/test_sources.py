"""Sources that fail: the store stays as it was, and the next update succeeds."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from geolookup_builder.remote import transfer
from geolookup_builder.remote.protocol import Limits

import geolookup
from geolookup.errors import UpdateError
from tests.builder.remote.serving import Handler, cut, file, serving, status, to, trickle
from tests.cli.program import run
from tests.updates.conftest import Update, country, is_tidy
from tests.updates.publisher import ASN, COUNTRY, Publisher, countries, systems

LATER = "Thu, 19 Nov 2026 09:00:00 GMT"


def is_kept(store: Path, pointer: bytes) -> bool:
    return (store / "current").read_bytes() == pointer and country() == "FR" and is_tidy(store)


def failing(publisher: Publisher) -> Iterator[str]:
    new, old = countries("DE"), countries()
    publisher.acts[COUNTRY] = cut(new, 700, etag='"two"')
    yield r"truncated, at 700 of .* \(tried 4 times\)"
    # Whole for the protocol, half for the reader: a row ends in its middle.
    publisher.put(COUNTRY, old[: old.index(b"\n", len(old) // 2) + 16])
    yield r"country-ipv4-num\.csv:\d+: "
    publisher.put(COUNTRY, b"".join(old.splitlines(keepends=True)[:50]))
    yield r"null_gained.location.country_code is 50 %"
    for code, problem in ((404, "no such file on"), (403, "refuses access"), (503, "answers 503")):
        publisher.acts[COUNTRY] = status(code)
        yield problem


def test_a_failure_keeps_the_store_and_the_next_update_succeeds(
    update: Update, publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.acts[ASN] = status(404)
    done = run("update", str(publisher.recipe))
    assert done.returncode == 1
    assert done.stderr.startswith(f"geolookup: {ASN}: {publisher.site.url}/{ASN}: no such file")
    assert not (store / "current").exists()  # nothing is published without a first update
    with geolookup.open() as engine:
        assert engine.path.parent != store / "generations"
    publisher.put(ASN, systems())
    digest = hashlib.sha256(countries()).hexdigest()
    publisher.rewrite('date = "last-modified"', f'date = "last-modified"\nsha256 = "{digest}"')
    update()
    pointer = (store / "current").read_bytes()
    publisher.rewrite(digest, "0" * 64)
    with pytest.raises(UpdateError, match=f"SHA-256 of the file is {digest}, the recipe says 0000"):
        update()
    publisher.rewrite(f'\nsha256 = "{"0" * 64}"', "")
    for problem in failing(publisher):
        with pytest.raises(UpdateError, match=problem):
            update()
        assert is_kept(store, pointer), problem
    limits = Limits(attempts=2, first_wait=0.001, silence=60.0, pace_over=0.2, slowest=1 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(transfer.fetch, "__defaults__", (limits,))
        publisher.acts[COUNTRY] = trickle(countries("DE")[:200], 0.01)
        with pytest.raises(UpdateError, match="the server sends fewer than 1,048,576 bytes a sec"):
            update()
    with closing(socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        there = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        publisher.rewrite(publisher.site.url, there)
        with pytest.raises(UpdateError, match="cannot be reached") as caught:
            update()
        publisher.rewrite(there, publisher.site.url)
    assert len(caught.value.problems) == 2  # every source is named
    assert is_kept(store, pointer)
    publisher.put(COUNTRY, countries("DE"))
    assert update().state == "updated"
    assert country() == "DE"


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
