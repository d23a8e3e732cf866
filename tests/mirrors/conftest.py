"""Stores of numbered datasets, a mirror of one on a server, and a store that follows it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup import publish, update
from tests.datasets import once
from tests.internals.history import StoreResult
from tests.internals.integrity import verify
from tests.internals.mirrors import INDEX, Index, index_text, mirror, read_index
from tests.internals.signing import read_private
from tests.internals.store import sign, trust
from tests.internals.updates import State, read_state
from tests.remote.serving import Act, Handler, Site, file, serving
from tests.signing.keys import key_files, public_keys
from tests.store.numbered import generation, published, shared


@dataclass
class Edge:
    store: Path
    origin: Path
    folder: Path
    site: Site
    keys: Sequence[Path]

    def publish(self, dataset: int | Path, **options: Any) -> str:
        dataset = dataset if isinstance(dataset, Path) else shared(dataset)
        publish(dataset, self.origin)
        if self.keys:
            sign(self.origin, self.keys)
        self.mirror(**options)
        return generation(dataset)

    def mirror(self, **options: Any) -> Index:
        return mirror(self.origin, self.folder, signing_keys=self.keys, **options).index

    def poll(self, query: str = "") -> StoreResult:
        """Poll, retrying without waits that no test has to sit through."""
        return update(f"{self.site.url}/{INDEX}{query}", store=self.store)

    def index(self) -> Index:
        return read_index((self.folder / INDEX).read_bytes(), None, INDEX)

    def forge(self, index: Index, keys: Sequence[Path] = ()) -> None:
        signers = [read_private(key) for key in keys]
        (self.folder / INDEX).write_bytes(index_text(index, signers))

    @property
    def current(self) -> str:
        """The generation of the edge, which must be whole."""
        verify(self.store)
        with geolookup.open(self.store) as engine:
            return engine.generation

    @property
    def state(self) -> State:
        return read_state(self.store)

    @property
    def content(self) -> dict[str, str]:
        """The digest of every file that engines or a later poll read: all but the record."""
        return {
            path.relative_to(self.store).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.store.rglob("*"))
            if path.is_file() and path.name != "update.json" and ".update" not in path.parts
        }


@contextmanager
def edge_of(folder: Path, keys: Sequence[Path] = ()) -> Iterator[Edge]:
    with serving(folder_act(folder / "mirror")) as site:
        yield Edge(folder / "edge", folder / "origin", folder / "mirror", site, keys)


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


def index_of(folder: Path) -> Index:
    index = read_index((folder / INDEX).read_bytes(), None, folder / INDEX)
    for item in index.files:
        content = (folder / item.path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (item.bytes, item.sha256)
    return index


def archives_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob("archives/*")}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0, 1 and 2."""
    return published(tmp_path / "store", 0, 1, 2)


@pytest.fixture
def keys() -> list[Path]:
    """The files of three private keys; those of the public keys are beside them."""
    return key_files()


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[Edge]:
    """An edge without a store, of a mirror without an index."""
    with edge_of(tmp_path) as result:
        yield result


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Edge]:
    """An edge that has followed number 0 and 1."""
    made = once("mirrors-followed", partial(_followed, ()))
    with edge_of(shutil.copytree(made, tmp_path / "copy")) as result:
        yield result


@pytest.fixture
def trusting(tmp_path: Path, keys: list[Path]) -> Iterator[Edge]:
    """An edge that trusts the first key, and has followed number 0 and 1, signed with it."""
    made = once("mirrors-trusting", lambda folder: _followed(key_files()[:1], folder))
    with edge_of(shutil.copytree(made, tmp_path / "copy"), keys[:1]) as result:
        yield result


def _followed(keys: Sequence[Path], folder: Path) -> None:
    folder.mkdir()
    with edge_of(folder, keys) as made:
        if keys:
            trust(made.store, public_keys()[:1])
        for number in (0, 1):
            made.publish(number)
            made.poll()
