"""Archives published into a store: its dataset becomes current, or nothing changes; limits."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from functools import partial
from pathlib import Path

import pytest

from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.checksums import canonical
from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem import limits
from geolookup.history.generations import rollback
from geolookup.history.pruning import prune
from geolookup.history.publishing import publish
from geolookup.integrity import verify
from geolookup.store import pointer
from tests.archives import test_pack
from tests.archives.test_pack import SUM, archived, digests, members, named
from tests.datasets import SMALL, once
from tests.store.numbered import answers_of, generation, id_of, published, shared


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0 and then number 2."""
    return published(tmp_path / "store", 0, 2)


@pytest.fixture
def full() -> Path:
    """Number 1, whole; nobody may change it."""
    return once("archives-full.tar.zst", partial(pack, shared(1)))


def folder_of(store: Path, dataset: Path) -> Path:
    return Path(pointer.folder_of(store, generation(dataset)))


def state(store: Path) -> dict[str, object]:
    """What a store has, in bytes; but for its lock."""
    result = sorted(path for path in store.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(store)): path.read_bytes() for path in result}


def check_refused(
    archive: Path, store: Path, full: Path | None = None, expect: str | None = None
) -> DatasetError:
    before = state(store) if store.exists() else {}
    with pytest.raises(DatasetError) as caught:
        publish(archive, store, full=full, expect=expect)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert (state(store) if store.exists() else {}) == before
    assert not any(path.name.startswith(".") for path in store.glob("generations/*"))
    return caught.value


def damage(path: Path) -> None:
    """Change the last byte of a file."""
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_again_it_is_current_again(delta: Path, full: Path, store: Path, tmp_path: Path) -> None:
    """A delta against a generation before, or a whole archive into a new store."""
    assert publish(delta, store) == id_of(1)
    assert digests(folder_of(store, shared(1))) == digests(shared(1))
    rollback(store)
    before = folder_of(store, shared(1)).stat()
    assert publish(delta, store) == id_of(1)
    assert answers_of(store) == answers_of(shared(1))
    assert folder_of(store, shared(1)).stat() == before
    damage(folder_of(store, shared(1)) / fmt.IPV4)
    publish(delta, store)
    verify(store, deep=True)
    with pytest.raises(DatasetError, match="does not have"):
        publish(delta, tmp_path / "new")
    assert list((tmp_path / "new" / "generations").iterdir()) == []
    assert publish(full, tmp_path / "new") == id_of(1)
    assert digests(folder_of(tmp_path / "new", shared(1))) == digests(shared(1))


def test_the_generation_that_is_expected(delta: Path, store: Path, tmp_path: Path) -> None:
    # The rest of an archive may be anything: nothing is read behind a head that is refused.
    cut = archived(tmp_path / "cut.tar.zst", [*members(delta)[:3], named("x", b"y")])
    for archive in (delta, cut):
        error = check_refused(archive, store, expect=id_of(2))
        assert error.path == str(archive)
        assert "was expected" in error.problem
        assert error.remedy == "fetch the dataset that you expect"
    assert publish(delta, store, expect=id_of(1)) == id_of(1)


