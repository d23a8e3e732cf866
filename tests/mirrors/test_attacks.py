"""Forged, replayed, frozen and mixed mirrors over HTTP: none changes a store that trusts keys."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from geolookup import DatasetError, UpdateError, publish, rollback
from tests.internals.mirrors import INDEX, Index, mirror
from tests.internals.signing import SIGNATURE
from tests.internals.store import sign
from tests.internals.updates import STATE
from tests.mirrors.conftest import Edge
from tests.signing.keys import key_files
from tests.skips import needs
from tests.store.numbered import id_of, named

pytestmark = needs("cryptography")
Attack = Callable[[Edge], object]


def _index(key: int | None, **members: object) -> Attack:
    """Return an attack: the honest index with other members, signed by a key, or by none."""
    signers = [] if key is None else key_files()[key : key + 1]
    return lambda edge: edge.forge(replace(edge.index(), **members), signers)  # type: ignore[arg-type]


def _payload(change: Callable[[dict[str, str]], object]) -> Attack:
    """Return an attack: the honest envelope of the index, changed."""

    def attack(edge: Edge) -> None:
        envelope = json.loads((edge.folder / INDEX).read_bytes())
        change(envelope)
        (edge.folder / INDEX).write_text(json.dumps(envelope), encoding="utf-8")

    return attack


def _text(content: bytes) -> Attack:
    return lambda edge: (edge.folder / INDEX).write_bytes(content)


def _archive(change: Callable[[bytes], bytes]) -> Attack:
    """Return an attack: the honest index, and another archive under the name of its own."""

    def attack(edge: Edge) -> None:
        path = edge.folder / edge.index().files[0].path
        path.write_bytes(change(path.read_bytes()))

    return attack


def _current(of: Callable[[Edge, Index], dict[str, object]]) -> Attack:
    """Return an attack: an index of the trusted key, with other members of its generation."""

    def attack(edge: Edge) -> None:
        index = edge.index()
        now, *others = index.generations
        now = replace(now, **of(edge, index))  # type: ignore[arg-type]
        edge.forge(replace(index, generations=(now, *others)), edge.keys)

    return attack


def _replayed(edge: Edge) -> None:
    shutil.copytree(edge.folder.with_name("before"), edge.folder, dirs_exist_ok=True)


def _followed(edge: Edge) -> None:
    """Let the edge follow the honest mirror first."""
    edge.poll()


def _withdrawn(edge: Edge) -> None:
    """Offer a generation again that the mirror has withdrawn since."""
    edge.poll()
    held = shutil.copytree(edge.folder, edge.folder.with_name("held"))
    rollback(edge.origin, signing_keys=edge.keys)
    edge.mirror()
    edge.poll()
    shutil.copytree(held, edge.folder, dirs_exist_ok=True)


def _forgotten(edge: Edge) -> None:
    """Remove the record of the edge: the serial of its generation remains."""
    edge.poll()
    (edge.store / STATE).unlink()


def _other_dataset(edge: Edge) -> None:
    """Offer another dataset of the same signer."""
    dataset = named(edge.folder.with_name("other"), "other", 4)
    sign(dataset, edge.keys)
    publish(dataset, edge.origin.with_name("others"))
    shutil.rmtree(edge.folder)
    mirror(edge.origin.with_name("others"), edge.folder, signing_keys=edge.keys)


def _renamed_dataset(edge: Edge) -> None:
    _other_dataset(edge)
    edge.forge(replace(edge.index(), name="geo"), edge.keys)


def _signed_by(key: int) -> Attack:
    """Return an attack: an index of the trusted key, with a generation that another key signed."""

    def attack(edge: Edge) -> None:
        sign(edge.origin, key_files()[key])
        edge.mirror()

    return attack


def _unsigned(edge: Edge) -> None:
    (edge.origin / "generations" / id_of(2) / SIGNATURE).unlink()
    shutil.rmtree(edge.folder)
    edge.mirror()


#: The steps of each attack on a mirror of number 2, and the problem that the poll names.
ATTACKS: dict[str, tuple[list[Attack], str]] = {
    "an index without a signature": ([_index(None)], "not signed"),
    "an index of another signer": ([_index(1)], "signed by no trusted key"),
    "a signature of another index": ([_payload(lambda e: e.update(payload="e30="))], "was changed"),
    "a document of another kind": ([_payload(lambda e: e.update(payloadType="x"))], "not a signed"),
    "a replayed mirror": ([_followed, _replayed], "older than an accepted index"),
    "a replayed mirror, without a record": (
        [_forgotten, _replayed],
        "older than an accepted index",
    ),
    "a withdrawn generation": ([_withdrawn], "older than an accepted index"),
    "a frozen index": ([_index(0, expires_at="2026-01-01T00:00:00Z")], "expired at 2026-01-01"),
    "another dataset": ([_other_dataset], "the dataset is 'other', but the store has 'geo'"),
    "another dataset under the name": ([_renamed_dataset], "'other', but the index says 'geo'"),
    "a changed archive": ([_archive(lambda c: c[:-1] + b"x")], "SHA-256 of the file"),
    "a cut archive": ([_archive(lambda c: c[:-9])], "SHA-256 of the file"),
    "a longer archive": ([_archive(lambda c: c + b"more")], "larger than"),
    "no archive": ([lambda e: (e.folder / e.index().files[0].path).unlink()], "no such file"),
    "the archive of another generation": (
        [_current(lambda _, index: {"archive": index.files[1]})],
        "but .* was expected",
    ),
    "the statement of another generation": (
        [_current(lambda _, index: {"signature": index.generations[1].signature})],
        "signs another manifest",
    ),
    "no statement": ([_current(lambda *_: {"signature": "{}"})], "not a signed document"),
    "a generation of another signer": ([_signed_by(1)], "signed by no trusted key"),
    "a generation without a signature": ([_unsigned], "not signed by a trusted key"),
    "a page": ([_text(b"<html>no</html>")], "HTML or XML page"),
    "no text": ([_text(b"")], "index.json"),
    "a deep text": ([_text(b"[" * 100_000)], "not a signed document"),
    "a long text": ([_text(b" " * (6 << 20))], "larger than"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_changes_nothing_and_the_next_honest_index_is_followed(
    trusting: Edge, name: str
) -> None:
    *steps, last = ATTACKS[name][0]
    shutil.copytree(trusting.folder, trusting.folder.with_name("before"))
    trusting.publish(2)
    for step in steps:
        step(trusting)
    last(trusting)
    before, failures = trusting.content, trusting.state.failures
    with pytest.raises((UpdateError, DatasetError), match=ATTACKS[name][1]) as caught:
        trusting.poll()
    assert "\n" not in str(caught.value)
    assert (trusting.content, trusting.state.failures) == (before, failures + 1)
    assert trusting.state.problem == str(caught.value)
    assert trusting.current in {id_of(number) for number in (1, 2)}
    shutil.rmtree(trusting.folder)
    wanted = trusting.publish(3)
    assert trusting.poll().state == "published"
    assert trusting.current == wanted
