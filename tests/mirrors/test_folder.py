"""The folder of a mirror: what a store's followers need, and nothing that a reader misses."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from geolookup import DatasetError, OutputError, publish
from tests.cli.program import umask
from tests.internals.archives import unpack
from tests.internals.history import prune, rollback
from tests.internals.mirrors import INDEX, Index, mirror
from tests.mirrors.conftest import archives_of, index_of, stats_of
from tests.store.numbered import generation, id_of, numbered, shared


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mirror"


def timeless(index: Index) -> Index:
    listed = [replace(item, published_at="") for item in index.generations]
    return replace(index, serial=0, published_at="", generations=tuple(listed))


def test_two_packs_and_a_delta_from_each_generation(
    store: Path, folder: Path, tmp_path: Path
) -> None:
    result = mirror(store, folder)
    index = index_of(folder)
    first, second, third = map(id_of, range(3))
    assert (result.state, result.index, result.removed) == ("published", index, ())
    assert (index.name, index.current, index.expires_at) == ("geo", third, None)
    assert [item.generation for item in index.generations] == [third, second]
    assert [item.base for item in index.now.deltas] == [second, first]
    assert {file.path for file in result.added} == archives_of(folder)
    assert {path.name for path in folder.iterdir()} == {".lock", INDEX, "packs", "deltas"}
    for entry in index.generations:
        assert entry.pack is not None
        unpack(folder / entry.pack.path, tmp_path / entry.generation)
        assert generation(tmp_path / entry.generation) == entry.generation
    for number, delta in enumerate(reversed(index.now.deltas)):
        unpack(folder / delta.file.path, tmp_path / str(number), base=shared(number))
        assert generation(tmp_path / str(number)) == third
    before = stats_of(folder)
    result = mirror(store, folder)  # without a change nothing is written
    assert (result.state, result.index, result.added) == ("current", index, ())
    assert stats_of(folder) == before
    for deltas in (0, 1):
        mirror(store, folder, deltas=deltas)
        assert [item.base for item in index_of(folder).now.deltas] == [second][:deltas]


@pytest.mark.long
def test_archives_of_the_former_index_stay_until_the_next(store: Path, folder: Path) -> None:
    """However often the same state is mirrored again. What others have put there stays."""
    paths = [{file.path for file in mirror(store, folder).index.files}]
    others = [folder / name for name in ("robots.txt", "packs/notes.txt", "deltas/.hidden")]
    for path in others:
        path.write_text("mine", encoding="utf-8")
    theirs = {"packs/notes.txt", "deltas/.hidden"}
    for number in (3, 4, 0, 1):
        publish(shared(number), store)
        before, removed = archives_of(folder), mirror(store, folder).removed
        paths.append({file.path for file in index_of(folder).files})
        assert archives_of(folder) == paths[-1] | paths[-2] | theirs
        assert {*removed} == before - archives_of(folder)
    assert removed
    for _ in range(3):
        result = mirror(store, folder, expires="7d")
        assert (result.state, result.added, result.removed) == ("published", (), ())
    assert archives_of(folder) == paths[-1] | paths[-2] | theirs
    assert [path.read_text(encoding="utf-8") for path in others] == ["mine"] * 3


def test_a_withdrawn_generation_is_named_and_has_a_way_back(store: Path, mirrored: Path) -> None:
    rollback(store)
    result = mirror(store, mirrored)
    index = index_of(mirrored)
    first, second, third = map(id_of, range(3))
    assert index.current == second
    gone = index.entry(third)
    assert gone is not None
    assert (gone.withdrawn, gone.pack, gone.deltas) == (True, None, ())
    assert [delta.base for delta in index.now.deltas] == [third, first]
    # The pack of the generation that is current again was there.
    added = {file.path.partition("/")[0] for file in result.added if second in file.path}
    assert added == {"deltas"}
    publish(shared(2), store)
    mirror(store, mirrored)
    index = index_of(mirrored)
    assert index.current == third
    assert not any(item.withdrawn for item in index.generations)
    prune(store, 1)
    mirror(store, mirrored)
    index = index_of(mirrored)
    assert [item.generation for item in index.generations] == [third]
    assert index.now.deltas == ()


@pytest.mark.parametrize("kind", ["packs", "deltas"])
def test_a_changed_archive_is_written_again(store: Path, mirrored: Path, kind: str) -> None:
    damaged, missing, *_ = sorted((mirrored / kind).iterdir())
    expected = damaged.read_bytes()
    damaged.write_bytes(expected[:-1] + b"x")
    missing.unlink()
    result = mirror(store, mirrored)
    assert result.state == "current"
    assert sorted(file.path for file in result.added) == [
        f"{kind}/{item.name}" for item in (damaged, missing)
    ]
    assert damaged.read_bytes() == expected
    index_of(mirrored)


def test_one_store_gives_the_same_bytes(store: Path, folder: Path) -> None:
    """Also where one mirror has a history, and the other begins with the same state."""
    other = folder.with_name("other")
    first = mirror(store, folder)
    former = {path: item for path, item in stats_of(folder).items() if path.suffix == ".zst"}
    publish(shared(3), store)
    result = mirror(store, folder)
    assert result.index.serial > first.index.serial
    assert result.index.current == id_of(3)
    assert len(result.added) == 1 + 3  # a pack, and a delta from each of the three
    assert former.items() < stats_of(folder).items()
    mirror(store, other)
    assert timeless(index_of(folder)) == timeless(index_of(other))
    for file in index_of(other).files:
        assert (folder / file.path).read_bytes() == (other / file.path).read_bytes()


def test_serials_are_the_time_and_grow_whatever_the_clock_says(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = 1_800_000_000_000_000  # in microseconds
    for number, clock, serial in ((3, second, second), (4, 1, second + 1), (0, 1, second + 2)):
        monkeypatch.setattr("time.time_ns", lambda clock=clock: clock * 1000 + 999)
        publish(shared(number), store)
        assert mirror(store, folder).index.serial == serial


def test_an_index_expires(store: Path, mirrored: Path) -> None:
    before = datetime.now(UTC)
    index = mirror(store, mirrored, expires="2d").index
    assert index.is_expired(before + timedelta(days=2, minutes=5))
    assert not index.is_expired(before + timedelta(days=1, hours=23))
    assert mirror(store, mirrored).index.expires_at is None


def test_folders_that_are_no_mirror_are_refused(store: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    for output, problem in (
        (store, "is not empty and not a mirror"),
        (shared(0), "is not empty and not a mirror"),
        (tmp_path / "file", "cannot be written"),
        (tmp_path / "notes", "is not empty and not a mirror"),
        (tmp_path / "x" / "y", "x: no such folder"),
    ):
        with pytest.raises(OutputError, match=problem):
            mirror(store, output)
    for options, problem in (
        ({"deltas": -1}, "deltas is -1; write 0 to 100"),
        ({"deltas": 101}, "deltas is 101; write 0 to 100"),
        ({"expires": "soon"}, "expires is 'soon'"),
    ):
        with pytest.raises(ValueError, match=problem):
            mirror(store, tmp_path / "mirror", **options)
    assert sorted(tmp_path.rglob("*")) == before
    mirror(store, tmp_path / "mirror", deltas=100)


def test_what_cannot_be_mirrored_leaves_the_index(
    store: Path, mirrored: Path, tmp_path: Path
) -> None:
    """A damaged generation, a dataset of another name, a damaged index, and no store."""
    before = (mirrored / INDEX).read_bytes()
    publish(shared(3), store)
    damaged = store / "generations" / id_of(3) / "ipv4.arrow"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    publish(numbered(tmp_path / "7", 7), other := tmp_path / "other")
    for output, problem in (
        (store, r"ipv4\.arrow"),
        (other, "is a mirror of 'geo', but the store has 'n7'"),
        (tmp_path / "nothing", "no store here"),
        (shared(0), "no store here"),
    ):
        with pytest.raises(DatasetError, match=problem):
            mirror(output, mirrored)
        assert (mirrored / INDEX).read_bytes() == before
        assert not (mirrored / ".unfinished").exists()
    (mirrored / INDEX).write_text("{}", encoding="utf-8")
    with pytest.raises(DatasetError, match="remove it, and mirror again"):
        mirror(other, mirrored)
    (mirrored / INDEX).unlink()
    assert mirror(other, mirrored).state == "published"


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_web_server_of_another_user_can_read_it(store: Path, folder: Path) -> None:
    with umask(0o022):
        mirror(store, folder)
    assert {path.stat().st_mode & 0o777 for path in folder.glob("**/[!.]*.*")} == {0o644}
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_dir()} == {0o755}
