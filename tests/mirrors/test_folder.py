"""The folder of a mirror: what a store's followers need, and nothing that they would refuse."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geolookup import DatasetError, publish
from geolookup.errors import OutputError
from tests.cli.program import umask
from tests.internals.archives import unpack
from tests.internals.history import prune, rollback
from tests.internals.mirrors import INDEX, File, Index, archive_file, mirror, read_index
from tests.internals.signing import serial_of
from tests.internals.store import sign, trust
from tests.mirrors.conftest import Edge, archives_of, index_of
from tests.signing.keys import public_keys
from tests.skips import needs
from tests.store.numbered import generation, id_of, numbered, shared


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mirror"


def timeless(index: Index) -> Index:
    listed = [replace(item, published_at="") for item in index.generations]
    return replace(index, serial=0, published_at="", generations=tuple(listed))


def stats_of(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what changes when a file of a mirror is written, or one is added to a folder."""
    actual = {path: path.stat() for path in folder.rglob("*")}
    return {path: (item.st_ino, item.st_mtime_ns, item.st_size) for path, item in actual.items()}


def test_the_current_generation_and_the_one_before(
    store: Path, folder: Path, tmp_path: Path
) -> None:
    """Whether the store has them as folders or as archives; a second run writes nothing."""
    prune(store, 2, keep_unpacked=1)
    assert (store / "archive").is_dir()
    result = mirror(store, folder)
    index = index_of(folder)
    assert (result.state, result.index) == ("published", index)
    assert (index.name, index.current, index.expires_at) == ("geo", id_of(2), None)
    assert [item.generation for item in index.generations] == [id_of(2), id_of(1)]
    assert {file.path for file in index.files} == archives_of(folder)
    assert {path.name for path in folder.iterdir()} == {".lock", INDEX, "archives"}
    for file, entry in zip(index.files, index.generations, strict=True):
        unpack(folder / file.path, tmp_path / entry.generation)
        assert generation(tmp_path / entry.generation) == entry.generation
    before = stats_of(folder)
    result = mirror(store, folder)
    assert (result.state, result.index) == ("unchanged", index)
    assert stats_of(folder) == before


def test_archives_of_the_former_index_stay_until_the_next(store: Path, folder: Path) -> None:
    """However often the same state is mirrored again. What others have put there stays."""
    paths = [{file.path for file in mirror(store, folder).index.files}]
    others = [folder / name for name in ("robots.txt", "archives/notes.txt", "archives/.hidden")]
    for path in others:
        path.write_text("mine", encoding="utf-8")
    theirs = {"archives/notes.txt", "archives/.hidden"}
    for number in (3, 4, 0, 1):
        publish(shared(number), store)
        paths.append({file.path for file in mirror(store, folder).index.files})
        assert archives_of(folder) == paths[-1] | paths[-2] | theirs
    for _ in range(3):
        assert mirror(store, folder, expires="7d").state == "published"
    assert archives_of(folder) == paths[-1] | paths[-2] | theirs
    assert [path.read_text(encoding="utf-8") for path in others] == ["mine"] * 3


def test_a_withdrawn_generation_is_named(store: Path, folder: Path) -> None:
    mirror(store, folder)
    rollback(store)
    mirror(store, folder)
    index = index_of(folder)
    assert (index.current, index.withdrawn) == (id_of(1), frozenset({id_of(2)}))
    assert [item.generation for item in index.generations] == [id_of(2), id_of(1), id_of(0)]
    publish(shared(2), store)
    mirror(store, folder)
    index = index_of(folder)
    assert (index.current, index.withdrawn) == (id_of(2), frozenset())
    prune(store, 1)
    mirror(store, folder)
    assert [item.generation for item in index_of(folder).generations] == [id_of(2)]


