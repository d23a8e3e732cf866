"""Engines with trusted keys: what is opened, reloaded and unpickled, and what is refused."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import publish
from geolookup.errors import DatasetError, KeyFileError
from tests.internals.archives import read_head, write_archive
from tests.internals.dataset import layout as fmt
from tests.internals.history import unpacked
from tests.internals.signing import SIGNATURE
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import pointer, sign
from tests.signing.keys import Paths, public
from tests.skips import needs
from tests.store.numbered import id_of, named, number

pytestmark = needs("cryptography")


@pytest.fixture
def key(key_files: Paths) -> Path:
    return public(key_files[0])


@pytest.fixture
def store(store: Path) -> Path:
    """A store that trusts no keys itself: the engine alone checks."""
    shutil.rmtree(store / "trusted")
    return store


@pytest.mark.usefixtures("store")  # signs the datasets
def test_keys_of_a_caller(datasets: Paths, key: Path, key_files: Paths, tmp_path: Path) -> None:
    """One or several; none must not accept every dataset, such as a glob of an empty folder."""
    geolookup.pack(datasets[0], archive := tmp_path / "a.tar.zst")
    for trusted_keys in (key, str(key), [key, public(key_files[1])]):
        geolookup.open(datasets[0], trusted_keys=trusted_keys).close()
    none: tuple[Any, ...] = ([], (), iter(()))
    for trusted_keys in none:
        for call, *arguments in (
            (geolookup.open, datasets[0]),
            (geolookup.verify, datasets[0]),
            (geolookup.unpack, archive, tmp_path / "out"),
        ):
            with pytest.raises(ValueError, match="no key to trust"):
                call(*arguments, trusted_keys=trusted_keys)
    with pytest.raises(KeyFileError):
        geolookup.open(datasets[0], trusted_keys=datasets[0] / fmt.MANIFEST)


#: Of each dataset a day on which it was in force: of an archive, a folder, the current one.
DAYS = {0: "2021-06-01", 1: "2022-06-01", 2: None}


def uses(store: Path, key: Path, day: str | None) -> Iterator[Callable[[], object]]:
    """Each use of a generation, by an engine that was opened before the signature changed."""
    yield partial(geolookup.open, store, as_of=day, trusted_keys=key)
    with geolookup.open(store, as_of=day, trusted_keys=key) as engine:
        yield partial(pickle.loads, pickle.dumps(engine))
    if day is not None:
        instant = datetime.fromisoformat(f"{day}T00:00+00:00").timestamp()
        table = pa.table({"ip": ["8.8.8.8"], "when": [instant]})
        asks: list[Callable[[geolookup.Engine], object]] = [
            lambda engine: engine.as_of(day),
            lambda engine: engine.enrich(table, "city", as_of="when"),
            lambda engine: engine.history("8.8.8.8"),
        ]
        yield from (partial(ask, geolookup.open(store, trusted_keys=key)) for ask in asks)


@pytest.mark.parametrize("read", DAYS)
def test_each_generation_that_is_read_must_be_signed(
    read: int, tmp_path: Path, datasets: Paths, key: Path, ours: Key,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Also of the past, and in an archive; in the cache it is unpacked again."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    store = tmp_path / "past"
    for dataset, since in zip(datasets, ("2021-01-01", "2022-01-01", None), strict=True):
        sign(dataset, ours)
        publish(dataset, store, since=since, keep=3)
    archive, folder = (
        Path(of(store, id_of(read))) for of in (pointer.archive_of, pointer.folder_of)
    )
    genuine, other = ((datasets[of] / SIGNATURE).read_bytes() for of in (read, read - 1))

    def put(text: bytes | None, folder: Path = folder) -> None:
        """Give the generation another signature, or none."""
        if archive.exists() and folder != datasets[read]:
            put(text, datasets[read])
            write_archive(archive, datasets[read], read_head(datasets[read]))
            return
        (folder / SIGNATURE).unlink(missing_ok=True)
        if text is not None:
            (folder / SIGNATURE).write_bytes(text)

    for text, problem in ((None, "not signed"), (other, "signs another manifest")):
        for use in uses(store, key, DAYS[read]):
            put(text)
            with pytest.raises(DatasetError, match=problem):
                use()
            put(genuine)
            use()
    if archive.exists():
        (unpacked(store, id_of(read)) / SIGNATURE).unlink()
        for use in uses(store, key, DAYS[read]):
            use()


@pytest.mark.usefixtures("store")
def test_every_byte_is_as_signed(datasets: Paths, key: Path) -> None:
    """Also of files that no lookup reads."""
    for name in (fmt.MANIFEST, fmt.NETWORK, fmt.PROVENANCE[4]):
        path = datasets[1] / name
        content = path.read_bytes()
        at = len(content) // 2
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DatasetError):
            geolookup.open(datasets[1], trusted_keys=key)
        path.write_bytes(content)
    geolookup.open(datasets[1], trusted_keys=key).close()


@pytest.mark.parametrize("is_pickled", [False, True])
def test_a_reload_takes_what_is_signed_and_newer(
    datasets: Paths, store: Path, key: Path, ours: Key, tmp_path: Path, *, is_pickled: bool
) -> None:
    """An unpickled engine keeps the keys, and what it has accepted."""
    other = named(tmp_path / "other", "else", 7)
    sign(other, ours)
    with geolookup.open(store, trusted_keys=key) as opened:
        engine = pickle.loads(pickle.dumps(opened)) if is_pickled else opened  # noqa: S301 - ours
        for dataset, problem in (
            (datasets[0], "signature is older"),  # of the right key: a replay
            (datasets[2], "not signed"),
            (other, "'else', but 'geo' is expected"),
        ):
            publish(dataset, store)
            with pytest.raises(DatasetError, match=problem):
                engine.reload()
            assert number(engine) == 1
        if is_pickled:
            assert pickle.dumps(engine) == pickle.dumps(opened)
        sign(datasets[0], ours)
        publish(datasets[0], store)
        assert engine.reload()
        assert number(engine) == 0
        sign(store, ours)
        assert not engine.reload()  # the same data
