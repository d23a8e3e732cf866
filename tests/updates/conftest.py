"""A publisher on this machine, whose files a test changes, cuts or moves; a store and a cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import ROOT
from tests.internals.history import StoreResult
from tests.internals.remote import transfer
from tests.remote.serving import FAST, Act, Handler, Site, file, serving, status


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the user's store, and a cache of its own; nothing is there yet."""
    monkeypatch.setenv("GEOLOOKUP_STORE", str(tmp_path / "data" / "store"))
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data" / "store"


Update = Callable[..., StoreResult]


def environment() -> dict[str, str]:
    """The environment of processes that update, as the fixtures have changed it."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "builder")])}


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without the waits that no test has to sit through."""
    for call in (transfer.fetch, transfer.ask):
        defaults = tuple(
            FAST if item is transfer.DEFAULT_LIMITS else item for item in call.__defaults__ or ()
        )
        monkeypatch.setattr(call, "__defaults__", defaults)


@pytest.fixture
def update(publisher: Publisher, store: Path) -> Update:
    """``geolookup.update`` by the publisher's recipe into the user's store."""

    def call(**options: Any) -> StoreResult:
        return geolookup.update(publisher.recipe, **options)

    return call


def is_tidy(store: Path) -> bool:
    """Return whether a store holds nothing but what it should, and verify it."""
    geolookup.verify(store / "generations" / geolookup.generations(store)[0].generation)
    names = {path.name for path in store.iterdir()}
    left = [*store.glob("generations/.*"), *store.glob(".update/dataset*")]
    known = {"current", "generations", "changes", ".lock", ".update", "update.json"}
    return not left and names <= known


def country(ip: str = "8.0.0.1") -> object:
    with geolookup.open() as engine:
        return engine.get(ip, "location.country_code")


COUNTRY, ASN = "country-ipv4-num.csv", "asn-ipv4-num.csv"
RECIPE = """[dataset]
name = "published"
[[source]]
format = "sapics"
path = "{url}/country-ipv4-num.csv"
date = "last-modified"
[[source]]
format = "sapics"
path = "{url}/asn-ipv4-num.csv"
[update]
fail_if = ["country_moved > 20%", "null_gained.location.country_code > 20%"]
keep = 2
"""
_FIRST = 8 << 24  # 8.0.0.0
_NETWORKS = 100


def countries(*changed: str, code: str = "FR") -> bytes:
    """A file of /24 networks from 8.0.0.0 on, of which the first have other countries."""
    codes = [*changed, *([code] * (_NETWORKS - len(changed)))]
    return _file(codes)


def systems() -> bytes:
    return _file([f"{64500 + n % 7},AS {n % 7}" for n in range(_NETWORKS)])


def _file(values: list[str]) -> bytes:
    rows = (f"{_FIRST + 256 * n},{_FIRST + 256 * n + 255},{item}" for n, item in enumerate(values))
    return "".join(f"{row}\n" for row in rows).encode()


@dataclass
class Publisher:
    """The acts by path, and the server that takes them."""

    site: Site
    folder: Path
    acts: dict[str, Act] = field(default_factory=dict)
    versions: int = 0

    def put(self, name: str, content: bytes) -> None:
        """Publish a file, with an ETag and a date of its own."""
        self.versions += 1
        date = f"Thu, 19 Nov 2020 08:00:{self.versions:02d} GMT"
        self.acts[name] = file(content, f'"{self.versions}"', Last_Modified=date)

    @property
    def recipe(self) -> Path:
        path = self.folder / "recipe.toml"
        if not path.exists():
            path.write_text(RECIPE.format(url=self.site.url), encoding="utf-8")
        return path

    def rewrite(self, old: str, new: str) -> None:
        text = self.recipe.read_text(encoding="utf-8")
        assert old in text
        self.recipe.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    """A publisher of two files; the folder of the test holds the recipe."""

    def act(handler: Handler) -> None:
        name = handler.path.partition("?")[0].lstrip("/")
        result.acts.get(name, status(404))(handler)

    with serving(act) as site:
        result = Publisher(site, tmp_path)
        result.put(COUNTRY, countries())
        result.put(ASN, systems())
        yield result
