"""What a mirror without signatures answers: bombs, and archives that contradict their index."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from geolookup import DatasetError
from geolookup.errors import MirrorError
from geolookup.mirrors.write import mirror
from geolookup.signing.envelope import LARGEST_ENVELOPE
from geolookup.store.publish import publish
from tests.builder.remote.serving import Handler
from tests.mirrors.following import Edge, content_of
from tests.mirrors.site import folder_act
from tests.store.numbered import named


def packed_on_the_way(edge: Edge, folder: str, content: bytes) -> None:
    """Let the server answer for the files of a folder with a content that is compressed by gzip."""
    honest = folder_act(edge.folder)

    def act(handler: Handler) -> None:
        if handler.path.strip("/").rpartition("/")[0] != folder:
            return honest(handler)
        return handler.answer(200, gzip.compress(content), Content_Encoding="gzip")

    edge.site.plan[:] = [act]


def test_an_index_that_is_larger_after_its_transfer(followed: Edge) -> None:
    packed_on_the_way(followed, "", bytes(LARGEST_ENVELOPE + 1))
    before = content_of(followed.store)
    with pytest.raises(MirrorError, match="the file is larger than 4,194,304 bytes"):
        followed.poll()
    assert content_of(followed.store) == before
    assert not any((followed.store / ".follow").rglob("part/*"))


def test_an_archive_that_is_larger_after_its_transfer(edge: Edge) -> None:
    edge.publish(0)
    pack = edge.index().now.pack
    assert pack is not None
    packed_on_the_way(edge, "packs", bytes(pack.bytes + 1))
    with pytest.raises(MirrorError, match=f"the file is larger than {pack.bytes:,} bytes"):
        edge.poll()
    assert not any((edge.store / ".follow").rglob("part/*"))


def test_archives_that_contradict_the_index_leave_the_store(followed: Edge, tmp_path: Path) -> None:
    """A statement of other bytes: each poll would add a generation. Another name: none could."""
    followed.publish(2)
    index = followed.index()
    now = replace(index.now, signature="no statement", deltas=())
    others = (each for each in index.generations if each.generation != index.current)
    followed.forge(replace(index, generations=(now, *others)))
    before = content_of(followed.store)
    with pytest.raises(DatasetError, match="not a signed document"):
        followed.poll()
    publish(named(tmp_path / "other", "other", 4), tmp_path / "origin")
    mirror(tmp_path / "origin", tmp_path / "www")
    other = replace(followed, folder=tmp_path / "www")
    followed.site.plan[:] = [folder_act(tmp_path / "www")]
    other.forge(replace(other.index(), name="geo"))
    with pytest.raises(DatasetError, match="is the dataset 'other', but the index says 'geo'"):
        followed.poll()
    assert content_of(followed.store) == before