def test_a_store_that_changes_while_it_is_mirrored(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generation that is about to be written is pruned: the present ones are mirrored."""

    def pruning(store: Path, head: Any, folder: Path) -> File:
        if head.manifest.generation == id_of(2):
            publish(shared(3), store, keep=1)
        return archive_file(store, head, folder)

    monkeypatch.setattr("geolookup.mirrors.folder.archive_file", pruning)
    mirror(store, folder)
    assert [item.generation for item in index_of(folder).generations] == [id_of(3)]


def test_one_store_gives_the_same_bytes(store: Path, folder: Path) -> None:
    """Also if one mirror has a history, or lost an archive, and the other begins afresh."""
    mirror(store, folder)
    damaged, missing = sorted((folder / "archives").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    missing.unlink()
    assert mirror(store, folder).state == "unchanged"
    index_of(folder)  # compares the digests
    former = {path: item for path, item in stats_of(folder).items() if path.suffix == ".zst"}
    publish(shared(3), store)
    mirror(store, folder)
    assert former.items() < stats_of(folder).items()
    mirror(store, other := folder.with_name("other"))
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


def test_an_index_expires(store: Path, folder: Path) -> None:
    """Each index is of a later second: web servers make their ETag of second and size."""
    seconds = list[int]()
    for _ in range(3):
        index = mirror(store, folder, expires="2d").index
        began, end = map(datetime.fromisoformat, (index.published_at, str(index.expires_at)))
        assert end - began == timedelta(days=2)
        seconds.append(int((folder / INDEX).stat().st_mtime))
    assert sorted({*seconds}) == seconds
    assert mirror(store, folder).index.expires_at is None


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
    with pytest.raises(ValueError, match="expires is 'soon'"):
        mirror(store, tmp_path / "mirror", expires="soon")
    assert sorted(tmp_path.rglob("*")) == before


def test_what_cannot_be_mirrored_leaves_the_index(
    store: Path, folder: Path, tmp_path: Path
) -> None:
    """A damaged generation, a dataset of another name, a damaged index, and no store."""
    mirror(store, folder)
    before = (folder / INDEX).read_bytes()
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
            mirror(output, folder)
        assert (folder / INDEX).read_bytes() == before
        assert {path.name for path in folder.iterdir()} == {".lock", INDEX, "archives"}
    (folder / INDEX).write_text("{}", encoding="utf-8")
    with pytest.raises(DatasetError, match="remove it, and mirror again"):
        mirror(other, folder)
    (folder / INDEX).unlink()
    assert mirror(other, folder).state == "published"


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_web_server_of_another_user_can_read_it(store: Path, folder: Path) -> None:
    with umask(0o022):
        mirror(store, folder)
    assert {path.stat().st_mode & 0o777 for path in folder.glob("**/[!.]*.*")} == {0o644}
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_dir()} == {0o755}


signed = needs("cryptography")


def assert_refused(edge: Edge, match: str, *keys: Path) -> None:
    before, edge.keys = (edge.folder / INDEX).read_bytes(), keys
    with pytest.raises(DatasetError, match=match) as caught:
        edge.mirror()
    assert caught.value.remedy
    assert (edge.folder / INDEX).read_bytes() == before


@signed
def test_the_index_is_signed_by_each_key(trusting: Edge, keys: list[Path]) -> None:
    former = index_of(trusting.folder)
    statement = trusting.origin / "generations" / id_of(1) / "signature.json"
    assert former.signature == statement.read_bytes()
    assert trusting.mirror() == former
    trusting.keys = keys[:2]
    assert trusting.mirror().generations == former.generations
    text = (trusting.folder / INDEX).read_bytes()
    first, second, third = public_keys()
    for key in (first, second):
        read_index(text, [key], INDEX)
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        read_index(text, [third], INDEX)


@signed
def test_a_later_statement_changes_the_archive(
    trusting: Edge, keys: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the machine that signs may be ahead of that of the machine that mirrors."""
    former = index_of(trusting.folder)
    monkeypatch.setattr("time.time_ns", lambda: (1 << 53) * 1000)
    sign(trusting.origin, keys[0])
    monkeypatch.undo()
    index = trusting.mirror()
    assert (index.current, index.serial) == (former.current, (1 << 53) + 1)
    assert index.signature is not None
    assert serial_of(index.signature, INDEX) == 1 << 53
    assert index.files[0] != former.files[0]
    assert all((trusting.folder / file.path).exists() for file in former.files)


@signed
def test_what_followers_refuse_is_refused(trusting: Edge, keys: list[Path]) -> None:
    store, key = trusting.origin, keys[0]
    signature = (store / "generations" / id_of(1) / "signature.json").read_bytes()
    assert_refused(trusting, "would not be")  # no key for the index
    publish(shared(3), store)
    assert_refused(trusting, "not signed", key)
    (store / "generations" / id_of(3) / "signature.json").write_bytes(signature)
    assert_refused(trusting, "signs another manifest", key)
    (store / "generations" / id_of(3) / "signature.json").unlink()
    sign(store, key)
    trusting.mirror()
    rollback(store)
    assert_refused(trusting, "signed before the generation in the mirror", key)
    sign(store, key)
    assert trusting.mirror().current == id_of(1)
    trust(store, public_keys()[:1])
    assert_refused(trusting, "no key that the store trusts", keys[1])
    (store / "generations" / id_of(1) / "signature.json").unlink()
    assert_refused(trusting, "not signed by a trusted key", key)
