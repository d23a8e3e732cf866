"""Updates of one store: sources that fail, how long ago an update succeeded, and two at once."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

import geolookup
from geolookup.errors import UpdateError
from tests.cli.program import run
from tests.internals.contract import timestamp
from tests.internals.remote import Limits, transfer
from tests.internals.store import latest_serial, trust
from tests.internals.updates import STATE, read_state, write_state
from tests.internals.updates import run as updates_run
from tests.remote.serving import Handler, cut, status
from tests.signing.keys import key_files, public, public_keys
from tests.skips import needs
from tests.updates.conftest import (
    ASN,
    COUNTRY,
    Publisher,
    Update,
    countries,
    country,
    environment,
    is_tidy,
    systems,
)


def test_if_older(
    update: Update, publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update within the time does nothing; a clock that was wrong blocks none."""
    week, second, now = timedelta(days=7), timedelta(seconds=1), datetime(2026, 11, 22, tzinfo=UTC)
    assert update(if_older="7d").state == "published"  # there was nothing
    monkeypatch.setattr(updates_run, "datetime", SimpleNamespace(now=lambda _zone: now))
    publisher.site.asked.clear()
    for passed, is_recent in (
        (timedelta(0), True), (week - second, True), (week, False), (week + second, False),
        (-second, False), (timedelta(days=20_000), False), (timedelta(days=-365), False),
    ):  # fmt: skip
        write_state(store, replace(read_state(store), began_at=timestamp(now - passed)))
        assert update(if_older=week).state == ("recent" if is_recent else "unchanged"), passed
        assert bool(publisher.site.asked) is not is_recent
        publisher.site.asked.clear()
    write_state(store, replace(read_state(store), began_at=timestamp(now)))
    publisher.rewrite('name = "published"', 'name = "another"')
    assert update(if_older=7).state == "published"  # of another dataset: none before
    (store / STATE).unlink()
    assert update(if_older=7).state == "unchanged"


