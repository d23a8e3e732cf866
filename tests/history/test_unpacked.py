"""Generations that are deltas, unpacked into the cache: beside full copies, damaged, bounded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from geolookup import publish
from geolookup.errors import DatasetError, SettingsError
from tests.archives.test_pack import digests
from tests.damage import copied
from tests.history.past import DATES, DELTAS, UNPACKED, delta, past_store
from tests.internals.archives import pack
from tests.internals.dataset import layout as fmt
from tests.internals.history import prune, unpacked
from tests.internals.store import pointer
from tests.store.numbered import id_of, published, shared
from tests.tiers import scaled

RESTORE = "restore it from a backup, or 'geolookup publish --since DATE' the dataset again"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return past_store(tmp_path / "store")


def generations_in(cache: Path) -> set[str]:
    """What the cache has, but for the lock: it must be whole generations."""
    names = {path.name for path in (cache / "history").iterdir()} - {"lock"}
    return {name.partition("-")[0] for name in names}


@pytest.mark.parametrize("order", [*permutations(DELTAS)][:: scaled(4, 1)])
def test_each_generation_has_the_bytes_of_its_full_copy(
    order: tuple[int, ...], store: Path, cache: Path
) -> None:
    for number in (*order, *UNPACKED):
        folder = unpacked(store, id_of(number))
        assert digests(folder) == digests(shared(number))
        assert folder.is_relative_to(cache if number in DELTAS else store)
    assert generations_in(cache) == {id_of(number) for number in DELTAS}


def _truncate(store: Path) -> str:
    path = delta(store, 1)
    path.write_bytes(path.read_bytes()[:-100])
    return f"{path}: truncated"


def _remove(store: Path) -> str:
    delta(store, 1).unlink()
    return f"{store}: generation {id_of(1)} is no longer kept"


def _rename(store: Path) -> str:
    shutil.copy(delta(store, 2), delta(store, 1))
    return f"{delta(store, 1)}: its generation is {id_of(2)}, unlike its name"


def _whole(store: Path) -> str:
    pack(shared(1), delta(store, 1), force=True)
    return f"{delta(store, 1)}: an archive of the whole dataset, not a delta"


def _cycle(store: Path) -> str:
    pack(shared(1), delta(store, 1), base=shared(0), force=True)
    return f"{delta(store, 0)}: it needs itself, by its base"


def _forge(store: Path) -> str:
    pack(shared(7), delta(store, 7), base=shared(2))
    pack(shared(1), delta(store, 1), base=shared(7), force=True)
    delta(store, 7).unlink()
    return f"{store}: generation {id_of(7)} is no longer kept"


def _claim(store: Path) -> str:
    """Pack the data of number 5 under the id of the generation."""
    folder = copied(shared(5), store.with_name("claimed"))
    text = (folder / fmt.MANIFEST).read_bytes().replace(id_of(5).encode(), id_of(0).encode())
    (folder / fmt.MANIFEST).write_bytes(text)
    pack(folder, delta(store, 0), base=shared(1), force=True)
    return f"{delta(store, 0)}!{fmt.MANIFEST}: "


DAMAGES = [_truncate, _remove, _rename, _whole, _cycle, _forge, _claim]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_delta_is_named_with_its_remedy(
    damage: Callable[[Path], str], store: Path, cache: Path
) -> None:
    problem = damage(store)
    with pytest.raises(DatasetError) as caught:
        unpacked(store, id_of(0))
    assert str(caught.value).startswith(problem)
    if "no longer kept" not in problem:
        assert caught.value.remedy == RESTORE
    assert generations_in(cache) == set()
    unpacked(store, id_of(2))  # it needs no other delta


@pytest.mark.parametrize("damage", [_rename, _whole])
def test_a_damaged_delta_does_not_stop_a_prune(
    damage: Callable[[Path], str], store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays as it is, with a warning; older generations are removed."""
    problem = damage(store)
    damaged = delta(store, 1).read_bytes()
    assert prune(store, 4) == [id_of(0)]
    assert f"generation {id_of(1)} is not kept as a delta: {problem}" in caplog.text
    assert delta(store, 1).read_bytes() == damaged


@pytest.mark.parametrize("damage", [_rename, _whole])
def test_a_damaged_delta_does_not_stop_a_publication(
    damage: Callable[[Path], str], store: Path
) -> None:
    """Neither of its own generation, nor of a damaged one on which deltas are based."""
    damage(store)
    (Path(pointer.folder_of(store, id_of(3))) / fmt.ZONE).unlink()
    for number in (3, 1):
        publish(shared(number), store, since=DATES[number])
        for of in (number, number - 1):
            assert digests(unpacked(store, id_of(of))) == digests(shared(of))


def test_a_damaged_generation_of_the_store_is_named(store: Path, cache: Path) -> None:
    path = Path(pointer.folder_of(store, id_of(3))) / fmt.ZONE
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(DatasetError, match="older generations are kept as changes to it") as caught:
        unpacked(store, id_of(2))
    assert Path(caught.value.path) == path
    assert generations_in(cache) == set()


def test_the_least_recently_used_goes_first(
    store: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is one of two and a half generations, then of less than one."""
    size = sum(path.stat().st_size for path in shared(0).iterdir())
    monkeypatch.setenv("GEOLOOKUP_HISTORY_CACHE", f"{int(2.5 * size)}B")
    for number, second in ((1, 2), (2, 1)):
        os.utime(unpacked(store, id_of(number)), (second, second))
    unpacked(store, id_of(2))  # used now
    unpacked(store, id_of(0))
    assert generations_in(cache) == {id_of(1), id_of(0)}  # 0 is made of 1
    monkeypatch.setenv("GEOLOOKUP_HISTORY_CACHE", "1kB")
    unpacked(store, id_of(2))
    assert generations_in(cache) == {id_of(2)}
    monkeypatch.setenv("GEOLOOKUP_HISTORY_CACHE", "much")
    with pytest.raises(SettingsError, match="'much' is not a number of bytes such as 500MB"):
        unpacked(store, id_of(1))


def test_the_cache_has_4_gib_by_default(store: Path, cache: Path) -> None:
    old = cache / "history" / "old" / "sparse"
    old.parent.mkdir(parents=True)
    old.touch()
    for number, size, stays in ((2, 7 << 29, True), (1, 4 << 30, False)):
        os.truncate(old, size)
        os.utime(old.parent, (1, 1))
        unpacked(store, id_of(number))
        assert old.exists() == stays


def test_the_cache_has_other_bytes_of_the_generation(tmp_path: Path) -> None:
    """Deltas are made of bytes: nothing is published on a base that only has the same id."""
    store = published(tmp_path / "store", 0, 1, 2)
    prune(store, 3)
    pack(shared(6), tmp_path / "6.tar.zst", base=shared(0))
    manifest = unpacked(store, id_of(0)) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"geo"', b'"gee"'))
    with pytest.raises(DatasetError, match=f"not the bytes of generation {id_of(0)}; remove it"):
        publish(tmp_path / "6.tar.zst", store)
