"""Updates from an archive and from a mirror, and what a rollback withdrew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup import publish
from tests.archives.test_pack import archived, members
from tests.conftest import build_at
from tests.internals.archives import pack
from tests.internals.history import generations, rollback
from tests.internals.updates import FromArchive, FromMirror, is_withdrawn, target_of
from tests.signing.keys import key_files, public
from tests.skips import needs
from tests.store.numbered import answers_of, generation, id_of, shared


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
    pack(shared(2), tmp_path / "d.tar.zst")
    done = geolookup.update(tmp_path / "d.tar.zst", store=store)
    assert (done.state, done.removed) == ("updated", (id_of(0),))
    assert answers_of(store) == answers_of(shared(2))


def test_a_damaged_archive_changes_nothing(archive: Path, store: Path) -> None:
    store.parent.mkdir()
    publish(shared(0), store)
    archived(archive, members(archive)[:-1])
    with pytest.raises(geolookup.DatasetError, match=r"lacks zone\.arrow; fetch it again"):
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


#: Rows of the withdrawn dataset: a city is known of the first network, and not of the second.
WITHDRAWN = ("8.8.8.0/24,Paris,1,A", "9.9.9.0/24,,2,B", "1.0.0.0/24,Nice,3,C")


def built(folder: Path, *rows: str, **options: Any) -> Path:
    folder.mkdir(exist_ok=True)
    text = "\n".join(["network,city_name,postal_code,isp", *rows, ""])
    return build_at(folder, {"a.csv": text}, **options)[0]


@pytest.fixture
def rolled_back(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    publish(built(tmp_path / "current", "8.8.8.0/24,Berlin,4,A"), store)
    publish(built(tmp_path / "withdrawn", *WITHDRAWN), store)
    rollback(store)
    return store


def test_what_was_withdrawn_and_what_was_not(rolled_back: Path, tmp_path: Path) -> None:
    first, second, third = WITHDRAWN
    for rows, expected in (
        (WITHDRAWN, True),
        ((first, "9.9.9.0/24,Nice,2,B", third), False),  # only adds a value
        (("8.8.8.0/24,,1,A", second, third), False),  # only lacks one
        (("8.8.8.0/24,Lyon,1,A", second, third), False),
        ((first, third), False),
        (("8.8.8.0/24,Berlin,4,A",), False),  # the current one is not withdrawn
    ):
        dataset = built(tmp_path / "new", *rows)
        assert is_withdrawn(rolled_back, dataset, generation(dataset)) is expected, rows
