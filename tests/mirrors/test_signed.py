"""A mirror of signed generations: what its followers would refuse is refused before."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup import DatasetError, publish
from tests.internals.history import rollback
from tests.internals.mirrors import INDEX, read_index
from tests.internals.signing import serial_of
from tests.internals.store import sign, trust
from tests.mirrors.conftest import Edge, index_of
from tests.signing.keys import public_keys
from tests.skips import needs
from tests.store.numbered import id_of, shared

pytestmark = needs("cryptography")


def assert_refused(edge: Edge, match: str, *keys: Path) -> None:
    before, edge.keys = (edge.folder / INDEX).read_bytes(), keys
    with pytest.raises(DatasetError, match=match) as caught:
        edge.mirror()
    assert caught.value.remedy
    assert (edge.folder / INDEX).read_bytes() == before


def test_the_index_is_signed_by_each_key(trusting: Edge, keys: list[Path]) -> None:
    former = index_of(trusting.folder)
    statement = trusting.origin / "generations" / id_of(1) / "signature.json"
    assert former.signature == statement.read_bytes()
    assert trusting.mirror() == former
    trusting.keys = keys[:2]
    assert trusting.mirror().generations == former.generations
    text = (trusting.folder / INDEX).read_bytes()
    first, second, third = public_keys()
    for key in (first, second):
        read_index(text, [key], INDEX)
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        read_index(text, [third], INDEX)


def test_a_later_statement_changes_the_archive(
    trusting: Edge, keys: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the machine that signs may be ahead of that of the machine that mirrors."""
    former = index_of(trusting.folder)
    monkeypatch.setattr("time.time_ns", lambda: (1 << 53) * 1000)
    sign(trusting.origin, keys[0])
    monkeypatch.undo()
    index = trusting.mirror()
    assert (index.current, index.serial) == (former.current, (1 << 53) + 1)
    assert index.signature is not None
    assert serial_of(index.signature, INDEX) == 1 << 53
    assert index.files[0] != former.files[0]
    assert all((trusting.folder / file.path).exists() for file in former.files)


def test_what_followers_refuse_is_refused(trusting: Edge, keys: list[Path]) -> None:
    store, key = trusting.origin, keys[0]
    signature = (store / "generations" / id_of(1) / "signature.json").read_bytes()
    assert_refused(trusting, "would not be")  # no key for the index
    publish(shared(3), store)
    assert_refused(trusting, "not signed", key)
    (store / "generations" / id_of(3) / "signature.json").write_bytes(signature)
    assert_refused(trusting, "signs another manifest", key)
    (store / "generations" / id_of(3) / "signature.json").unlink()
    sign(store, key)
    trusting.mirror()
    rollback(store)
    assert_refused(trusting, "signed before the generation in the mirror", key)
    sign(store, key)
    assert trusting.mirror().current == id_of(1)
    trust(store, public_keys()[:1])
    assert_refused(trusting, "no key that the store trusts", keys[1])
    (store / "generations" / id_of(1) / "signature.json").unlink()
    assert_refused(trusting, "not signed by a trusted key", key)
