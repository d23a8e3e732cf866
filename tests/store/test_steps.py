"""A change that dies, or is refused by the system, at any step: old or new, and done again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

import geolookup
from tests.datasets import once
from tests.internals.archives import pack, unpack
from tests.internals.filesystem import sweep
from tests.internals.history import prune, publish, rollback, unpacked
from tests.internals.integrity import verify
from tests.internals.store import distrust, keys_of, latest_serial, pointer, trust
from tests.signing import keys
from tests.skips import needs
from tests.store.dying import DONE, KILLED, REFUSED, Kind, ending, steps_of
from tests.store.numbered import answers_of, id_of, published, shared
from tests.tiers import scaled

Change = Callable[[Path], object]


class Operation(NamedTuple):
    """How the folder begins, what is done in it, and what a reader finds: whole, or it fails."""

    start: Change
    change: Change
    state: Callable[[Path], object]
    needs_key: bool = False
    repeats: bool = True


def archive() -> Path:
    """Number 2."""
    return once("store-2.tar.zst", partial(pack, shared(2)))


def two(folder: Path) -> None:
    published(folder / "store", 0, 1)


def five(folder: Path) -> None:
    published(folder / "store", 0, 1, 2, 3, 4)


def with_archives(folder: Path) -> None:
    """A store of five generations: 4 and 3 are withdrawn, 1 is current, and 0 is an archive."""

    def make(store: Path) -> None:
        published(store, 0, 1, 2, 3, 4)
        for _ in range(3):
            rollback(store)
            prune(store, 5)

    shutil.copytree(once("store-with-archives", make), folder / "store")


def trusting(folder: Path) -> None:
    shutil.copytree(keys.trusting_store(), folder / "store")


def trusting_two(folder: Path) -> None:
    trusting(folder)
    trust(folder / "store", [keys.public_keys()[1]])


def overlaid(folder: Path) -> None:
    (folder / "sites.csv").write_text("network,isp\n8.8.8.8,Site\n", encoding="utf-8")


def dataset_and_archive(folder: Path) -> None:
    shutil.copytree(shared(0), folder / "dataset")
    pack(shared(0), folder / "a.tar.zst")


def store_state(folder: Path) -> str:
    """Return the current generation; every published one has the bytes of its dataset."""
    store = folder / "store"
    entries = pointer.read(store)
    for entry in entries:
        number = next(number for number in range(8) if id_of(number) == entry.generation)
        whole = unpacked(store, entry.generation)
        for path in shared(number).iterdir():
            assert (whole / path.name).read_bytes() == path.read_bytes()
    with geolookup.open(store) as engine:
        assert engine.generation == pointer.not_withdrawn(entries)[-1].generation
        return engine.generation


def trusting_state(folder: Path) -> str:
    """It accepts no unsigned dataset, and no serial that is lower than before."""
    store = folder / "store"
    with pytest.raises(geolookup.DatasetError, match="not signed"):
        publish(shared(2), store)
    verify(store, trusted_keys=keys.public_keys())
    assert latest_serial(store) >= latest_serial(keys.trusting_store())
    return store_state(folder)


def keys_state(folder: Path) -> tuple[str, frozenset[str]]:
    """Return the current generation and the ids of the trusted keys, one of them ours."""
    return trusting_state(folder), frozenset(key.id for key in keys_of(folder / "store").values())


def cache_state(folder: Path) -> frozenset[str]:
    """Return the generations in the cache, all whole."""
    entries = (folder / "cache" / "datasets").glob("past-*")
    names = {path.name.split("-")[1]: verify(path).generation for path in entries}
    assert all(generation.startswith(name) for name, generation in names.items())
    return frozenset(names)


def overlay_state(folder: Path) -> int:
    """Return the number of results, all whole."""
    return len([verify(path) for path in (folder / "cache" / "datasets").glob("overlay-*")])


def archive_state(folder: Path) -> bytes:
    return (folder / "a.tar.zst").read_bytes()


def dataset_state(folder: Path) -> list[bytes]:
    verify(folder / "dataset")
    return answers_of(folder / "dataset")


def open_overlaid(folder: Path) -> None:
    geolookup.open(shared(0), overlay=folder / "sites.csv").close()


def in_store(change: Change) -> Change:
    return lambda folder: change(folder / "store")


OPERATIONS = {
    "publish": Operation(two, in_store(partial(publish, shared(2))), store_state),
    "archive": Operation(two, in_store(lambda store: publish(archive(), store)), store_state),
    "again": Operation(two, in_store(partial(publish, shared(0))), store_state),
    "rollback": Operation(two, in_store(rollback), store_state, repeats=False),
    "prune": Operation(two, in_store(lambda store: prune(store, 1)), store_state),
    "archive older": Operation(five, in_store(lambda store: prune(store, 4)), store_state),
    "since": Operation(
        with_archives,
        in_store(lambda store: publish(shared(6), store, since="2026-01-01")),
        store_state,
    ),
    "rollback to an archive": Operation(
        with_archives, in_store(rollback), store_state, repeats=False
    ),
    "publish what is archived": Operation(
        with_archives, in_store(partial(publish, shared(0))), store_state
    ),
    "remove archives": Operation(
        with_archives, in_store(lambda store: prune(store, 1)), store_state
    ),
    "as of": Operation(
        with_archives,
        in_store(lambda store: unpacked(store, id_of(0))),
        cache_state,
    ),
    "overlay": Operation(overlaid, open_overlaid, overlay_state),
    "pack": Operation(
        dataset_and_archive,
        lambda folder: pack(shared(1), folder / "a.tar.zst", force=True),
        archive_state,
    ),
    "unpack": Operation(
        dataset_and_archive,
        lambda folder: unpack(archive(), folder / "dataset", force=True),
        dataset_state,
    ),
    "signed rollback": Operation(
        trusting,
        in_store(lambda store: rollback(store, signing_keys=keys.private_keys()[0])),
        trusting_state,
        needs_key=True,
        repeats=False,
    ),
    "sign": Operation(
        trusting,
        in_store(lambda store: geolookup.sign(store, keys.private_keys()[0])),
        trusting_state,
        needs_key=True,
    ),
    "trust": Operation(
        trusting,
        in_store(lambda store: trust(store, [keys.public_keys()[1]])),
        keys_state,
        needs_key=True,
    ),
    "distrust": Operation(
        trusting_two,
        in_store(lambda store: distrust(store, keys.public_keys()[1].id)),
        keys_state,
        needs_key=True,
        repeats=False,
    ),
}


def files(folder: Path) -> set[Path]:
    """Return all files but those of the cache, after the next change: nothing unfinished is left.

    The changes between generations may be missing: they can be made again.
    """
    if (folder / "store").exists():
        publish(folder / "store", folder / "store")
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        sweep(path)
    paths = {path.relative_to(folder) for path in folder.rglob("*")}
    assert {path.name[:5] for path in paths if path.name.startswith(".")} <= {".lock"}
    return {path for path in paths if path.parts[0] != "cache" and "changes" not in path.parts}


def parameters() -> list[object]:
    kinds: tuple[Kind, ...] = ("kill", "fault")
    return [
        pytest.param(
            *(name, kind),
            marks=[needs("cryptography")] if operation.needs_key else [],
        )
        for name, operation in OPERATIONS.items()
        for kind in kinds
    ]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(("name", "kind"), parameters())
def test_at_every_step(
    name: str, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few steps by default, many with --all."""
    start, change, state, _, repeats = OPERATIONS[name]
    first, folder = tmp_path / "first", tmp_path / "folder"
    cache = folder if state in (cache_state, overlay_state) else tmp_path
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(cache / "cache"))

    def begin() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(first, folder)

    first.mkdir()
    start(first)
    begin()
    before = state(folder)
    change(folder)
    after, expected = state(folder), files(folder)
    begin()
    work = partial(change, folder)
    total = steps_of(work)
    for step in range(0, total + 1, max(1, total // scaled(2, 8))):
        begin()
        ended = ending(work, kind, step)
        if kind == "kill":
            assert ended == (KILLED if step < total else DONE), step
        else:  # some steps fail without harm
            assert ended in (REFUSED, DONE), step
        found = state(folder)
        assert found in (before, after), step
        if repeats or found != after:
            change(folder)
        assert state(folder) == after, step
        assert files(folder) == expected, step
