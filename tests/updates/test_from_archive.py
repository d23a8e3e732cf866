"""Updates from an archive and from a mirror."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from tests.archives.test_pack import archived, members
from tests.internals.archives import pack
from tests.internals.history import generations, rollback
from tests.internals.updates import FromArchive, FromMirror, target_of
from tests.signing.keys import key_files, public
from tests.skips import needs
from tests.store.numbered import answers_of, id_of, shared


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    pack(shared(1), tmp_path / "a.tar.zst")
    return tmp_path / "a.tar.zst"


def test_an_archive_is_published(archive: Path, store: Path, tmp_path: Path) -> None:
    planned = geolookup.update(archive, dry_run=True)
    assert (planned.state, planned.generation) == ("planned", None)
    assert not store.exists()
    store.parent.mkdir()
    publish(shared(0), store)
    done = geolookup.update(archive)
    assert (done.state, done.generation, done.removed) == ("updated", id_of(1), ())
    assert answers_of(store) == answers_of(shared(1))
    told: list[str] = []
    FromArchive(archive, target_of(store)).plan(told.append)
    assert told == [f"generation {id_of(1)} is current in {store}"]
    assert geolookup.update(archive).state == "current"
    rollback(store)
    done = geolookup.update(archive)
    assert (done.state, done.generation) == ("withdrawn", id_of(0))
    assert [item.withdrawn for item in generations(store)] == [True, False]
    publish(shared(1), store)
    pack(shared(2), tmp_path / "d.tar.zst", base=shared(0))  # a delta
    done = geolookup.update(tmp_path / "d.tar.zst", store=store)
    assert (done.state, done.removed) == ("updated", (id_of(0),))
    assert answers_of(store) == answers_of(shared(2))


def test_a_damaged_archive_changes_nothing(archive: Path, store: Path) -> None:
    store.parent.mkdir()
    publish(shared(0), store)
    archived(archive, members(archive)[:-1])
    with pytest.raises(geolookup.DatasetError, match="is missing; fetch it again"):
        geolookup.update(archive)
    assert answers_of(store) == answers_of(shared(0))


@needs("cryptography")
def test_a_store_without_keys_trusts_those_of_its_first_update(
    archive: Path, store: Path, tmp_path: Path
) -> None:
    ours, theirs = (public(key) for key in key_files()[:2])
    with pytest.raises(geolookup.DatasetError, match="not signed by a trusted key"):
        geolookup.update(archive, trusted_keys=ours)
    pack(shared(1), signed := tmp_path / "s.tar.zst", signing_keys=key_files()[0])
    assert geolookup.update(signed, trusted_keys=[ours]).state == "updated"
    assert geolookup.update(signed, trusted_keys=ours).state == "current"
    with pytest.raises(geolookup.DatasetError, match="trusts other keys than"):
        geolookup.update(signed, trusted_keys=[ours, theirs])


def test_a_mirror_is_polled_once(store: Path, tmp_path: Path) -> None:
    origin, folder = tmp_path / "origin", tmp_path / "mirror"
    with pytest.raises(geolookup.UpdateError):
        geolookup.update(folder.as_uri())
    assert not (store / "current").exists()
    (no_store := tmp_path / "a file").touch()
    with pytest.raises(geolookup.GeoLookupError, match=re.escape(str(no_store))):
        FromMirror(folder.as_uri(), target_of(no_store)).plan(print)
    for number in (0, 1):
        publish(shared(number), origin)
        geolookup.mirror(origin, folder)
        assert geolookup.update(folder.as_uri(), dry_run=True).state == "planned"
        done = geolookup.update(folder.as_uri())
        assert (done.state, done.generation) == ("updated", id_of(number))
        assert answers_of(store) == answers_of(shared(number))
        assert geolookup.update(folder.as_uri()).state == "current"
