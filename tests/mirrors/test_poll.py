"""One poll: what is asked, what is installed, and what a mirror that fails leaves."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from geolookup import DatasetError, GeoLookupError
from geolookup.errors import MirrorError
from tests.internals.contract import timestamp
from tests.internals.filesystem import hold_lock
from tests.internals.history import generations, prune, rollback
from tests.internals.mirrors import INDEX, File, Source, install, mirror, poll
from tests.mirrors.conftest import Edge, content_of, etag_of, folder_act, kinds_asked
from tests.remote.serving import Handler, file, status
from tests.remote.test_headers import BAD_TAGS
from tests.servers import until
from tests.store.numbered import id_of
from tests.tiers import scaled

poll_module = import_module("geolookup.mirrors.follow")


def test_the_first_poll_fetches_the_pack(edge: Edge) -> None:
    wanted = edge.publish(0)
    polled = poll(Source(f"{edge.site.url}/{INDEX}?a=b", edge.store))  # or that of the mirror
    assert (polled.state, polled.kind, polled.generation) == ("updated", "pack", wanted)
    assert edge.current == wanted
    assert edge.site.asked[0][0] == f"/{INDEX}?a=b"
    assert kinds_asked(edge.site) == ["", "packs"]
    assert not (edge.store / ".follow" / "archives").exists()
    pack, index = edge.index().now.pack, (edge.folder / INDEX).stat().st_size
    assert pack is not None
    assert (polled.bytes, edge.state["bytes"]) == (pack.bytes, pack.bytes + index)
    poll(Source(f"{edge.site.url}/{INDEX}?a=b", edge.store))
    assert edge.state["bytes"] == pack.bytes + index  # nothing more was fetched
    edge.poll()  # what was fetched from the other address goes
    assert len(list((edge.store / ".follow" / "index").iterdir())) == 1


def test_a_poll_without_a_change_is_one_conditional_request(followed: Edge) -> None:
    followed.poll()  # the first one of this address
    followed.site.asked.clear()
    before = content_of(followed.store)
    polled = followed.poll()
    assert (polled.state, polled.bytes) == ("current", 0)
    ((path, headers),) = followed.site.asked
    assert path == f"/{INDEX}"
    assert headers["If-None-Match"]
    assert len(str(headers)) < 512
    assert content_of(followed.store) == before
    assert followed.state["polls"] == {"updated": 2, "current": 2}


def test_a_change_is_fetched_as_a_delta_or_in_the_same_poll_as_a_pack(
    followed: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = followed.publish(2)
    polled = followed.poll()
    assert (polled.state, polled.kind, followed.current) == ("updated", "delta", wanted)
    assert kinds_asked(followed.site) == ["", "deltas"]
    assert polled.bytes == min(delta.file.bytes for delta in followed.index().now.deltas)
    for number in (3, 4):
        wanted = followed.publish(number)
        for item in followed.index().now.deltas:
            if number == 3:
                (followed.folder / item.file.path).write_bytes(b"no archive")
            elif (path := followed.store / "generations" / item.base / "location.arrow").exists():
                content = path.read_bytes()
                path.unlink()
                path.write_bytes(content[:-300] + bytes([content[-300] ^ 1]) + content[-299:])
        assert followed.poll().kind == "pack"
        assert followed.current == wanted
        assert kinds_asked(followed.site) == ["", "deltas", "packs"]
    assert len(caplog.messages) == 2
    assert "/deltas/" in caplog.messages[0]
    assert all(told.endswith("; fetching the pack instead") for told in caplog.messages)


def test_a_withdrawn_generation_is_left_for_the_one_before(followed: Edge) -> None:
    """Until it is published again; the one before is fetched if it is gone here."""
    before, bad = id_of(1), followed.publish(2)
    for kinds in ([""], ["", "deltas"]):
        assert followed.poll().state == "updated"
        assert followed.current == bad
        assert not any(generation.withdrawn for generation in generations(followed.store))
        if len(kinds) > 1:
            prune(followed.store, 1)
        followed.site.asked.clear()
        rollback(followed.origin)
        mirror(followed.origin, followed.folder)
        polled = followed.poll()
        assert (polled.state, polled.generation, followed.current) == ("updated", before, before)
        assert (polled.kind, polled.bytes > 0) == (
            "delta" if kinds[1:] else "stored",
            kinds != [""],
        )
        assert kinds_asked(followed.site) == kinds
        (withdrawn,) = [
            generation for generation in generations(followed.store) if generation.withdrawn
        ]
        assert withdrawn.generation == bad
        followed.publish(2)


def test_a_rollback_here_stands_until_the_mirror_publishes_again(followed: Edge) -> None:
    before = rollback(followed.store)
    followed.poll()  # the first one of this address
    assert followed.poll().state == "current"  # the same index: nothing to do
    assert followed.state["generation"] == before
    mirror(followed.origin, followed.folder, expires="7d")  # another index of the same generation
    polled = followed.poll()
    assert (polled.state, polled.generation, polled.bytes) == ("held", before, 0)
    assert polled.serial == followed.index().serial == followed.state["serial"]
    assert followed.current == before
    wanted = followed.publish(2)
    assert followed.poll().state == "updated"
    assert followed.current == wanted


def assert_refused(edge: Edge, match: str) -> GeoLookupError:
    before, failures = content_of(edge.store), edge.state["failures"]
    with pytest.raises(GeoLookupError, match=match) as caught:
        edge.poll()
    assert content_of(edge.store) == before
    assert edge.state["failures"] == failures + 1
    assert edge.state["problem"] == str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def test_an_index_that_must_not_be_followed(followed: Edge) -> None:
    followed.publish(2)
    index = followed.index()
    past, later = timestamp(datetime.now(UTC) - timedelta(seconds=5)), index.serial + 1
    for changes, match in (
        ({"serial": 5}, "older than an accepted index"),
        ({"expires_at": past, "serial": later}, "expired at"),
        ({"name": "evil"}, "the dataset is 'evil', but the store has 'geo'"),
    ):
        followed.forge(replace(index, **changes))
        assert isinstance(assert_refused(followed, match), DatasetError)
    for text in (b"", b"null", b"\xff\xfe", b"[" * 100_000, b"<html>no</html>", b" " * 6_000_000):
        (followed.folder / INDEX).write_bytes(text)
        assert_refused(followed, "index.json")
    followed.site.plan[:] = [status(503, Retry_After="77")]
    error = assert_refused(followed, "answers 503")
    assert isinstance(error, MirrorError)
    assert error.wait == 77


def test_one_bad_answer_does_not_stop_a_follower(followed: Edge) -> None:
    """Neither an ETag that the mirror refuses, nor that of an index that the store refused."""
    honest = folder_act(followed.folder)

    def strict(handler: Handler) -> None:
        is_bad = any(len(value) > 4096 or "\n" in value for value in handler.headers.values())
        (status(400) if is_bad else honest)(handler)

    for number, name in enumerate(("long", "folded", "of the next index"), 2):
        wanted = followed.publish(number)
        content = (followed.folder / INDEX).read_bytes()
        etag = {**BAD_TAGS, "of the next index": etag_of(content)}[name]
        followed.site.plan[:] = [file(b"{}", etag), strict]
        assert_refused(followed, "index.json")
        assert not (followed.store / ".follow" / "index").exists(), name
        followed.site.asked.clear()
        assert followed.poll().state == "updated", name
        assert followed.site.asked[0][1].get("If-None-Match") is None
        assert followed.current == wanted
        followed.site.asked.clear()
        assert followed.poll().state == "current"
        assert followed.site.asked[0][1]["If-None-Match"] == etag_of(content)


def test_an_index_without_a_length_has_its_signature(followed: Edge) -> None:
    wanted = followed.publish(2)
    content = (followed.folder / INDEX).read_bytes()
    followed.site.plan[:] = [file(content[:-40], '"cut"', Content_Length="")]
    assert_refused(followed, "index.json")
    whole = file(content, '"whole"', Content_Length="")
    followed.site.plan[:] = [whole, folder_act(followed.folder)]
    assert followed.poll().state == "updated"
    assert followed.current == wanted


def test_an_index_that_expires_after_it_was_followed(
    followed: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused from then on, although the mirror answers that nothing has changed."""
    end = datetime(2026, 11, 30, tzinfo=UTC)
    followed.forge(replace(followed.index(), expires_at=timestamp(end), serial=1 << 60))
    clock = SimpleNamespace()
    for module in (poll_module, install):
        monkeypatch.setattr(module, "datetime", clock)
    for seconds in (-1, 0, 1, 1):
        clock.now = lambda _zone, seconds=seconds: end + timedelta(seconds=seconds)
        if seconds < 1:
            assert followed.poll().state == "current"
        else:
            assert_refused(followed, "expired at 2026-11-30T00:00:00Z")
    followed.forge(replace(followed.index(), expires_at=None, serial=(1 << 60) + 1))
    for _ in range(2):
        assert followed.poll().state == "current"
        assert followed.state["expires_at"] == ""
        # A record that says so: the index is read again, and has not expired.
        state = {**followed.state, "expires_at": "2026-01-01T00:00:00Z"}
        (followed.store / "follow.json").write_text(json.dumps(state), encoding="utf-8")


