"""A store that trusts keys, and an attacker who publishes into it whatever was ever signed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import geolookup
from tests.damage import copied
from tests.datasets import once
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.signing import SIGNATURE, SigningKeys, seal
from tests.internals.store import latest_serial, trust
from tests.signing.keys import key_files, private_keys
from tests.signing.test_trusted_store import refused
from tests.skips import needs
from tests.store.numbered import generation, named, shared
from tests.tiers import scaled

pytestmark = needs("cryptography")

#: Whose keys: the publisher's, which the store trusts, and somebody's.
PUBLISHER, SOMEBODY = 0, 1
#: The datasets: two of the store's name, and one of another.
DATASETS = range(3)
OTHER_NAME = 2


@cache
def datasets() -> list[Path]:
    made = once("signing-other", lambda folder: named(folder, "other", OTHER_NAME))
    return [shared(0), shared(1), made / "dataset"]


def statement(number: int, owner: int, serial: int) -> bytes:
    """What the owner of a key states about a dataset."""
    manifest = (datasets()[number] / fmt.MANIFEST).read_bytes()
    stated = {
        "generation": generation(datasets()[number]),
        "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
        "name": json.loads(manifest)["name"],
        "serial": serial,
    }
    return seal("dataset", canonical(stated), [private_keys()[owner]])


class AttackedStore(RuleBasedStateMachine):
    """The store, and the model: its generations in order, and the serial of each."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(mkdtemp(prefix="geolookup-tests-"))
        self.store = self.root / "store"
        self.not_withdrawn: list[int] = []
        self.serials: dict[int, int] = {}

    @property
    def accepted(self) -> int:
        return max(self.serials.values(), default=0)

    @initialize()
    def begin(self) -> None:
        trust(self.store, [private_keys()[PUBLISHER].public])

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(
        number=st.sampled_from(DATASETS),
        about=st.none() | st.sampled_from(DATASETS),
        owner=st.sampled_from((PUBLISHER, PUBLISHER, SOMEBODY)),
        step=st.sampled_from((1, 1, 0, -1)),
        is_packed=st.booleans(),
    )
    def offer(
        self, *, number: int, about: int | None, owner: int, step: int, is_packed: bool
    ) -> None:
        """Publish a dataset with a statement about this or another one, or without any."""
        serial = max(1, self.accepted + step)
        offered, archive = copied(datasets()[number], self.root / "offered"), self.root / "packed"
        if about is not None:
            (offered / SIGNATURE).write_bytes(statement(about, owner, serial))
        geolookup.pack(offered, archive, force=True)
        problem = self._problem(number, about, owner, serial)
        source = archive if is_packed else offered
        self._change(lambda: geolookup.publish(source, self.store), problem)
        if problem is None:
            self.serials[number] = serial
            self.not_withdrawn = [*(item for item in self.not_withdrawn if item != number), number]

    def _problem(self, number: int, about: int | None, owner: int, serial: int) -> str | None:
        if about is None:
            return "not signed by a trusted key"
        if owner != PUBLISHER:
            return "signed by no trusted key, but by"
        if about != number:
            return r"signs another manifest\.json"
        if any((item == OTHER_NAME) != (number == OTHER_NAME) for item in self.not_withdrawn[-1:]):
            return "is the dataset '.*', but '.*' is expected"
        return "signature is older than an accepted one" if serial < self.accepted else None

    def _change(self, change: Callable[[], object], problem: str | None) -> None:
        change() if problem is None else refused(self.store, change, problem)

    @precondition(lambda self: len(self.not_withdrawn) > 1)
    @rule(owner=st.sampled_from((None, PUBLISHER, SOMEBODY)))
    def roll_back(self, owner: int | None) -> None:
        """Without a signature only to a generation that has the greatest serial too."""
        before, problem = self.not_withdrawn[-2], None
        signing_keys: SigningKeys = () if owner is None else key_files()[owner]
        if owner == SOMEBODY:
            problem = "signed by no trusted key"
        elif owner is None and self.serials[before] < self.accepted:
            problem = "signature is older"
        self._change(lambda: geolookup.rollback(self.store, signing_keys=signing_keys), problem)
        if problem is None:
            self.not_withdrawn.pop()
        if owner == PUBLISHER:
            was, self.serials[before] = self.accepted, latest_serial(self.store)
            assert self.serials[before] > was

    @precondition(lambda self: self.not_withdrawn)
    @rule(owner=st.sampled_from((PUBLISHER, SOMEBODY)))
    def sign(self, owner: int) -> None:
        """Sign the current generation once more: what was withdrawn is older then."""
        problem = None if owner == PUBLISHER else "signed by no trusted key"
        self._change(lambda: geolookup.sign(self.store, key_files()[owner]), problem)
        if problem is None:
            was, self.serials[self.not_withdrawn[-1]] = self.accepted, latest_serial(self.store)
            assert self.accepted > was

    @precondition(lambda self: self.not_withdrawn)
    @rule()
    def prune(self) -> None:
        geolookup.prune(self.store, keep=1)
        (current,) = self.not_withdrawn = self.not_withdrawn[-1:]
        self.serials = {current: self.serials[current]}

    @invariant()
    def the_current_one_is_the_models(self) -> None:
        """It has the greatest serial too: what is pruned takes no greater one with it."""
        if not self.not_withdrawn:
            return
        expected = generation(datasets()[self.not_withdrawn[-1]])
        assert geolookup.verify(self.store).generation == expected
        assert self.serials[self.not_withdrawn[-1]] == self.accepted == latest_serial(self.store)
        with geolookup.open(self.store, trusted_keys=private_keys()[PUBLISHER].public) as engine:
            assert engine.generation == expected
        with pytest.raises(geolookup.DatasetError):
            geolookup.open(self.store, trusted_keys=private_keys()[SOMEBODY].public)


def test_an_attacked_store() -> None:
    amount = settings(max_examples=scaled(6, 20), stateful_step_count=12)
    run_state_machine_as_test(AttackedStore, settings=amount)
