"""Stores of numbered datasets, a mirror of one on a server, and a store that follows it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup import publish
from tests.datasets import once
from tests.internals.integrity import verify
from tests.internals.mirrors import (
    INDEX,
    Index,
    PollResult,
    Source,
    index_text,
    mirror,
    poll,
    read_index,
)
from tests.internals.signing import PublicKey
from tests.internals.store import sign, trust
from tests.remote.serving import Act, Handler, Site, file, serving
from tests.signing.keys import key_files, public_keys
from tests.store.numbered import datasets as datasets  # noqa: PLC0414 - a fixture
from tests.store.numbered import generation, published, shared


@dataclass
class Edge:
    store: Path
    origin: Path
    folder: Path
    datasets: Sequence[Path]
    site: Site

    @property
    def source(self) -> Source:
        return Source(self.site.url, self.store)

    def publish(self, number: int, *, keys: Sequence[Path] = (), **options: Any) -> str:
        publish(self.datasets[number], self.origin)
        if keys:
            sign(self.origin, keys)
        mirror(self.origin, self.folder, signing_keys=keys, **options)
        return generation(self.datasets[number])

    def trust(self, keys: Sequence[PublicKey]) -> None:
        trust(self.store, keys)

    def poll(self) -> PollResult:
        return poll(self.source)

    def index(self) -> Index:
        return read_index((self.folder / INDEX).read_bytes(), None, INDEX)

    def forge(self, index: Index) -> None:
        (self.folder / INDEX).write_bytes(index_text(index, []))

    @property
    def current(self) -> str:
        """The generation of the edge, which must be whole."""
        verify(self.store, deep=True)
        with geolookup.open(self.store) as engine:
            return engine.generation

    @property
    def state(self) -> dict[str, Any]:
        """What the follower wrote about its polls."""
        stated: dict[str, Any] = json.loads((self.store / "follow.json").read_bytes())
        return stated


@contextmanager
def edge_of(folder: Path, datasets: Sequence[Path]) -> Iterator[Edge]:
    mirrored = folder / "mirror"
    with mirror_site(mirrored) as site:
        yield Edge(folder / "edge", folder / "origin", mirrored, datasets, site)


def content_of(store: Path) -> dict[str, str]:
    """Return the digest of every file that engines or a later poll read: all but the status."""
    return {
        path.relative_to(store).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(store.rglob("*"))
        if path.is_file() and path.name != "follow.json" and ".follow" not in path.parts
    }


def folder_act(folder: Path) -> Act:
    """Serve the files of a folder, with ETags, conditions and ranges."""

    def act(handler: Handler) -> None:
        path = folder / handler.path.partition("?")[0].lstrip("/")
        if not path.is_file():
            return handler.answer(404)
        content = path.read_bytes()
        return file(content, etag_of(content))(handler)

    return act


def etag_of(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


@contextmanager
def mirror_site(folder: Path) -> Iterator[Site]:
    with serving(folder_act(folder)) as site:
        yield site


def kinds_asked(site: Site) -> list[str]:
    """Return the folder of each file that was asked for, "" for the index; and forget them."""
    asked = [path.strip("/").rpartition("/")[0] for path, _ in site.asked]
    site.asked.clear()
    return asked


def index_of(folder: Path) -> Index:
    index = read_index((folder / INDEX).read_bytes(), None, folder / INDEX)
    for item in index.files:
        content = (folder / item.path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (item.bytes, item.sha256)
    return index


def stats_of(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what changes when a file of a mirror is written, or one is added to a folder."""
    actual = {path: path.stat() for path in folder.rglob("*")}
    return {path: (item.st_ino, item.st_mtime_ns, item.st_size) for path, item in actual.items()}


def archives_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0, 1 and 2."""
    return published(tmp_path / "store", 0, 1, 2)


@pytest.fixture
def mirrored(tmp_path: Path) -> Path:
    """A mirror of that store, without signatures."""
    made = once("mirrors-plain", partial(_origin, ()))
    return shutil.copytree(made / "mirror", tmp_path / "mirror")


@pytest.fixture
def keys() -> list[Path]:
    """The files of three private keys; those of the public keys are beside them."""
    return key_files()


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """The store, whose current generation the first key has signed, and its signed mirror."""
    made = once("mirrors-signed", lambda folder: _origin(key_files()[:1], folder))
    copy = shutil.copytree(made, tmp_path / "signed")
    return copy / "store", copy / "mirror"


def _origin(keys: Sequence[Path], folder: Path) -> None:
    folder.mkdir()
    store = published(folder / "store", 0, 1, 2)
    if keys:
        sign(store, keys)
    mirror(store, folder / "mirror", signing_keys=keys)


@pytest.fixture
def edge(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge without a store, of a mirror without an index."""
    with edge_of(tmp_path, datasets) as result:
        yield result


@pytest.fixture
def followed(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge that has followed number 0 and 1."""
    made = once("mirrors-followed", partial(_followed, ()))
    with edge_of(shutil.copytree(made, tmp_path / "copy"), datasets) as result:
        yield result


@pytest.fixture
def trusting(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge that trusts the first key, and has followed number 0 and 1, signed with it."""
    made = once("mirrors-trusting", lambda folder: _followed(key_files()[:1], folder))
    with edge_of(shutil.copytree(made, tmp_path / "copy"), datasets) as result:
        yield result


def _followed(keys: Sequence[Path], folder: Path) -> None:
    folder.mkdir()
    with edge_of(folder, [shared(number) for number in range(2)]) as made:
        if keys:
            made.trust(public_keys()[:1])
        for number in (0, 1):
            made.publish(number, keys=keys)
            made.poll()
