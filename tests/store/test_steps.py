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
from tests.internals.filesystem import sweep
from tests.internals.history import prune, publish, rollback, unpacked
from tests.internals.integrity import verify
from tests.internals.store import distrust, keys_of, latest_serial, pointer, trust
from tests.signing import keys
from tests.skips import needs
from tests.store.dying import DONE, KILLED, REFUSED, Kind, ending, steps_of
from tests.store.numbered import id_of, published, shared
from tests.tiers import scaled

Change = Callable[[Path], object]


class Operation(NamedTuple):
    """How the folder begins, what is done in it, and what a reader finds: whole, or it fails."""

    start: Change
    change: Change
    state: Callable[[Path], object]


def two(folder: Path) -> None:
    published(folder / "store", 0, 1)


def with_archives(folder: Path) -> None:
    """A store of five generations: 4, 3 and 2 are withdrawn, 1 is current, all others archives."""

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


def store_state(folder: Path) -> tuple[str, frozenset[str]]:
    """Return the current generation and the trusted keys; every generation has its bytes.

    With keys no unsigned dataset is accepted, and no serial that is lower than before.
    """
    store = folder / "store"
    trusted = frozenset(key.id for key in keys_of(store).values())
    if trusted:
        with pytest.raises(geolookup.DatasetError, match="not signed"):
            publish(shared(2), store)
        verify(store, trusted_keys=keys.public_keys())
        assert latest_serial(store) >= latest_serial(keys.trusting_store())
    content = pointer.read(store)
    for entry in content.published:
        number = next(number for number in range(8) if id_of(number) == entry.generation)
        whole = unpacked(store, entry.generation)
        for path in shared(number).iterdir():
            assert (whole / path.name).read_bytes() == path.read_bytes()
    with geolookup.open(store) as engine:
        assert engine.generation == content.current
        return engine.generation, trusted


def cache_state(folder: Path) -> frozenset[str]:
    """Return the datasets in the cache, all whole, by what stays the same in a copy of a store."""
    datasets = (folder / "cache" / "datasets").glob("[ao]*-*")  # of overlays and of the past
    names = {path: path.name.rpartition("-")[0] for path in datasets}
    return frozenset(f"{name} {verify(path).generation}" for path, name in names.items())


def in_store(start: Change, change: Change) -> Operation:
    return Operation(start, lambda folder: change(folder / "store"), store_state)


OPERATIONS = {
    "publish": in_store(two, partial(publish, shared(2))),
    "again": in_store(two, partial(publish, shared(0))),
    "rollback": in_store(two, rollback),
    "since": in_store(with_archives, partial(publish, shared(6), since="2026-01-01")),
    "rollback to an archive": in_store(with_archives, rollback),
    "publish what is archived": in_store(with_archives, partial(publish, shared(0))),
    "prune": in_store(with_archives, partial(prune, keep=1)),
    "as of": Operation(
        with_archives, lambda folder: unpacked(folder / "store", id_of(0)), cache_state
    ),
    "overlay": Operation(
        overlaid,
        lambda folder: geolookup.open(shared(0), overlay=folder / "sites.csv").close(),
        cache_state,
    ),
    "signed rollback": in_store(
        trusting, lambda store: rollback(store, signing_keys=keys.private_keys()[0])
    ),
    "sign": in_store(trusting, lambda store: geolookup.sign(store, keys.private_keys()[0])),
    "trust": in_store(trusting, lambda store: trust(store, [keys.public_keys()[1]])),
    "distrust": in_store(trusting_two, lambda store: distrust(store, keys.public_keys()[1].id)),
}


#: Done again, these would do more.
ONCE = ("rollback", "rollback to an archive", "signed rollback", "distrust")


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
    return [
        pytest.param(
            name, marks=[needs("cryptography")] if start in (trusting, trusting_two) else []
        )
        for name, (start, _, _) in OPERATIONS.items()
    ]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("name", parameters())
@pytest.mark.parametrize("kind", ["kill", "fault"])
def test_at_every_step(
    name: str, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few steps by default, many with --all."""
    start, change, state = OPERATIONS[name]
    first, folder = tmp_path / "first", tmp_path / "folder"
    cache = folder if state is cache_state else tmp_path
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
        actual = state(folder)
        assert actual in (before, after), step
        if name not in ONCE or actual != after:
            change(folder)
        assert state(folder) == after, step
        assert files(folder) == expected, step