@pytest.mark.long
def test_two_at_once(publisher: Publisher, store: Path) -> None:
    begun, go = threading.Event(), threading.Event()
    usual = publisher.acts[ASN]

    def waiting(handler: Handler) -> None:
        begun.set()
        assert go.wait(60)
        usual(handler)

    publisher.acts[ASN] = waiting
    command = [sys.executable, "-m", "geolookup", "update", str(publisher.recipe)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    with subprocess.Popen(command, text=True, **pipes) as first:  # type: ignore[call-overload]
        assert begun.wait(60)
        with subprocess.Popen(command, text=True, **pipes) as second:  # type: ignore[call-overload]
            assert second.stderr is not None
            assert "update/lock: locked by another process" in second.stderr.readline()
            assert second.poll() is None
            go.set()
            output, errors = first.communicate()
            remainder, others = second.communicate()
    assert (first.returncode, errors) == (second.returncode, others) == (0, "")
    assert "\npublished: published, " in output
    assert "\nunchanged: published, " in remainder
    assert len(geolookup.generations(store)) == 1
    assert is_tidy(store)


def is_kept(store: Path, pointer: bytes) -> bool:
    return (store / "current").read_bytes() == pointer and country() == "FR" and is_tidy(store)


def failing(publisher: Publisher) -> Iterator[str]:
    new, old = countries("DE"), countries()
    publisher.acts[COUNTRY] = cut(new, 700, etag='"two"')
    yield r"truncated, at 700 of .* \(tried 4 times\)"
    publisher.put(COUNTRY, b'{"error":"quota exceeded"}')
    yield "'geolookup build --offline' reads the copy of "
    # Whole for the protocol, half for the reader: a row ends in its middle.
    publisher.put(COUNTRY, old[: old.index(b"\n", len(old) // 2) + 16])
    yield r"country-ipv4-num\.csv:\d+: "
    publisher.put(COUNTRY, b"".join(old.splitlines(keepends=True)[:50]))
    yield r"null_gained.location.country_code is 50 %"
    publisher.put(COUNTRY, countries(*["DE"] * 21))  # 20 are no failure
    yield "gate failed: country_moved > 20%: ipv4.country_moved is 21 %.* 'geolookup build"
    publisher.rewrite('date = "last-modified"', 'date = "last-modified"\nmax_drop = "20%"')
    publisher.put(COUNTRY, b"".join(old.splitlines(keepends=True)[:79]))
    yield "found 79 usable rows, 100 before"
    publisher.put(COUNTRY, old)  # a demand may fail although no source changed
    demands = 'expect = [["8.0.0.1", "country", "IT"]]\nmin_coverage = { ipv6.asn = "1%" }'
    publisher.rewrite("[update]", f"[quality]\n{demands}\n[update]")
    yield r"found .FR. at 8\.0\.0\.1.*ipv6\.asn"
    publisher.rewrite(f"[quality]\n{demands}\n", "")
    publisher.acts[COUNTRY] = publisher.acts[ASN] = status(503)
    yield f"{COUNTRY}.*answers 503.*{ASN}.*answers 503"  # every source is named
    publisher.put(ASN, systems())


def test_a_failure_keeps_the_store_and_the_next_update_succeeds(
    update: Update, publisher: Publisher, store: Path
) -> None:
    publisher.acts[ASN] = status(404)
    done = run("update", str(publisher.recipe))
    assert done.returncode == 1
    assert done.stderr.startswith(f"geolookup: {ASN}: {publisher.site.url}/{ASN}: no such file")
    assert not (store / "current").exists()  # nothing is published without a first update
    with pytest.raises(UpdateError):  # one that failed is not recent
        update(if_older="7d")
    with geolookup.open() as engine:
        assert engine.path.parent != store / "generations"
    publisher.put(ASN, systems())
    update()
    pointer = (store / "current").read_bytes()
    for problem in failing(publisher):
        with pytest.raises(UpdateError, match=problem):
            update()
        assert is_kept(store, pointer), problem
    publisher.put(COUNTRY, countries("DE"))
    assert update().state == "published"
    assert country() == "DE"


def test_without_a_network_an_update_fails_soon_with_one_line(
    publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused connection, the name of no host, and no answer to a packet: with default waits."""
    waits = list[float]()
    monkeypatch.setattr(transfer.fetch, "__defaults__", (Limits(), lambda _path: None))
    monkeypatch.setattr("geolookup.remote.transfer.time.sleep", waits.append)
    with closing(socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        url = publisher.site.url
        for host in (f"http://127.0.0.1:{nobody.getsockname()[1]}", "https://nowhere.invalid"):
            publisher.rewrite(url, host)
            done, url = run("update", str(publisher.recipe)), host
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert f"geolookup: {COUNTRY}: {host}/{COUNTRY}: " in done.stderr
            assert "cannot be reached (" in done.stderr
            assert done.stderr.endswith(" (tried 3 times); check the network, or try again later\n")
            assert 0 < sum(waits) < 15
            waits.clear()
    monkeypatch.setattr(socket, "create_connection", mock.Mock(side_effect=TimeoutError))
    done = run("update", str(publisher.recipe))
    assert done.stderr.endswith("(timeout) (tried once); check the network, or try again later\n")
    assert (done.returncode, waits, publisher.site.asked) == (1, [], [])


@needs("cryptography")
def test_the_keys_of_an_update_sign_what_it_publishes(
    update: Update, publisher: Publisher, store: Path
) -> None:
    """A store that trusts keys needs one; new keys sign the current generation, once."""
    first, second, _ = key_files()
    assert update().state == "published"
    assert update(signing_keys=first).state == "unchanged"
    trust(store, public_keys()[:2])
    with pytest.raises(geolookup.DatasetError, match="accepts only datasets that a trusted key"):
        update()
    for keys, country_code in (([first], ""), ([first, second], ""), ([second], "DE")):
        if country_code:
            publisher.put(COUNTRY, countries(country_code))
        assert update(signing_keys=keys).state == ("published" if country_code else "unchanged")
        serial = latest_serial(store)
        assert update(signing_keys=keys).state == "unchanged"
        assert latest_serial(store) == serial
        for key in keys:
            geolookup.verify(store, trusted_keys=public(key))
