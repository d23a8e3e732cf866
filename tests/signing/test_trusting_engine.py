"""Engines with trusted keys: what is opened, reloaded and unpickled, and what is refused."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import publish
from geolookup.errors import DatasetError, KeyFileError
from tests.internals.contract import timestamp
from tests.internals.dataset import layout as fmt
from tests.internals.history import unpacked
from tests.internals.signing import SIGNATURE
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import Change, pointer, sign
from tests.signing.keys import Paths, public
from tests.skips import needs
from tests.store.numbered import id_of, named, number

pytestmark = needs("cryptography")
Call = Callable[[], object]
LONG_AGO = 1_600_000_000


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


def as_of(store: Path, key: Path) -> Call:
    since = pointer.read_changes(store)[0].since
    return partial(geolookup.open, store, as_of=since, trusted_keys=key)


def unpickling(store: Path, key: Path) -> Call:
    with geolookup.open(store, trusted_keys=key) as engine:
        return partial(pickle.loads, pickle.dumps(engine))


def asking(ask: Callable[[geolookup.Engine], object]) -> Callable[[Path, Path], Call]:
    """A question to an engine that was opened before the signature changed."""
    return lambda store, key: partial(ask, geolookup.open(store, trusted_keys=key))


def enriched(engine: geolookup.Engine) -> object:
    table = pa.table({"ip": ["8.8.8.8"], "when": [LONG_AGO + 60]})
    return engine.enrich(table, "city", as_of="when")


#: What is used, and the number of the dataset that it reads.
USES: dict[str, tuple[Callable[[Path, Path], Call], int]] = {
    "open": (lambda store, key: partial(geolookup.open, store, trusted_keys=key), 2),
    "pickle": (unpickling, 2),
    "as_of": (as_of, 0),
    "engine.as_of": (asking(lambda engine: engine.as_of(LONG_AGO)), 0),
    "table": (asking(enriched), 0),
    "history": (asking(lambda engine: engine.history("8.8.8.8")), 0),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("is_cached", [False, True])
def test_each_generation_that_is_read_must_be_signed(
    use: str, store: Path, datasets: Paths, key: Path, key_files: Paths,
    monkeypatch: pytest.MonkeyPatch, *, is_cached: bool,
) -> None:  # fmt: skip
    """Also of the past, and what is read out of the cache, where the older generation is then."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(store.with_name("cache")))
    sign(datasets[2], key_files[0])
    publish(datasets[2], store)
    entries = pointer.read(store)
    days = [timestamp(datetime.fromtimestamp(LONG_AGO + day * 86_400, UTC)) for day in range(3)]
    changes = [Change(entry.generation, day) for entry, day in zip(entries, days, strict=True)]
    pointer.save(store, entries, changes)
    begin, number_read = USES[use]
    if is_cached:
        geolookup.prune(store, keep=3)
    signature = unpacked(store, id_of(number_read)) / SIGNATURE
    genuine = signature.read_bytes()
    for text, problem in (
        (None, "not signed"),
        ((datasets[1] / SIGNATURE).read_bytes(), "signs another manifest"),
    ):
        call = begin(store, key)
        signature.unlink()  # the file is in its place for all who have mapped it
        if text is not None:
            signature.write_bytes(text)
        with pytest.raises(DatasetError, match=problem):
            call()
        signature.unlink(missing_ok=True)
        signature.write_bytes(genuine)
        begin(store, key)()


@pytest.mark.usefixtures("store")
def test_every_byte_is_as_signed(datasets: Paths, key: Path) -> None:
    """Also of files that no lookup reads, and whose rows have checksums that anybody can make."""
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