def test_a_base_that_the_store_lacks(
    delta: Path, full: Path, store: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Or that is damaged: the whole archive is published instead, if it is that generation."""
    path = folder_of(store, shared(0)) / fmt.COUNTRY  # which the delta does not change
    damage(path)
    assert check_refused(delta, store).path == str(path)
    publish(delta, store, full=full)
    verify(store, deep=True)
    rollback(store)
    shutil.rmtree(folder_of(store, shared(1)))
    prune(store, 1)
    error = check_refused(delta, store)
    assert str(error) == (
        f"{delta}: a delta of generation {id_of(0)}, but {store} does not have it;"
        " name an archive of the whole dataset with --full, or publish that"
    )
    pack(shared(0), other := tmp_path / "other.tar.zst")
    refused = check_refused(delta, store, full=other)
    assert refused.path == str(other)
    assert f"but {id_of(1)} was expected" in refused.problem
    caplog.clear()
    with caplog.at_level(logging.WARNING, "geolookup"):
        assert publish(delta, store, full=full) == id_of(1)
    assert caplog.messages == [f"{error}; publishing {full} instead"]
    assert answers_of(store) == answers_of(shared(1))


def test_archives_that_are_cut_or_forged(
    delta: Path, full: Path, store: Path, tmp_path: Path
) -> None:
    """The whole archive is published if the head of the delta says which generation it makes."""
    listed = members(delta)
    cut = archived(tmp_path / "cut.tar.zst", listed[:-1])
    check_refused(cut, store)
    assert publish(cut, store, full=full) == id_of(1)
    headless = archived(tmp_path / "headless.tar.zst", listed[1:2])
    check_refused(headless, store, full=full)
    (tmp_path / "ranges.csv").write_text("network,city_name\n", encoding="utf-8")
    assert "compile it" in check_refused(tmp_path / "ranges.csv", store).remedy
    (tmp_path / "empty.tar.zst").write_bytes(b"")
    assert check_refused(tmp_path / "empty.tar.zst", store).path.endswith("empty.tar.zst")
    # Right digests throughout, and the id of another dataset: ``verify`` computes it again.
    wrong = shutil.copytree(shared(1), tmp_path / "wrong")
    text = (wrong / fmt.MANIFEST).read_text(encoding="utf-8")
    (wrong / fmt.MANIFEST).write_text(text.replace(id_of(1), "0" * 64), encoding="utf-8")
    pack(wrong, tmp_path / "a.tar.zst", base=shared(0))
    check_refused(tmp_path / "a.tar.zst", store)


def forged(path: Path, size: int) -> Path:
    stated = json.loads((SMALL / fmt.MANIFEST).read_bytes())
    stated["files"][fmt.FILES[0]]["bytes"] = size
    text = canonical(stated)
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    pack(SMALL, path)
    remainder = [member for member in members(path)[2:] if member[0].name != fmt.FILES[0]]
    head = [named(fmt.MANIFEST, text), named(SUM, digest), named(fmt.FILES[0], bytes(size))]
    return archived(path, [*head, *remainder])


def limit(monkeypatch: pytest.MonkeyPatch, size: int, ratio: int) -> None:
    monkeypatch.setattr(limits, "ALLOWED_BYTES", size)
    monkeypatch.setattr(limits, "ALLOWED_RATIO", ratio)


def bytes_of(dataset: Path) -> int:
    files = json.loads((dataset / fmt.MANIFEST).read_bytes())["files"]
    return sum((dataset / name).stat().st_size for name in files)


def test_a_bomb_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 1 << 20, 20)
    archive = forged(tmp_path / "a.tar.zst", 20 << 20)
    error = test_pack.check_refused(archive, tmp_path / "out")
    assert error.problem == "unpacks to over 1,048,576 bytes and 20 times its size"
    needed = bytes_of(SMALL)  # the most that an archive may hold
    pack(SMALL, archive, force=True)
    limit(monkeypatch, needed - 1, 0)
    test_pack.check_refused(archive, tmp_path / "out")
    limit(monkeypatch, needed, 0)
    unpack(archive, tmp_path / "out")


def test_no_room_for_a_dataset(
    delta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(SMALL, tmp_path / "a.tar.zst")
    needed, free = bytes_of(SMALL), 1000
    monkeypatch.setattr(limits, "free_space", lambda _folder: free)
    with pytest.raises(OutputError) as caught:
        unpack(tmp_path / "a.tar.zst", tmp_path / "out")
    assert caught.value.problem == f"needs {needed:,} bytes, but 1,000 are free on its disk"
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]
    free = needed
    unpack(tmp_path / "a.tar.zst", tmp_path / "out")
    store, target = published(tmp_path / "store", 0), shared(1)
    free = bytes_of(target) - 1
    with pytest.raises(OutputError, match="are free on its disk"):
        publish(delta, store)
    free += 1
    publish(delta, store)
