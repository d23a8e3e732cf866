"""A mirror of signed generations, and a store with trusted keys that follows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geolookup import DatasetError, publish
from geolookup.history.generations import generations, rollback
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import INDEX, index_text, read_index
from geolookup.signing.keys import read_private, read_public
from geolookup.signing.statement import serial_in, serial_of
from geolookup.store.signatures import sign
from geolookup.store.trusted import distrust, latest_serial, trust
from tests.mirrors.conftest import Edge, content_of, index_of
from tests.signing.keys import public, public_keys
from tests.skips import needs
from tests.store.numbered import id_of, shared

pytestmark = needs("cryptography")
#: A store whose current generation is signed, and a signed mirror of it.
Pair = tuple[Path, Path]


def assert_refused(signed: Pair, match: str, *keys: Path) -> None:
    store, folder = signed
    before = (folder / INDEX).read_bytes()
    with pytest.raises(DatasetError, match=match) as caught:
        mirror(store, folder, signing_keys=keys)
    assert caught.value.remedy
    assert (folder / INDEX).read_bytes() == before


def test_the_index_is_signed_by_each_key(signed: Pair, keys: list[Path]) -> None:
    store, folder = signed
    signature = index_of(folder).now.signature
    assert signature is not None
    statement = store / "generations" / id_of(2) / "signature.json"
    assert signature.encode() == statement.read_bytes()
    assert mirror(store, folder, signing_keys=keys[0]).state == "current"
    result = mirror(store, folder, signing_keys=keys[:2])
    assert (result.state, result.added) == ("published", ())
    text = (folder / INDEX).read_bytes()
    first, second, third = public_keys()
    for key in (first, second):
        read_index(text, [key], INDEX)
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        read_index(text, [third], INDEX)


def test_a_later_statement_changes_the_archives(signed: Pair, keys: list[Path]) -> None:
    store, folder = signed
    former = index_of(folder)
    sign(store, keys[0])
    mirror(store, folder, signing_keys=keys[0])
    index = index_of(folder)
    assert index.current == former.current
    assert not {*index.now.deltas} & {*former.now.deltas}
    assert index.now.pack != former.now.pack
    assert all((folder / file.path).exists() for file in former.files)


def test_the_serial_is_above_those_of_the_statements(
    signed: Pair,
    keys: list[Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock of the machine that signs may be ahead of that of the machine that mirrors."""
    store, folder = signed
    monkeypatch.setattr("time.time_ns", lambda: (1 << 53) * 1000)
    sign(store, keys[0])
    monkeypatch.undo()
    mirror(store, folder, signing_keys=keys[0])
    assert index_of(folder).serial == (1 << 53) + 1
    text = store / "generations" / id_of(2) / "signature.json"
    assert serial_of(text.read_bytes(), text) == 1 << 53


def test_what_followers_refuse_is_refused(signed: Pair, keys: list[Path]) -> None:
    store, folder = signed
    key = keys[0]
    assert_refused(signed, "would not be")  # no key for the index
    publish(shared(3), store)
    assert_refused(signed, "not signed", key)
    signature = (store / "generations" / id_of(2) / "signature.json").read_bytes()
    (store / "generations" / id_of(3) / "signature.json").write_bytes(signature)
    assert_refused(signed, "signs another manifest", key)
    (store / "generations" / id_of(3) / "signature.json").unlink()
    sign(store, key)
    mirror(store, folder, signing_keys=key)
    rollback(store)
    assert_refused(signed, "signed before the generation in the mirror", key)
    sign(store, key)
    mirror(store, folder, signing_keys=key)
    rollback(store, signing_keys=key)
    mirror(store, folder, signing_keys=key)
    assert index_of(folder).current == id_of(1)


def test_a_store_that_trusts_keys(signed: Pair, keys: list[Path]) -> None:
    store, folder = signed
    trust(store, public_keys()[:1])
    assert_refused(signed, "no key that the store trusts", keys[1])
    assert mirror(store, folder, signing_keys=keys[:2]).state == "published"
    (store / "generations" / id_of(2) / "signature.json").unlink()
    assert_refused(signed, "not signed by a trusted key", keys[0])


def test_an_index_without_a_trusted_signature_is_refused(trusting: Edge, keys: list[Path]) -> None:
    trusting.publish(2, keys=keys[:1])
    index = replace(trusting.index(), serial=trusting.index().serial + 1)
    before = content_of(trusting.store)
    for signing, problem in (([], "not signed"), (keys[1:2], "signed by no trusted key")):
        text = index_text(index, [read_private(key) for key in signing])
        (trusting.folder / INDEX).write_bytes(text)
        with pytest.raises(DatasetError, match=problem):
            trusting.poll()
        assert content_of(trusting.store) == before
        assert trusting.current == id_of(1)


def test_an_index_that_was_signed_before_is_refused(trusting: Edge, keys: list[Path]) -> None:
    old = (trusting.folder / INDEX).read_bytes()
    wanted = trusting.publish(2, keys=keys[:1])
    trusting.poll()
    (trusting.folder / INDEX).write_bytes(old)
    for remembered in (True, False):
        if not remembered:
            (trusting.store / "follow.json").unlink()
        with pytest.raises(DatasetError, match="older than an accepted"):
            trusting.poll()
        assert trusting.current == wanted


def test_a_signed_rollback_brings_the_newer_signature(trusting: Edge, keys: list[Path]) -> None:
    before = id_of(1)
    bad = trusting.publish(2, keys=keys[:1])
    trusting.poll()
    serial = latest_serial(trusting.store)
    rollback(trusting.origin, signing_keys=keys[0])
    mirror(trusting.origin, trusting.folder, signing_keys=keys[0])
    polled = trusting.poll()
    assert (polled.state, polled.kind, polled.generation) == ("updated", "stored", before)
    assert trusting.current == before
    assert serial_in(trusting.store / "generations" / before) > serial
    assert [
        generation.generation for generation in generations(trusting.store) if generation.withdrawn
    ] == [bad]


def test_keys_are_rotated(trusting: Edge, keys: list[Path]) -> None:
    trusting.trust(public_keys()[1:2])
    trusting.publish(2, keys=keys[:2])
    trusting.poll()
    distrust(trusting.store, read_public(public(keys[0])).id)
    wanted = trusting.publish(3, keys=keys[1:2])
    assert trusting.poll().state == "updated"
    assert trusting.current == wanted
    assert serial_in(trusting.store / "generations" / wanted) > 0
