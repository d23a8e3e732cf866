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
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import geolookup
from tests.damage import copied
from tests.datasets import once
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.signing import SigningKeys, seal
from tests.internals.store import latest_serial, trust
from tests.signing.keys import key_files, private_keys
from tests.signing.test_trusted_store import content
from tests.skips import needs
from tests.store.numbered import generation, named, shared

pytestmark = [pytest.mark.long, needs("cryptography")]

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
    parsed = json.loads(manifest)
    stated = {
        "generation": parsed["generation"],
        "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
        "name": parsed["name"],
        "serial": serial,
    }
    return seal("dataset", canonical(stated), [private_keys()[owner]])


class AttackedStore(RuleBasedStateMachine):
    """The store, and the model: its not_withdrawn generations in order, and the serial of each."""

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
        kind=st.sampled_from(("folder", "archive", "delta")),
    )
    def offer(self, number: int, about: int | None, owner: int, step: int, kind: str) -> None:
        """Publish a dataset with a statement about this or another one, or without any."""
        serial = max(1, self.accepted + step)
        offered = copied(datasets()[number], self.root / "offered")
        if about is not None:
            (offered / "signature.json").write_bytes(statement(about, owner, serial))
        last = self.not_withdrawn[-1:]
        is_accepted = (
            about == number
            and owner == PUBLISHER
            and serial >= self.accepted
            and all((item == OTHER_NAME) == (number == OTHER_NAME) for item in last)
        )
        self._change(
            lambda: geolookup.publish(self._as(kind, offered, number), self.store),
            is_accepted=is_accepted,
        )
        if is_accepted:
            self.serials[number] = serial
            self.not_withdrawn = [*(item for item in self.not_withdrawn if item != number), number]

    def _as(self, kind: str, offered: Path, number: int) -> Path:
        """Return the dataset, or an archive of it: a delta where the store has another one."""
        if kind == "folder":
            return offered
        archive, last = self.root / "offered.tar.zst", self.not_withdrawn[-1:]
        is_delta = kind == "delta" and last not in ([], [number])
        base = datasets()[last[0]] if is_delta else None
        geolookup.pack(offered, archive, base=base, force=True)
        return archive

    def _change(self, change: Callable[[], object], *, is_accepted: bool) -> None:
        if is_accepted:
            change()
            return
        before = content(self.store)
        with pytest.raises(geolookup.DatasetError) as caught:
            change()
        assert "\n" not in str(caught.value)
        assert content(self.store) == before

    @precondition(lambda self: len(self.not_withdrawn) > 1)
    @rule(owner=st.sampled_from((None, PUBLISHER, SOMEBODY)))
    def roll_back(self, owner: int | None) -> None:
        """Without a signature only to a generation that has the greatest serial too."""
        before = self.not_withdrawn[-2]
        signing_keys: SigningKeys = () if owner is None else key_files()[owner]
        is_accepted = owner == PUBLISHER or (
            owner is None and self.serials[before] == self.accepted
        )
        self._change(
            lambda: geolookup.rollback(self.store, signing_keys=signing_keys),
            is_accepted=is_accepted,
        )
        if is_accepted:
            self.not_withdrawn.pop()
        if owner == PUBLISHER:
            was, self.serials[before] = self.accepted, latest_serial(self.store)
            assert self.serials[before] > was

    @precondition(lambda self: self.not_withdrawn)
    @rule()
    def prune(self) -> None:
        geolookup.prune(self.store, keep=1)
        kept = {item.generation for item in geolookup.generations(self.store)}
        gone = {number for number in DATASETS if generation(datasets()[number]) not in kept}
        self.not_withdrawn = [item for item in self.not_withdrawn if item not in gone]
        self.serials = {item: serial for item, serial in self.serials.items() if item not in gone}

    @invariant()
    def the_current_one_is_the_models(self) -> None:
        """It has the greatest serial too: what is pruned takes no greater one with it."""
        if not self.not_withdrawn:
            return
        expected = generation(datasets()[self.not_withdrawn[-1]])
        assert geolookup.verify(self.store, deep=True).generation == expected
        assert self.serials[self.not_withdrawn[-1]] == self.accepted
        with geolookup.open(self.store, trusted_keys=private_keys()[PUBLISHER].public) as engine:
            assert engine.generation == expected
        with pytest.raises(geolookup.DatasetError):
            geolookup.open(self.store, trusted_keys=private_keys()[SOMEBODY].public)


TestAttackedStore = AttackedStore.TestCase
TestAttackedStore.settings = settings(
    max_examples=15, stateful_step_count=12, suppress_health_check=list(HealthCheck)
)
