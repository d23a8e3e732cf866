"""Updates from an archive and from a mirror: what a store has is what was packed or published."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from geolookup.archives.pack import pack
from geolookup.errors import OutputError
from geolookup.store.generations import generations, rollback
from geolookup.store.publish import publish
from tests.archives.test_pack import archived, members
from tests.cli.program import run
from tests.store.numbered import answers_of, id_of, named, shared


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three datasets of one name; nobody may change them."""
    folder = tmp_path_factory.mktemp("arriving")
    return [named(folder / str(number), "geo", number) for number in range(3)]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Number 1, whole."""
    pack(shared(1), tmp_path / "a.tar.zst")
    return tmp_path / "a.tar.zst"


def test_an_archive_is_published(archive: Path, store: Path) -> None:
    planned = geolookup.update(archive, dry_run=True)
    assert (planned.state, planned.generation) == ("planned", None)
    assert not store.exists()
    done = geolookup.update(archive)
    assert (done.state, done.generation) == ("updated", id_of(1))
    assert answers_of(store) == answers_of(shared(1))
    assert geolookup.update(archive).state == "current"


def test_a_delta_is_applied_and_old_generations_go(store: Path, tmp_path: Path) -> None:
    store.parent.mkdir()
    for number in (0, 1):
        publish(shared(number), store)
    pack(shared(2), tmp_path / "d.tar.zst", base=shared(0))
    done = geolookup.update(tmp_path / "d.tar.zst", store=store)
    assert (done.state, done.removed) == ("updated", (id_of(0),))
    assert answers_of(store) == answers_of(shared(2))


def test_old_generations_that_stay_are_a_warning(
    archive: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OutputError(store, "busy", "wait")

    monkeypatch.setattr("geolookup.updates.from_archive.prune", fail)
    done = geolookup.update(archive)
    (warning,) = done.warnings
    assert warning.startswith("old generations are not all removed: ")
    assert "busy" in warning
    assert (done.state, done.generation) == ("updated", id_of(1))


def test_what_was_withdrawn_is_not_published_again(archive: Path, store: Path) -> None:
    store.parent.mkdir()
    publish(shared(0), store)
    geolookup.update(archive)
    rollback(store)
    done = geolookup.update(archive)
    assert (done.state, done.generation) == ("withdrawn", id_of(0))
    assert [each.withdrawn for each in generations(store)] == [True, False]


def test_a_damaged_archive_changes_nothing(archive: Path, store: Path) -> None:
    store.parent.mkdir()
    publish(shared(0), store)
    archived(archive, members(archive)[:-1])
    with pytest.raises(geolookup.DatasetError, match="is missing; fetch it again"):
        geolookup.update(archive)
    assert answers_of(store) == answers_of(shared(0))


def test_options_of_recipes(archive: Path, tmp_path: Path) -> None:
    for option in ({"if_older": "7d"}, {"cache": tmp_path}, {"sign": tmp_path}):
        for named_ in (archive, "https://geo.example.com/city"):
            with pytest.raises(ValueError, match=f"{next(iter(option))} is for recipes"):
                geolookup.update(named_, **option)


@pytest.mark.long
def test_the_command(archive: Path, store: Path) -> None:
    done = run("update", str(archive), "--dry-run")
    assert done.stdout == f"would publish generation {id_of(1)} into {store}\n"
    done = run("update", str(archive))
    assert done.stdout.splitlines() == [
        f"generation {id_of(1)} published into {store}",
        "without --dataset, commands and geolookup.open() answer from geo",
    ]
    refused = run("update", str(archive), "--if-older", "7d")
    assert refused.returncode == 2
    assert "if_older is for recipes" in refused.stderr


def test_a_mirror_is_polled_once(store: Path, tmp_path: Path) -> None:
    publish(shared(0), tmp_path / "origin")
    geolookup.mirror(tmp_path / "origin", tmp_path / "mirror")
    url = (tmp_path / "mirror").as_uri()
    assert geolookup.update(url, dry_run=True).state == "planned"
    done = geolookup.update(url)
    assert (done.state, done.generation) == ("updated", id_of(0))
    assert answers_of(store) == answers_of(shared(0))
    assert geolookup.update(url).state == "current"
    rollback_to = publish(shared(1), tmp_path / "origin")
    geolookup.mirror(tmp_path / "origin", tmp_path / "mirror")
    assert geolookup.update(url).generation == rollback_to


def test_a_mirror_that_does_not_answer(store: Path, tmp_path: Path) -> None:
    with pytest.raises(geolookup.UpdateError):
        geolookup.update((tmp_path / "nowhere").as_uri())
    assert not (store / "current").exists()
