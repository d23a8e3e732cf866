"""Generations that a store keeps as deltas to their successor."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup import publish
from geolookup.comparison.change_files import read_changes
from geolookup.errors import DatasetError
from geolookup.history import kept_deltas
from geolookup.history.kept_rows import rows_path
from geolookup.history.pruning import prune
from geolookup.history.unpacked import unpacked
from geolookup.store import pointer
from tests.store.numbered import id_of, published, shared


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_last_two_stay_unpacked(tmp_path: Path, cache: Path) -> None:
    store = published(tmp_path / "store", 0, 1, 2, 3, 4)
    assert prune(store, 4) == [id_of(0)]
    unpacked_names = {path.name for path in (store / "generations").iterdir()}
    assert unpacked_names == {id_of(3), id_of(4)}
    assert kept_deltas.delta_generations(store) == sorted([id_of(1), id_of(2)])
    assert kept_deltas.base_of(store, id_of(1)) == id_of(2)
    for number in range(1, 5):
        assert content(unpacked(store, id_of(number))) == content(shared(number))
    assert prune(store, 4) == []
    assert prune(store, 3) == [id_of(1)]
    assert [entry.generation for entry in pointer.read(store)] == [id_of(2), id_of(3), id_of(4)]
    with pytest.raises(DatasetError, match="no longer kept"):
        unpacked(store, id_of(1))
    assert prune(store) == [id_of(2)]
    assert not list((store / "history").iterdir())


def test_changes_are_kept_as_rows(tmp_path: Path) -> None:
    store = published(tmp_path / "store", 0, 1, 2, 3)
    prune(store, 2)
    assert not (store / "history").exists()
    publish(shared(4), store)
    publish(shared(5), store, keep=4)
    files = {path.name for path in (store / "history").glob("*.parquet")}
    ids = [id_of(number) for number in range(2, 6)]
    assert files == {rows_path(store, *pair).name for pair in ((ids[0], ids[1]), (ids[1], ids[2]))}
    changes = read_changes(rows_path(store, ids[0], ids[1]), 4, 0x08080808, 0x08080808)
    assert (changes.old, changes.new) == (ids[0], ids[1])
    [row] = changes.rows
    assert row.before["location.city_name"] == "Town 2"
    assert row.after["location.city_name"] == "Town 3"
    prune(store, 2)
    assert not list((store / "history").iterdir())
