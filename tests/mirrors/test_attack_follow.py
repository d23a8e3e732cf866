"""An attacker between a mirror and a store that trusts keys: everything that it reads is chosen."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.errors import GeoLookupError
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.follow import poll
from geolookup.mirrors.index import INDEX, Index, index_text, read_index
from geolookup.mirrors.source import Source
from geolookup.signing.keys import generate, read_private
from geolookup.store.signatures import sign
from geolookup.store.trusted import trust
from tests.damage import copied
from tests.skips import needs
from tests.store.numbered import named

#: The moments of the publisher's mirror, in order. The last is the withdrawal of the third.
MOMENTS = range(4)


@dataclass(frozen=True)
class World:
    """The mirrors of each moment, those of others, and a store that followed until each moment."""

    mirrors: list[Path]
    foreign: dict[str, Path]
    stores: list[Path]  # the first has followed nothing, the next until moment 0
    key: Path

    def index(self, mirror_: Path) -> Index:
        return read_index((mirror_ / INDEX).read_bytes(), None, INDEX)

    def current(self, moment: int) -> str:
        return self.index(self.mirrors[moment]).current


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    target = tmp_path_factory.mktemp("world")
    for name in ("key", "other"):
        generate(target / name)
    mirrors = [target / f"mirror-{moment}" for moment in MOMENTS]
    for moment in MOMENTS:
        if moment == len(MOMENTS) - 1:
            geolookup.rollback(target / "store", signing_keys=target / "key")
        else:
            _publish(target, "acme", moment, target / "store")
        mirror(target / "store", target / "mirror", signing_keys=target / "key")
        shutil.copytree(target / "mirror", mirrors[moment])
    stores = [target / f"edge-{moment}" for moment in (-1, *MOMENTS)]
    trust(stores[0], [read_private(target / "key").public])
    for at, item in enumerate(mirrors):
        shutil.copytree(stores[at], stores[at + 1])
        poll(Source(str(item), stores[at + 1]))
    return World(mirrors, _foreign(target), stores, target / "key")


def _publish(target_folder: Path, name: str, number: int, store: Path, key: str = "key") -> None:
    dataset = named(target_folder / f"{name}-{number}-{key}", name, number)
    sign(dataset, target_folder / key)
    geolookup.publish(dataset, store)


def _foreign(target_folder: Path) -> dict[str, Path]:
    """Mirrors of another dataset, of another signer, and of one who signs what is not his."""
    actual = {}
    for title, name, key in (("name", "other", "key"), ("signer", "acme", "other")):
        _publish(target_folder, name, 4, target_folder / f"store-{title}", key)
        actual[title] = target_folder / f"mirror-{title}"
        mirror(target_folder / f"store-{title}", actual[title], signing_keys=target_folder / key)
    actual["signature"] = copied(actual["signer"], target_folder / "mirror-signature")
    text = index_text(read_index((actual["signer"] / INDEX).read_bytes(), None, INDEX), [])
    (actual["signature"] / INDEX).write_bytes(text)
    return actual


def polled(folder: Path, store: Path) -> str | None:
    """Poll; return the current generation, or None where it was refused and nothing changed."""

    def content() -> dict[str, bytes]:
        """All that engines and publications read of a store."""
        return {
            str(path): path.read_bytes()
            for name in ("current", "generations", "trusted")
            for path in sorted([store / name, *(store / name).rglob("*")])
            if path.is_file()
        }

    before = content()
    actual, line = None, ""
    try:
        actual = poll(Source(str(folder), store)).generation
    except GeoLookupError as error:
        line = str(error)
    assert "\n" not in line
    assert actual or content() == before
    return actual


@st.composite
def attacks(draw: st.DrawFn, world: World, folder: Path, until: int) -> tuple[Path, set[str]]:
    """Take an index of any mirror, and for its files those of any other one, cut or changed.

    A store without a generation has no name: it takes any dataset of the keys that it trusts.
    Return the mirror of the index, and which of its files differ.
    """
    foreign = [item for name, item in world.foreign.items() if name != "name" or until >= 0]
    mirrors = [*world.mirrors, *foreign]
    index = draw(st.sampled_from(mirrors))
    shutil.copytree(index, folder)
    everything = sorted(path for item in mirrors for path in item.rglob("*.zst"))
    damaged = set()
    for file in world.index(index).files:
        content, path = (index / file.path).read_bytes(), folder / file.path
        kind = draw(st.sampled_from(("whole", "whole", "missing", "cut", "changed", "other")))
        at = draw(st.integers(0, len(content) - 1))
        if kind == "missing":
            path.unlink()
        elif kind == "cut":
            path.write_bytes(content[:at])
        elif kind == "changed":
            path.write_bytes(content[:at] + bytes([content[at] ^ 8]) + content[at + 1 :])
        elif kind == "other":
            path.write_bytes(draw(st.sampled_from(everything)).read_bytes())
        if not path.exists() or path.read_bytes() != content:
            damaged.add(file.path)
    return index, damaged


def outcomes(world: World, mirrored: Path, damaged: set[str], until: int) -> set[str | None]:
    """Return what a poll may end with: a generation, or None where it must be refused.

    ``until`` is the last moment that the store followed, -1 for none.
    """
    if mirrored not in world.mirrors[max(0, until) :]:
        return {None}
    index = world.index(mirrored)
    followed = {world.current(item) for item in MOMENTS[: until + 1]}
    has = {item for item in followed if (world.stores[until + 1] / "generations" / item).is_dir()}
    assert index.now.pack is not None
    if index.current in has or index.now.pack.path not in damaged:
        return {index.current}
    # One delta is tried, and only where it is smaller than the pack.
    deltas = {delta.file.path for delta in index.now.deltas if delta.base in has}
    return {None, index.current} if deltas - damaged else {None}


@pytest.mark.long
@needs("cryptography")
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_store_between_honest_polls(world: World, data: st.DataObject) -> None:
    with TemporaryDirectory() as target:
        until = data.draw(st.integers(-1, len(MOMENTS) - 1))
        store, folder = Path(target, "store"), Path(target, "mirror")
        shutil.copytree(world.stores[until + 1], store, symlinks=True)
        if data.draw(st.booleans()):  # the follower's own record is lost; the store's serial stays
            (store / "follow.json").unlink(missing_ok=True)
            shutil.rmtree(store / ".follow", ignore_errors=True)
        mirrored, damaged = data.draw(attacks(world, folder, until))
        result = polled(folder, store)
        assert result in outcomes(world, mirrored, damaged, until)
        latest = world.current(MOMENTS[-1])
        for expected in (result or (world.current(until) if until >= 0 else None), latest):
            if expected is not None:
                with geolookup.open(store, trusted_keys=f"{world.key}.pub") as engine:
                    assert engine.lookup("8.8.8.8")["success"]
                assert geolookup.verify(store, deep=True).generation == expected
            assert polled(world.mirrors[-1], store) == latest
