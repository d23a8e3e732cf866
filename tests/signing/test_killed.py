"""Signing, rolling back and trusting end at any step: the store stays good and trusts."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError
from geolookup.signing.keys import PrivateKey as Key
from geolookup.signing.keys import PublicKey
from geolookup.store.trusted import distrust, latest_serial, trust, trust_of
from tests.signing.keys import Paths
from tests.skips import needs
from tests.store.dying import DONE, KILLED, REFUSED, Kind, endings

pytestmark = [
    needs("cryptography"),
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]
Change = Callable[[Path, Key, PublicKey], object]
CHANGES: dict[str, Change] = {
    "rollback": lambda store, ours, _: geolookup.rollback(store, signing_keys=ours),
    "sign": lambda store, ours, _: geolookup.sign(store, ours),
    "trust": lambda store, _, theirs: trust(store, [theirs]),
    "distrust": lambda store, _, theirs: distrust(store, theirs.id),
}


def check(copy_of_store: Path, unsigned: Path, serial: int) -> None:
    geolookup.verify(copy_of_store)
    result = trust_of(copy_of_store)
    assert result is not None
    assert result.serial >= serial
    with pytest.raises(DatasetError, match="not signed"):
        geolookup.publish(unsigned, copy_of_store)


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "kill") for name in CHANGES), ("rollback", "fault")]
)
def test_at_every_step(
    tmp_path: Path, store: Path, datasets: Paths, ours: Key, theirs: Key,
    name: str, kind: Kind,
) -> None:  # fmt: skip
    if name == "distrust":
        trust(store, [theirs.public])
    serial, copy_of_store = latest_serial(store), tmp_path / "copy"
    work = partial(CHANGES[name], copy_of_store, ours, theirs.public)
    outcomes = set()
    for ended in endings(work, kind, store, copy_of_store):
        outcomes.add(ended)
        check(copy_of_store, datasets[2], serial)
        if name == "rollback":  # done again; once the signature is there, without any harm
            if not geolookup.generations(copy_of_store)[0].withdrawn:
                geolookup.rollback(copy_of_store, signing_keys=ours)
            geolookup.verify(copy_of_store, deep=True, trusted_keys=ours.public)
            assert geolookup.generations(copy_of_store)[0].withdrawn
    assert outcomes == {DONE, KILLED if kind == "kill" else REFUSED}
