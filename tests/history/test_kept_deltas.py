"""Generations that a store keeps as deltas to their successor."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from geolookup import publish
from geolookup.archives.pack import pack
from geolookup.errors import DatasetError
from geolookup.history import kept_deltas
from geolookup.history.generations import generations
from geolookup.history.pruning import prune
from geolookup.history.unpacked import unpacked
from geolookup.store import trusted
from geolookup.store.in_force import generation_at
from tests.store.numbered import id_of, published, shared


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_damaged_delta(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = published(tmp_path / "store", 0, 1, 2, 3, 4)
    prune(store, 5)
    path = kept_deltas.delta_path(store, id_of(1))
    path.write_bytes(b"damaged")
    with pytest.raises(DatasetError, match=id_of(1)):
        unpacked(store, id_of(0))
    listed = {item.generation: item for item in generations(store)}
    assert (listed[id_of(1)].kept_as, listed[id_of(1)].bytes) == ("delta", None)
    publish(shared(5), store, keep=6)
    assert id_of(1) in caplog.text
    assert len(generations(store)) == 6
    assert content(unpacked(store, id_of(2))) == content(shared(2))
    # The dataset replaces it; what needs it can be read again.
    publish(shared(1), store, keep=6)
    assert content(unpacked(store, id_of(0))) == content(shared(0))


def test_a_damaged_folder_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = published(tmp_path / "store", 0, 1, 2, 3)
    folder = store / "generations" / id_of(1)
    (folder / "zone.arrow").write_bytes(b"damaged")
    assert prune(store, 4) == []
    assert "is not kept as a delta" in caplog.text
    assert {path.name for path in (store / "generations").iterdir()} == {*map(id_of, range(4))}


def test_a_delta_is_published_against_a_base_that_is_a_delta(tmp_path: Path) -> None:
    store = published(tmp_path / "store", 0, 1, 2)
    prune(store, 3)
    pack(shared(6), tmp_path / "6.tar.zst", base=shared(0))
    assert publish(tmp_path / "6.tar.zst", store) == id_of(6)


def test_what_is_put_into_the_past(tmp_path: Path) -> None:
    store = tmp_path / "store"
    publish(shared(0), store, since="2026-01-01")
    publish(shared(1), store, since="2026-03-01")
    publish(shared(2), store, since=date(2026, 2, 1))
    assert generations(store)[0].generation == id_of(1)
    assert kept_deltas.delta_generations(store) == [id_of(0)]
    assert kept_deltas.base_of(store, id_of(0)) == id_of(2)
    assert generation_at(store, "2026-02-15") == id_of(2)
    assert generation_at(store, "2026-01-15") == id_of(0)
    for since in ("March", "2999-01-01"):
        with pytest.raises(ValueError, match=r"2026-03-01|date of the past"):
            publish(shared(3), store, since=since)
    with pytest.raises(ValueError, match="give one of them"):
        prune(store, 3, keep_for="1y")
    with pytest.raises(TypeError, match="keep is a number of generations, not float"):
        publish(shared(3), store, keep=2.5)  # type: ignore[arg-type]
    assert generations(store)[0].generation == id_of(1)


def test_files_of_the_history_have_owners(tmp_path: Path) -> None:
    store = published(tmp_path / "store", 0, 1, 2, 3)
    prune(store, 4)
    path = kept_deltas.delta_path(store, id_of(0))
    assert path in set(trusted._files(store))
    modes = {item.stat().st_mode & 0o777 for item in (store / "history").iterdir()}
    assert modes == {0o644 & ~_umask()}


def test_the_cache_has_other_bytes_of_the_generation(tmp_path: Path) -> None:
    """Deltas are made of bytes: nothing is published on a base that only has the same id."""
    store = published(tmp_path / "store", 0, 1, 2)
    prune(store, 3)
    pack(shared(6), tmp_path / "6.tar.zst", base=shared(0))
    manifest = unpacked(store, id_of(0)) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"geo"', b'"gee"'))
    with pytest.raises(DatasetError, match=f"not the bytes of generation {id_of(0)}; remove it"):
        publish(tmp_path / "6.tar.zst", store)