def test_a_frozen_index_thaws_after_its_expiry(
    followed: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index of today under the ETag of the next one: from then on the mirror answers 304."""
    end, clock = datetime(2026, 11, 30, tzinfo=UTC), SimpleNamespace()
    for module in (poll_module, install):
        monkeypatch.setattr(module, "datetime", clock)
    clock.now = lambda _zone: end - timedelta(seconds=1)
    followed.forge(replace(followed.index(), expires_at=timestamp(end), serial=1 << 60))
    followed.poll()
    today = (followed.folder / INDEX).read_bytes()
    followed.forge(replace(followed.index(), expires_at=None, serial=(1 << 60) + 1))
    etag = etag_of((followed.folder / INDEX).read_bytes())
    followed.site.plan[:] = [file(today, etag), folder_act(followed.folder)]
    for _ in range(2):
        assert followed.poll().state == "current"
        assert followed.state["serial"] == 1 << 60
    clock.now = lambda _zone: end + timedelta(seconds=1)
    assert_refused(followed, "expired at 2026-11-30T00:00:00Z")
    assert followed.poll().state == "current"
    assert followed.state["serial"] == (1 << 60) + 1


def test_an_archive_that_is_not_the_one_of_the_index(followed: Edge) -> None:
    """Of another generation, gone, changed or longer."""
    old = followed.index().now.pack
    followed.publish(2)
    index, pack = followed.index(), followed.index().now.pack
    assert pack is not None
    gone = File("packs/gone.tar.zst", 1, "0" * 64)
    (now,) = (
        generation for generation in index.generations if generation.generation == index.current
    )
    others = tuple(generation for generation in index.generations if generation != now)
    for named, problem in (
        (old, "but .* was expected"),
        (gone, "no such file on the server"),
        (pack, None),
    ):
        listed = (replace(now, pack=named, deltas=()), *others)
        followed.forge(replace(index, generations=listed, serial=index.serial + 1))
        if problem:
            assert_refused(followed, problem)
    path = followed.folder / pack.path
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert_refused(followed, "SHA-256 of the file")
    path.write_bytes(path.read_bytes() + b"more")
    assert_refused(followed, "larger than")


def test_an_address_that_is_no_mirror(tmp_path: Path) -> None:
    with closing(socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        for url, problem in (
            ("ftp://example.com/", "unknown scheme ftp"),
            ("http://example.com/", "not encrypted"),
            ("https://user:secret@example.com/", "holds a user or a password"),
            ("https:///geo", "not the address"),
            ("/nowhere", "/nowhere/.+ cannot be read"),
            *[(f"http://127.0.0.1:{nobody.getsockname()[1]}/", "cannot be reached")][
                : scaled(0, 1)
            ],
        ):
            with pytest.raises(MirrorError, match=problem) as caught:
                poll(Source(url, tmp_path / "edge"))
            assert "secret" not in str(caught.value)
            assert "recipe" not in str(caught.value)


def test_another_poll_of_a_store_is_waited_for(followed: Edge) -> None:
    """So that each archive is fetched once."""
    wanted, told = followed.publish(2), list[str]()
    with ThreadPoolExecutor(1) as pool:
        with hold_lock(followed.store / ".follow" / "lock"):
            second = pool.submit(poll, followed.source, None, told.append)
            until(lambda: told or second.done())
            assert followed.site.asked == []
            assert followed.current != wanted
        assert second.result().generation == wanted
    assert told == [f"another process polls for {followed.store}; waiting until it has finished"]
    assert followed.poll().state == "current"
    assert kinds_asked(followed.site) == ["", "deltas", ""]
