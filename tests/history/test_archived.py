"""Generations that are archives: beside full copies, damaged, and forged in the cache."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from geolookup.errors import DatasetError
from tests.archives.test_pack import digests
from tests.damage import TAMPERING, copied
from tests.history.past import ARCHIVED, DATES, UNPACKED, archive
from tests.internals.archives import pack
from tests.internals.dataset import layout as fmt
from tests.internals.history import prune, rollback, unpacked
from tests.internals.store import pointer
from tests.signing import keys
from tests.skips import needs
from tests.store.numbered import answers_of, id_of, number, shared

RESTORE = "restore it from a backup, or 'geolookup store publish --since DATE' the dataset again"


def cached(cache: Path) -> list[Path]:
    return sorted((cache / "datasets").glob("archive-*"))


def test_an_archive_is_unpacked_once_and_again_if_it_is_written_again(
    store: Path, cache: Path
) -> None:
    for of in (*ARCHIVED, *UNPACKED):
        folder = unpacked(store, id_of(of))
        assert folder.is_relative_to(cache if of in ARCHIVED else store)
        assert unpacked(store, id_of(of)) == folder
    assert len(cached(cache)) == len(ARCHIVED)
    os.utime(archive(store, 0), (1, 1))
    unpacked(store, id_of(0))
    assert len(cached(cache)) == len(ARCHIVED) + 1


def _truncate(path: Path) -> str:
    path.write_bytes(path.read_bytes()[:-100])
    return f"{path}: truncated"


def _rename(path: Path) -> str:
    shutil.copy(path.parent / f"{id_of(2)}.tar.zst", path)
    return f"{path}: its generation is {id_of(2)[:12]}, unlike its name"


def _forge(path: Path) -> str:
    """Pack the data of number 5 under the id of the generation."""
    folder = copied(shared(5), path.parents[1] / "claimed")
    text = (folder / fmt.MANIFEST).read_bytes().replace(id_of(5).encode(), id_of(1).encode())
    (folder / fmt.MANIFEST).write_bytes(text)
    pack(folder, path, force=True)
    return f"{path}!{fmt.MANIFEST}: "


DAMAGES = [_truncate, _rename]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_archive_stops_no_other_change(
    damage: Callable[[Path], str], store: Path, cache: Path
) -> None:
    """It stays as it is; older ones are removed; the same dataset, published again, replaces it."""
    problem = damage(archive(store, 1))
    damaged = archive(store, 1).read_bytes()
    with pytest.raises(DatasetError, match=f"^{problem}.*; {RESTORE}"):
        unpacked(store, id_of(1))
    assert cached(cache) == []
    unpacked(store, id_of(0))  # it needs no other archive
    assert prune(store, 4).removed == [id_of(0)]
    assert archive(store, 1).read_bytes() == damaged
    publish(shared(1), store, since=DATES[1])
    assert digests(unpacked(store, id_of(1))) == digests(shared(1))
    archive(store, 1).unlink()
    with pytest.raises(DatasetError, match=f"generation {id_of(1)[:12]} is no longer kept"):
        unpacked(store, id_of(1))


def _incomplete(path: Path) -> str:
    """Damage the folder of the generation, which has no archive."""
    file = path.parents[1] / "generations" / id_of(1) / fmt.ZONE
    file.unlink()
    return f"{file}: missing"


@pytest.mark.parametrize("damage", [*DAMAGES, _forge, _incomplete])
def test_a_damaged_generation_is_not_rolled_back_to(
    damage: Callable[[Path], str], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    for of in (2, 1, 3):
        publish(shared(of), store, keep_unpacked=2 if damage is _incomplete else 1)
    problem = damage(archive(store, 1))
    with pytest.raises(DatasetError, match=f"^{problem}"):
        rollback(store)
    assert answers_of(store) == answers_of(shared(3))


def test_a_damaged_generation_is_listed_without_its_size(store: Path) -> None:
    path = Path(pointer.folder_of(store, id_of(3))) / fmt.ZONE
    path.unlink()
    path.symlink_to(path)
    listed = {item.generation: item.bytes for item in geolookup.generations(store)}
    assert [generation for generation in listed if listed[generation] is None] == [id_of(3)]


def test_a_damaged_folder_becomes_no_archive(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It stays, with a warning."""
    path = Path(pointer.folder_of(store, id_of(3))) / fmt.ZONE
    path.write_bytes(bytes(path.stat().st_size))
    result = publish(shared(5), store)
    assert len(result.warnings) == 1
    assert result.warnings[0] in caplog.text
    assert f"generation {id_of(3)[:12]} does not become an archive: {path}: " in caplog.text
    assert path.exists()
    assert not archive(store, 3).exists()


@needs("cryptography")
def test_the_cache_is_not_trusted_where_keys_are(tmp_path: Path, cache: Path) -> None:
    """Another dataset, other bytes and other modes in the cache: the archive is unpacked again."""
    store, key = tmp_path / "signed", keys.private_keys()[0]
    for of in range(3):
        dataset = copied(shared(of), tmp_path / "dataset")
        geolookup.sign(dataset, [key])
        publish(dataset, store, since=DATES[of])

    def asked() -> int:
        with geolookup.open(store, as_of=DATES[0], trusted_keys=key.public) as engine:
            return number(engine)

    assert asked() == 0
    [entry] = cached(cache)
    for tamper in TAMPERING:
        tamper(entry, shared(5))
        assert asked() == 0
        assert entry.stat().st_mode & 0o022 == 0
