"""Engines with trusted keys: what is opened, reloaded and unpickled, and what is refused."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import publish
from geolookup.errors import DatasetError, KeyFileError
from tests.damage import copied
from tests.internals.contract import timestamp
from tests.internals.dataset import layout as fmt
from tests.internals.history import rollback, unpacked
from tests.internals.signing import SIGNATURE
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import Change, pointer, sign
from tests.signing.keys import Paths, public
from tests.skips import needs
from tests.store.numbered import generation, id_of, named, number

pytestmark = needs("cryptography")


@pytest.fixture
def key(key_files: Paths) -> Path:
    return public(key_files[0])


@pytest.fixture
def store(store: Path) -> Path:
    """A store that trusts no keys itself: the engine alone checks."""
    shutil.rmtree(store / "trusted")
    return store


def test_a_signed_dataset_answers(
    datasets: Paths, store: Path, key: Path, key_files: Paths
) -> None:
    for trusted_keys in (key, str(key), [key, public(key_files[1])]):
        with geolookup.open(store, trusted_keys=trusted_keys) as engine:
            assert number(engine) == 1
    with geolookup.open(datasets[0], trusted_keys=key) as engine:
        assert number(engine) == 0
    assert geolookup.verify(store, deep=True, trusted_keys=key).damages == ()


def test_what_is_not_signed_by_a_trusted_key(
    datasets: Paths, store: Path, key: Path, theirs: Key
) -> None:
    """Or by one of them over another dataset: a signature that was kept beside other data."""
    signature = datasets[2] / SIGNATURE
    for problem in ("not signed", "signed by no trusted key", "signs another manifest"):
        for call in (geolookup.open, geolookup.verify):
            with pytest.raises(DatasetError, match=problem):
                call(datasets[2], trusted_keys=[key])
        geolookup.open(datasets[2]).close()
        if problem == "signs another manifest":  # damage, without any key
            with pytest.raises(DatasetError, match=problem):
                geolookup.verify(datasets[2])
        else:
            geolookup.verify(datasets[2])
        if signature.exists():
            shutil.copyfile(datasets[0] / SIGNATURE, signature)
        else:
            sign(datasets[2], theirs)
    signature.write_bytes(b"{}")
    with pytest.raises(DatasetError, match="not a signed document"):
        publish(datasets[2], store)
    signature.unlink()
    publish(datasets[2], store)
    with geolookup.open(store) as engine:  # without keys nothing is asked
        assert number(engine) == number(pickle.loads(pickle.dumps(engine))) == 2  # noqa: S301
    with pytest.raises(KeyFileError):
        geolookup.open(store, trusted_keys=datasets[0] / fmt.MANIFEST)


def test_an_empty_list_of_keys_does_not_accept_every_dataset(
    datasets: Paths, tmp_path: Path
) -> None:
    """Such as ``Path("keys").glob("*.pub")`` of a folder that is empty."""
    archive = tmp_path / "a.tar.zst"
    geolookup.pack(datasets[0], archive)
    none: tuple[Any, ...] = ([], (), iter(()))
    for trusted_keys in none:
        for call, *arguments in (
            (geolookup.open, datasets[0]),
            (geolookup.verify, datasets[0]),
            (geolookup.unpack, archive, tmp_path / "out"),
        ):
            with pytest.raises(ValueError, match="no key to trust"):
                call(*arguments, trusted_keys=trusted_keys)


def as_of(store: Path, key: Path) -> object:
    return geolookup.open(store, as_of=pointer.read_changes(store)[0].since, trusted_keys=key)


def unpickling(store: Path, key: Path) -> Call:
    with geolookup.open(store, trusted_keys=key) as engine:
        pickled = pickle.dumps(engine)
    return lambda: pickle.loads(pickled)  # noqa: S301 - our own


def asking(ask: Callable[[geolookup.Engine], object]) -> Callable[[Path, Path], Call]:
    """A question to an engine that was opened before the signature changed."""
    return lambda store, key: partial(ask, geolookup.open(store, trusted_keys=key))


def enriched(engine: geolookup.Engine) -> object:
    table = pa.table({"ip": ["8.8.8.8"], "when": [LONG_AGO + 60]})
    return engine.enrich(table, "city", as_of="when")


def in_cache(store: Path) -> Path:
    """A former generation is a delta then; its signature in the cache counts."""
    geolookup.prune(store, keep=3)
    return unpacked(store, id_of(0))


LONG_AGO = 1_600_000_000
Call = Callable[[], object]
#: What is used, the generation that it reads, and where that stands.
USES: dict[str, tuple[Callable[[Path, Path], Call], int, Callable[[Path], Path] | None]] = {
    "open": (lambda store, key: partial(geolookup.open, store, trusted_keys=key), 2, None),
    "verify": (lambda store, key: partial(geolookup.verify, store, trusted_keys=key), 2, None),
    "pickle": (unpickling, 2, None),
    "as_of": (lambda store, key: partial(as_of, store, key), 0, None),
    "as_of, from the cache": (lambda store, key: partial(as_of, store, key), 0, in_cache),
    "engine.as_of": (asking(lambda engine: engine.as_of(LONG_AGO)), 0, None),
    "table": (asking(enriched), 0, None),
    "table, from the cache": (asking(enriched), 0, in_cache),
    "history": (asking(lambda engine: engine.history("8.8.8.8")), 0, None),
    "history, from the cache": (asking(lambda engine: engine.history("8.8.8.8")), 0, in_cache),
}


@pytest.mark.parametrize("use", USES)
def test_each_generation_that_is_read_must_be_signed(
    use: str, store: Path, datasets: Paths, key: Path, key_files: Paths,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Also of the past, and what is read out of the cache; not one of another."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(store.with_name("cache")))
    begin, number_read, place = USES[use]
    sign(datasets[2], key_files[0])
    publish(datasets[2], store)
    entries = pointer.read(store)
    days = [timestamp(datetime.fromtimestamp(LONG_AGO + day * 86_400, UTC)) for day in range(3)]
    changes = [Change(entry.generation, day) for entry, day in zip(entries, days, strict=True)]
    pointer.save(store, entries, changes)
    folder = place(store) if place else store / "generations" / id_of(number_read)
    signature = folder / SIGNATURE
    genuine, other = signature.read_bytes(), (datasets[1] / SIGNATURE).read_bytes()
    theirs = copied(folder, store.with_name("theirs"))
    (theirs / SIGNATURE).unlink()
    sign(theirs, key_files[1])
    for problem, text in (
        ("not signed", None),
        ("signed by no trusted key", (theirs / SIGNATURE).read_bytes()),
        ("signs another manifest", other),
        (None, genuine),
    ):
        call = begin(store, key)
        signature.unlink()
        if text is not None:
            signature.write_bytes(text)
        with pytest.raises(DatasetError, match=problem) if problem else nullcontext():
            call()
        signature.unlink(missing_ok=True)
        signature.write_bytes(genuine)


def test_every_byte_is_as_signed(datasets: Paths, store: Path, key: Path) -> None:
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


def test_a_reload_takes_what_is_signed_and_newer(
    datasets: Paths, store: Path, key: Path, key_files: Paths
) -> None:
    with geolookup.open(store, trusted_keys=key) as engine:
        publish(datasets[0], store)  # older, of the right key: a replay
        with pytest.raises(DatasetError, match="signature is older"):
            engine.reload()
        assert number(engine) == 1
        sign(datasets[0], key_files[0])
        publish(datasets[0], store)
        assert engine.reload()
        assert number(engine) == 0
        sign(store, key_files[0])
        assert not engine.reload()  # the same data
        publish(datasets[2], store)
        with pytest.raises(DatasetError, match="not signed"):
            engine.reload()
        assert number(engine) == 0


def test_a_reload_refuses_another_dataset(
    tmp_path: Path, store: Path, key: Path, ours: Key
) -> None:
    other = named(tmp_path / "other", "else", 7)
    sign(other, ours)
    publish(other, store)
    with geolookup.open(store, trusted_keys=key) as engine:
        assert number(engine) == 7
    rollback(store)
    with geolookup.open(store, trusted_keys=key) as engine:
        publish(other, store)
        with pytest.raises(DatasetError, match="'else', but 'geo' is expected"):
            engine.reload()


def test_an_unpickled_engine_keeps_the_keys(
    datasets: Paths, store: Path, key: Path, theirs: Key
) -> None:
    with geolookup.open(store, trusted_keys=key) as engine:
        pickled = pickle.dumps(engine)
    with pickle.loads(pickled) as again:  # noqa: S301 - our own
        publish(datasets[2], store)
        with pytest.raises(DatasetError, match="not signed"):
            again.reload()
        publish(datasets[0], store)
        with pytest.raises(DatasetError, match="signature is older"):
            again.reload()
        assert number(again) == 1
        assert pickle.dumps(again) == pickled
    folder = store / "generations" / generation(datasets[1])
    sign(datasets[1], theirs)
    (folder / SIGNATURE).unlink()
    shutil.copyfile(datasets[1] / SIGNATURE, folder / SIGNATURE)
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        pickle.loads(pickled)  # noqa: S301
