"""One poll: what is asked and published, and what a mirror that fails leaves."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from geolookup.errors import UpdateError
from tests.internals.history import generations, prune, rollback
from tests.internals.mirrors import INDEX, rules
from tests.internals.signing import LARGEST_ENVELOPE
from tests.internals.store import latest_serial
from tests.internals.updates import from_mirror, write_state
from tests.mirrors.conftest import Edge, etag_of, folder_act
from tests.remote.serving import Handler, cut, file, status
from tests.skips import needs
from tests.store.numbered import id_of


def asked(edge: Edge) -> list[str]:
    """Return the folder of each file that was asked for, "" for the index; and forget them."""
    folders = [path.strip("/").rpartition("/")[0] for path, _ in edge.site.asked]
    edge.site.asked.clear()
    return folders


def test_the_first_poll_fetches_the_archive_and_the_next_one_nothing(edge: Edge) -> None:
    wanted = edge.publish(0)
    assert edge.poll("?a=b").state == "published"
    assert edge.current == wanted
    assert edge.site.asked[0][0] == f"/{INDEX}?a=b"
    assert asked(edge) == ["", "archives"]
    assert {path.name for path in (edge.store / ".update").iterdir()} == {"lock", "index"}
    archive, index = edge.index().now.archive, (edge.folder / INDEX).stat().st_size
    assert archive is not None
    assert edge.state.bytes == archive.bytes + index
    before = edge.content
    assert edge.poll("?a=b").state == "unchanged"
    ((path, headers),) = edge.site.asked  # one conditional request
    assert (path, bool(headers["If-None-Match"])) == (f"/{INDEX}?a=b", True)
    assert edge.content == before
    assert edge.state.counts == {"published": 1, "unchanged": 1}
    assert edge.state.bytes == archive.bytes + index  # nothing more was fetched
    edge.poll()  # what was fetched from the other address goes
    assert len(list((edge.store / ".update" / "index").iterdir())) == 1
    assert edge.state.source == f"{edge.site.url}/{INDEX}"


def test_an_interrupted_download_is_resumed_by_the_next_poll(followed: Edge) -> None:
    wanted, honest = followed.publish(2), folder_act(followed.folder)
    archive = followed.index().files[0]
    content = (followed.folder / archive.path).read_bytes()
    half = cut(content, 2000, etag=etag_of(content))
    followed.site.plan[:] = [honest, half, status(503, Retry_After="77"), honest]
    with pytest.raises(UpdateError, match="answers 503") as caught:
        followed.poll()
    assert caught.value.wait == 77
    assert followed.poll().state == "published"
    assert followed.current == wanted
    assert followed.site.ranges[-1] == "bytes=2000-"


def test_a_withdrawn_generation_is_left_for_the_one_before(followed: Edge) -> None:
    """Until it is published again; the one before is fetched if it is gone or damaged here."""
    before, bad = id_of(1), followed.publish(2)
    for loss, folders in (("", [""]), ("pruned", ["", "archives"]), ("damaged", ["", "archives"])):
        assert followed.poll().state == "published"
        assert followed.current == bad
        assert not any(item.withdrawn for item in generations(followed.store))
        if loss == "pruned":
            prune(followed.store, 1)
        elif loss == "damaged":
            (followed.store / "generations" / before / "ipv4.arrow").unlink()
        followed.site.asked.clear()
        rollback(followed.origin)
        followed.mirror()
        assert followed.poll().generation == followed.current == before
        assert asked(followed) == folders
        assert [item.generation for item in generations(followed.store) if item.withdrawn] == [bad]
        followed.publish(2)


@needs("cryptography")
def test_a_signed_rollback_brings_the_newer_signature(trusting: Edge) -> None:
    trusting.publish(2)
    trusting.poll()
    serial = latest_serial(trusting.store)
    rollback(trusting.origin, signing_keys=trusting.keys)
    trusting.mirror()
    trusting.site.asked.clear()
    assert trusting.poll().generation == trusting.current == id_of(1)
    assert asked(trusting) == [""]
    assert latest_serial(trusting.store) > serial


def test_a_rollback_here_stands_until_the_mirror_publishes_again(followed: Edge) -> None:
    before = rollback(followed.store).generation
    assert followed.poll().state == "held"  # the same index, in each poll
    assert followed.state.generation == before
    followed.mirror(expires="7d")  # another index of the same generation
    result = followed.poll()
    assert (result.state, result.generation) == ("held", before)
    assert followed.poll().state == "held"
    assert followed.state.serial == followed.index().serial
    assert followed.current == before
    wanted = followed.publish(2)
    assert followed.poll().state == "published"
    assert followed.current == wanted


def test_a_current_generation_that_lost_its_files_is_replaced(followed: Edge) -> None:
    """Also one to which the store was rolled back."""
    for is_rolled_back in (False, True):
        current = str(rollback(followed.store).generation if is_rolled_back else followed.current)
        shutil.rmtree(followed.store / "generations" / current)
        assert followed.poll().state == "published"
        assert followed.current == followed.index().current


def test_one_bad_answer_does_not_stop_the_next_poll(followed: Edge) -> None:
    """A part of the index, under the ETag of the whole one."""
    wanted = followed.publish(2)
    content = (followed.folder / INDEX).read_bytes()
    part = file(content[:-40], etag_of(content))
    followed.site.plan[:] = [part, folder_act(followed.folder)]
    with pytest.raises(Exception, match=r"index\.json"):
        followed.poll()
    assert not (followed.store / ".update" / "index").exists()
    followed.site.asked.clear()
    assert followed.poll().state == "published"
    assert followed.site.asked[0][1].get("If-None-Match") is None
    assert followed.current == wanted


def test_an_index_is_refused_from_its_expiry_on(
    followed: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the mirror answers "not modified", and under the ETag of the next index."""
    end, clock = datetime(2026, 11, 30, tzinfo=UTC), SimpleNamespace()
    for module in (rules, from_mirror):
        monkeypatch.setattr(module, "datetime", clock)
    clock.now = lambda _zone: end
    expiring = replace(followed.index(), expires_at="2026-11-30T00:00:00Z", serial=1 << 60)
    followed.forge(expiring)
    today = (followed.folder / INDEX).read_bytes()
    followed.forge(replace(expiring, expires_at=None, serial=(1 << 60) + 1))
    etag = etag_of((followed.folder / INDEX).read_bytes())
    followed.site.plan[:] = [file(today, etag), folder_act(followed.folder)]
    for _ in range(2):
        assert followed.poll().state == "unchanged"
        assert followed.state.serial == 1 << 60
    clock.now = lambda _zone: end + timedelta(seconds=1)
    with pytest.raises(Exception, match="expired at 2026-11-30T00:00:00Z"):
        followed.poll()
    assert followed.poll().state == "unchanged"
    assert (followed.state.serial, followed.state.expires_at) == ((1 << 60) + 1, "")
    # A record that says so: the index is read again, and has not expired.
    write_state(followed.store, replace(followed.state, expires_at="2026-01-01T00:00:00Z"))
    assert followed.poll().state == "unchanged"


def test_an_index_or_an_archive_that_is_too_large(followed: Edge) -> None:
    followed.publish(2)
    archive, honest = followed.index().files[0], folder_act(followed.folder)
    before = followed.content
    for folder, most in (("", LARGEST_ENVELOPE), ("archives", archive.bytes)):

        def act(handler: Handler, folder: str = folder, most: int = most) -> None:
            if handler.path.strip("/").rpartition("/")[0] != folder:
                return honest(handler)
            return handler.answer(200, bytes(most + 1))

        followed.site.plan[:] = [act]
        with pytest.raises(UpdateError, match=f"the file is larger than {most:,} bytes"):
            followed.poll()
        assert followed.content == before
        assert not any((followed.store / ".update").rglob("part/*"))
