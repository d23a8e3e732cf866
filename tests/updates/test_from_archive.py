"""Updates from an archive and from a mirror, by the public call and by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from tests.cli.program import run
from tests.internals.archives import pack
from tests.internals.history import generations, rollback
from tests.internals.signing import SIGNATURE
from tests.signing.keys import key_files, public
from tests.skips import needs
from tests.store.numbered import answers_of, id_of, shared


@pytest.fixture
def archive(tmp_path: Path, store: Path) -> Path:
    """An archive of number 1, for the user's store, whose folder exists."""
    store.parent.mkdir()
    pack(shared(1), tmp_path / "a.tar.zst")
    return tmp_path / "a.tar.zst"


def test_an_archive_is_published(archive: Path, store: Path) -> None:
    planned = geolookup.update(archive, dry_run=True)
    assert (planned.state, planned.generation) == ("planned", id_of(1))
    assert not store.exists()
    publish(shared(0), store)
    done = geolookup.update(archive, keep=1)
    assert (done.state, done.generation, done.removed) == ("published", id_of(1), [id_of(0)])
    assert answers_of(store) == answers_of(shared(1))
    assert geolookup.update(archive).state == "unchanged"
    publish(shared(0), store)
    publish(shared(1), store)
    rollback(store)
    done = geolookup.update(archive)
    assert (done.state, done.generation) == ("held", id_of(0))
    assert [item.withdrawn for item in generations(store)] == [True, False]


@needs("cryptography")
def test_a_store_without_keys_trusts_those_of_its_first_update(
    archive: Path, tmp_path: Path
) -> None:
    ours, theirs = (public(key) for key in key_files()[:2])
    with pytest.raises(geolookup.DatasetError, match="not signed by a trusted key"):
        geolookup.update(archive, trusted_keys=ours)
    pack(shared(1), signed := tmp_path / "s.tar.zst", signing_keys=key_files()[0])
    assert not (shared(1) / SIGNATURE).exists()
    assert geolookup.update(signed, trusted_keys=[ours]).state == "published"
    assert geolookup.update(signed, trusted_keys=ours).state == "unchanged"
    with pytest.raises(geolookup.DatasetError, match="trusts other keys than"):
        geolookup.update(signed, trusted_keys=[ours, theirs])


def test_a_mirror_is_polled_once(store: Path, tmp_path: Path) -> None:
    origin, folder = tmp_path / "origin", tmp_path / "mirror"
    with pytest.raises(geolookup.errors.UpdateError):
        geolookup.update(folder.as_uri())
    assert not (store / "current").exists()
    (no_store := tmp_path / "a file").touch()
    with pytest.raises(geolookup.GeoLookupError, match="a file"):
        geolookup.update(folder.as_uri(), store=no_store)
    for number in (0, 1):
        publish(shared(number), origin)
        geolookup.mirror(origin, folder)
        assert geolookup.update(folder, dry_run=True).state == "planned"
        done = geolookup.update(folder.as_uri())
        assert (done.state, done.generation) == ("published", id_of(number))
        assert answers_of(store) == answers_of(shared(number))
        assert geolookup.update(folder).state == "unchanged"
    publish(shared(2), origin)
    geolookup.mirror(origin, folder)
    (archive,) = folder.glob(f"archives/{id_of(2)}.*")
    whole = archive.read_bytes()
    for changed, problem in ((whole[:-1] + b"x", "is expected"), (whole + b"x", "larger than")):
        archive.write_bytes(changed)
        with pytest.raises(geolookup.errors.UpdateError, match=problem):
            geolookup.update(folder)
    assert answers_of(store) == answers_of(shared(1))


def test_the_result_as_json(archive: Path, store: Path) -> None:
    """On standard output it stands by itself; a second run needs no change."""
    for state in ("published", "unchanged"):
        done = run("update", str(archive), "--json")
        result = json.loads(done.stdout)
        assert (done.returncode, result["state"], result["store"]) == (0, state, str(store))
        assert (result["name"], result["generation"]) == ("geo", id_of(1))
        assert result["bytes"] > 0 <= result["seconds"]["publish"]
        assert done.stderr.startswith("without --dataset") is (state == "published")


@pytest.mark.parametrize(
    ("source", "options", "problem"),
    [
        ("a.tar.zst", {"cache": "x"}, "cache is only for recipes"),
        ("a.tar.zst", {"limit_rate": 16_000}, "limit_rate is only for mirrors"),
        ("https://example.com/", {"signing_keys": "x"}, "signing_keys is only for recipes"),
        ("world", {"limit_rate": 16_000}, "limit_rate is only for mirrors"),
        ("ftp://example.com/", {}, "unknown scheme ftp"),
        ("http://example.com/", {}, "not encrypted"),
        ("https://user:secret@example.com/", {}, "holds a user or a password"),
        ("https:///geo", {}, "not the address"),
    ],
)
def test_options_and_addresses_that_cannot_be(
    archive: Path, source: str, options: dict[str, object], problem: str
) -> None:
    source = str(archive) if source == archive.name else source
    with pytest.raises(ValueError, match=problem) as caught:
        geolookup.update(source, **options)  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)
