"""A mirror of signed generations: what followers would refuse is refused before it is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup import DatasetError
from geolookup.mirrors.index import INDEX, read_index
from geolookup.mirrors.write import mirror
from geolookup.signing.statement import serial_of
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from geolookup.store.sign import sign
from geolookup.store.trusted import trust
from tests.mirrors.reading import index_of
from tests.signing.keys import public_keys
from tests.skips import needs
from tests.store.numbered import id_of, shared

pytestmark = needs("cryptography")


@pytest.fixture
def store(signed: tuple[Path, Path]) -> Path:
    """A store whose current generation is signed."""
    return signed[0]


@pytest.fixture
def folder(signed: tuple[Path, Path]) -> Path:
    """A signed mirror of it."""
    return signed[1]


def assert_refused(store: Path, folder: Path, match: str, *keys: Path) -> None:
    before = (folder / INDEX).read_bytes()
    with pytest.raises(DatasetError, match=match) as caught:
        mirror(store, folder, sign=keys)
    assert caught.value.remedy
    assert (folder / INDEX).read_bytes() == before


def test_the_index_is_signed_by_each_key(store: Path, folder: Path, keys: list[Path]) -> None:
    mirror(store, folder, sign=keys[:2])
    text = (folder / INDEX).read_bytes()
    first, second, third = public_keys()
    for key in (first, second):
        read_index(text, [key], INDEX)
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        read_index(text, [third], INDEX)


def test_the_index_has_the_statements(store: Path, folder: Path) -> None:
    found = store / "generations" / id_of(2) / "signature.json"
    signature = index_of(folder).now.signature
    assert signature is not None
    assert signature.encode() == found.read_bytes()


def test_the_same_keys_change_nothing_others_do(
    store: Path, folder: Path, keys: list[Path]
) -> None:
    assert mirror(store, folder, sign=keys[0]).state == "current"
    found = mirror(store, folder, sign=keys[1])
    assert (found.state, found.added) == ("published", ())


def test_a_later_statement_changes_the_archives(
    store: Path, folder: Path, keys: list[Path]
) -> None:
    former = index_of(folder)
    sign(store, keys[0])
    mirror(store, folder, sign=keys[0])
    index = index_of(folder)
    assert index.current == former.current
    assert not {*index.now.deltas} & {*former.now.deltas}
    assert index.now.pack != former.now.pack
    assert all((folder / file.path).exists() for file in former.files)


def test_a_rollback_that_is_signed(store: Path, folder: Path, keys: list[Path]) -> None:
    rollback(store, sign=keys[0])
    mirror(store, folder, sign=keys[0])
    assert index_of(folder).current == id_of(1)


def test_the_serial_is_above_those_of_the_statements(
    store: Path,
    folder: Path,
    keys: list[Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock of the machine that signs may be ahead of that of the machine that mirrors."""
    monkeypatch.setattr("time.time_ns", lambda: (1 << 53) * 1000)
    sign(store, keys[0])
    monkeypatch.undo()
    mirror(store, folder, sign=keys[0])
    assert index_of(folder).serial == (1 << 53) + 1
    text = store / "generations" / id_of(2) / "signature.json"
    assert serial_of(text.read_bytes(), text) == 1 << 53


def test_what_followers_refuse_is_refused(store: Path, folder: Path, keys: list[Path]) -> None:
    key = keys[0]
    assert_refused(store, folder, "would not be")  # no key for the index
    publish(shared(3), store)
    assert_refused(store, folder, "not signed", key)
    sign(store, key)
    mirror(store, folder, sign=key)
    rollback(store)
    assert_refused(store, folder, "signed before what the mirror has", key)
    sign(store, key)
    mirror(store, folder, sign=key)


def test_a_store_that_trusts_keys(store: Path, folder: Path, keys: list[Path]) -> None:
    trust(store, public_keys()[:1])
    assert_refused(store, folder, "no key that the store trusts", keys[1])
    assert mirror(store, folder, sign=keys[:2]).state == "published"
    (store / "generations" / id_of(2) / "signature.json").unlink()
    assert_refused(store, folder, "not signed by a trusted key", keys[0])


def test_a_signature_of_another_manifest(store: Path, folder: Path, keys: list[Path]) -> None:
    generations = store / "generations"
    signature = (generations / id_of(2) / "signature.json").read_bytes()
    publish(shared(3), store)
    (generations / id_of(3) / "signature.json").write_bytes(signature)
    assert_refused(store, folder, "signs another manifest", keys[0])
