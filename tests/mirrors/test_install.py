"""The limits of what is fetched, and archives that contradict the index."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from geolookup import publish
from geolookup.errors import DatasetError, MirrorError
from geolookup.mirrors import source as source_module
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import File
from geolookup.mirrors.source import Source
from geolookup.signing.envelope import LARGEST_ENVELOPE
from tests.mirrors.conftest import Edge, content_of, folder_act
from tests.remote.serving import Handler
from tests.store.numbered import named


def test_the_limits_of_what_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def fetch(remote: Any, sha256: str, cache: Path, _progress: object, limits: Any) -> object:
        asked.append((remote.uri, sha256, cache.name, limits))
        return SimpleNamespace(file=SimpleNamespace(path=cache, bytes=7), changed=len(asked) == 1)

    monkeypatch.setattr(source_module, "fetch", fetch)
    source = Source("https://example.com/geo/?key=1", tmp_path, limit_rate=1000)
    assert [source.index()[1], source.index()[1]] == [7, 0]  # fetched, and unchanged
    source.archive(File("packs/x", 5, "1" * 64))
    common = {"longest_wait": 10.0, "fastest": 1000}
    for (uri, sha256, cache, limits), expected in zip(
        asked[1:],
        (
            ("https://example.com/geo/index.json?key=1", "", "index", 3, LARGEST_ENVELOPE),
            ("https://example.com/geo/packs/x?key=1", "1" * 64, "archives", 6, 5),
        ),
        strict=True,
    ):
        assert (uri, sha256, cache, limits.attempts, limits.largest) == expected
        assert {name: getattr(limits, name) for name in common} == common
    for address in ("https://example.com/geo", str(tmp_path)):
        Source(address, tmp_path).check()
    with pytest.raises(MirrorError, match="unknown scheme ftp"):
        Source("ftp://example.com/", tmp_path).check()


def test_what_is_larger_after_its_transfer(followed: Edge) -> None:
    """An index or an archive that is compressed by gzip on its way."""
    followed.publish(2, deltas=0)
    pack, honest = followed.index().now.pack, folder_act(followed.folder)
    assert pack is not None
    before = content_of(followed.store)
    for folder, most in (("", LARGEST_ENVELOPE), ("packs", pack.bytes)):

        def act(handler: Handler, folder: str = folder, most: int = most) -> None:
            if handler.path.strip("/").rpartition("/")[0] != folder:
                return honest(handler)
            return handler.answer(200, gzip.compress(bytes(most + 1)), Content_Encoding="gzip")

        followed.site.plan[:] = [act]
        with pytest.raises(MirrorError, match=f"the file is larger than {most:,} bytes"):
            followed.poll()
        assert content_of(followed.store) == before
        assert not any((followed.store / ".follow").rglob("part/*"))


def test_archives_that_contradict_the_index_leave_the_store(followed: Edge, tmp_path: Path) -> None:
    """A statement of other bytes: each poll would add a generation. Another name: none could."""
    followed.publish(2)
    index = followed.index()
    now = replace(index.now, signature="no statement", deltas=())
    others = (
        generation for generation in index.generations if generation.generation != index.current
    )
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
