"""Archives published into a store: its dataset becomes current, or nothing changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.errors import DatasetError
from tests.archives.test_pack import digests
from tests.damage import copied
from tests.internals.archives import pack
from tests.internals.dataset import layout as fmt
from tests.internals.history import publish, rollback
from tests.internals.integrity import verify
from tests.store.numbered import answers_of, id_of, published, shared


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0."""
    return published(tmp_path / "store", 0)


def test_again_it_is_current_again(store: Path, tmp_path: Path) -> None:
    """Of a generation that the store has undamaged, nothing is written."""
    pack(shared(1), archive := tmp_path / "a.tar.zst")
    folder = store / "generations" / id_of(1)
    assert publish(archive, store, expect=id_of(1)).generation == id_of(1)
    assert digests(folder) == digests(shared(1))
    rollback(store)
    before = folder.stat()
    publish(archive, store)
    assert answers_of(store) == answers_of(shared(1))
    assert folder.stat() == before
    content = (folder / fmt.IPV4).read_bytes()
    (folder / fmt.IPV4).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    publish(archive, store)
    verify(store, deep=True)


def test_archives_that_are_cut_or_forged(store: Path, tmp_path: Path) -> None:
    pack(shared(1), right := tmp_path / "right.tar.zst")
    (cut := tmp_path / "cut.tar.zst").write_bytes(right.read_bytes()[:-20])
    # Right digests throughout, and the id of another dataset: ``verify`` computes it again.
    manifest = copied(shared(1), tmp_path / "wrong") / fmt.MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(id_of(1).encode(), b"0" * 64))
    pack(manifest.parent, wrong := tmp_path / "wrong.tar.zst")
    before = sorted(store.rglob("*"))
    for archive, expect, problem in (
        (cut, None, "truncated"),
        (wrong, None, "generation"),
        (right, id_of(0), f"but {id_of(0)} was expected"),
    ):
        with pytest.raises(DatasetError, match=f"^{archive}.*{problem}"):
            publish(archive, store, expect=expect)
        assert sorted(store.rglob("*")) == before
        assert answers_of(store) == answers_of(shared(0))
