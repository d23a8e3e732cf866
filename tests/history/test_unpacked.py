"""Generations that are deltas, unpacked into the cache: beside full copies, damaged, bounded."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from geolookup.archives.pack import pack
from geolookup.errors import DatasetError, OutputError, SettingsError
from geolookup.filesystem import limits
from geolookup.history.unpacked import open_unpacked, unpacked
from tests.archives.test_pack import digests
from tests.history.past import DELTAS, UNPACKED, delta, past_store
from tests.store.numbered import id_of, shared
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


def test_damage_in_the_cache_is_made_good(store: Path) -> None:
    folder = unpacked(store, id_of(2))
    (folder / "ipv4.arrow").unlink()
    assert open_unpacked(store, id_of(2)).generation == id_of(2)
    # The size is the same: only a walk, which reads all bytes, notices it.
    damaged = folder / "location.arrow"
    damaged.write_bytes(bytes(damaged.stat().st_size))
    assert digests(unpacked(store, id_of(1))) == digests(shared(1))


def test_a_delta_that_is_written_again_is_unpacked_again(store: Path) -> None:
    former = unpacked(store, id_of(2))
    os.utime(delta(store, 2), ns=(0, 1))
    assert unpacked(store, id_of(2)) != former


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


@pytest.mark.parametrize("damage", [_truncate, _remove, _rename, _whole, _cycle, _forge])
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


def test_a_damaged_generation_of_the_store_is_named(store: Path, cache: Path) -> None:
    path = store / "generations" / id_of(3) / "network.arrow"
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(DatasetError, match="older generations are kept as changes to it") as caught:
        unpacked(store, id_of(2))
    assert Path(caught.value.path) == path
    assert generations_in(cache) == set()


def test_the_least_recently_used_goes_first(
    store: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(path.stat().st_size for path in shared(0).iterdir())
    monkeypatch.setenv("GEOLOOKUP_HISTORY_CACHE", f"{int(2.5 * size)}B")
    engine_file = open_unpacked(store, id_of(2))
    for number, day in ((2, 1), (1, 2)):
        os.utime(unpacked(store, id_of(number)), (day, day))
    open_unpacked(store, id_of(2))  # used now
    os.utime(unpacked(store, id_of(1)), (2, 2))
    unpacked(store, id_of(0))
    # 1 is the base of 0: it stays, 2 goes; what has it open keeps its files.
    assert generations_in(cache) == {id_of(1), id_of(0)}
    assert engine_file.provenance(4) is not None
    # Less than one: the wanted generation stays.
    monkeypatch.setenv("GEOLOOKUP_HISTORY_CACHE", "1kB")
    unpacked(store, id_of(2))
    assert generations_in(cache) == {id_of(2)}
    monkeypatch.setenv("GEOLOOKUP_HISTORY_CACHE", "much")
    with pytest.raises(SettingsError, match="'much' is not a number of bytes such as 500MB"):
        unpacked(store, id_of(1))


def test_a_full_disk_is_named(store: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "free_space", lambda _folder: 1000)
    with pytest.raises(OutputError, match=r"1,000 are free .* by \$GEOLOOKUP_CACHE") as caught:
        unpacked(store, id_of(0))
    assert Path(str(caught.value.path)).is_relative_to(cache)
    assert generations_in(cache) == set()


def test_a_cache_that_cannot_be_written_is_named(
    store: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file", encoding="utf-8")
    with pytest.raises(OutputError, match=r"cannot be written .* by \$GEOLOOKUP_CACHE"):
        unpacked(store, id_of(0))


def _unpack_all(store: Path, numbers: tuple[int, ...]) -> list[dict[str, str]]:
    return [digests(unpacked(store, id_of(number))) for number in numbers]


@pytest.mark.long
def test_several_processes_at_the_same_time(store: Path, cache: Path) -> None:
    orders = [(0, 1, 2), (2, 1, 0), (0, 2, 1), (0, 0, 0)]
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        for _ in range(5):
            shutil.rmtree(cache, ignore_errors=True)
            results = pool.starmap(_unpack_all, [(store, order) for order in orders])
            for order, result in zip(orders, results, strict=True):
                assert result == [digests(shared(number)) for number in order]
            assert generations_in(cache) == {id_of(number) for number in DELTAS}
