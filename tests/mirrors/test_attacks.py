"""Forged, replayed, frozen and mixed mirrors over HTTP: none changes a store that trusts keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from geolookup import DatasetError, publish, rollback
from geolookup.errors import UpdateError
from tests.internals.mirrors import mirror
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


def _replayed(edge: Edge) -> None:
    shutil.copytree(edge.folder.with_name("before"), edge.folder, dirs_exist_ok=True)


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


def _mixed(member: str) -> Attack:
    """Return an attack: the current generation with a member of the one before it."""

    def attack(edge: Edge) -> None:
        index = edge.index()
        now, before = index.generations
        now = replace(now, **{member: getattr(before, member)})
        edge.forge(replace(index, generations=(now, before)), edge.keys)

    return attack


def _other_signer(edge: Edge) -> None:
    """Offer a generation that another key signed."""
    sign(edge.origin, key_files()[1])
    edge.mirror()


def _changed_archive(edge: Edge) -> None:
    path = edge.folder / edge.index().files[0].path
    path.write_bytes(path.read_bytes()[:-1] + b"x")


#: The steps of each attack on a mirror of number 2, and the problem that the poll names.
ATTACKS: dict[str, tuple[list[Attack], str]] = {
    "an index without a signature": ([_index(None)], "not signed"),
    "an index of another signer": ([_index(1)], "signed by no trusted key"),
    "a replayed mirror": ([Edge.poll, _replayed], "older than an accepted index"),
    "one without a record": ([_forgotten, _replayed], "older than an accepted index"),
    "a withdrawn generation": ([_withdrawn], "older than an accepted index"),
    "a frozen index": ([_index(0, expires_at="2026-01-01T00:00:00Z")], "expired at 2026-01-01"),
    "another dataset": ([_other_dataset], "the dataset is 'other', but the store has 'geo'"),
    "one under the name": ([_other_dataset, _index(0, name="geo")], "'other', but the index says"),
    "a changed archive": ([_changed_archive], "SHA-256 of the file"),
    "the archive of another generation": ([_mixed("archive")], "but .* was expected"),
    "the statement of another generation": ([_mixed("signature")], "signs another manifest"),
    "a generation of another signer": ([_other_signer], "signed by no trusted key"),
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
