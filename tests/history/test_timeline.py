"""Histories equal what full copies of all generations answer."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.store import pointer
from tests.history import pool, slow
from tests.own_random import addresses
from tests.tiers import scaled

_NUMBERS = st.integers(0, pool.SIZE - 1)
#: Steps of a store: publish a number, roll back, prune all but a number.
_STEPS = st.one_of(
    st.tuples(st.just("publish"), _NUMBERS),
    st.tuples(st.just("rollback"), st.just(0)),
    st.tuples(st.just("prune"), st.integers(2, 5)),
)
_PREFIXES = (
    "8.8.8.0/28",
    "8.8.8.4/30",
    "9.255.255.248/29",
    "9.255.255.248/32",
    "2a00::/124",
    "100.127.255.240/28",
)


def _store(folder: Path, steps: Sequence[tuple[str, int]]) -> Path:
    store = folder / "store"
    geolookup.publish(pool.dataset(0), store)
    for step, number in steps:
        if step == "publish":
            geolookup.publish(pool.dataset(number), store)
        elif step == "prune":
            geolookup.prune(store, number)
        elif len(pointer.not_withdrawn(pointer.read(store))) > 1:
            geolookup.rollback(store)
    return store


def _copies(store: Path) -> list[Path]:
    """Return full copies of the generations that were in force and are known, the oldest first."""
    numbers = {pool.id_of(number): number for number in range(pool.SIZE)}
    known = {entry.generation for entry in pointer.read(store)}
    in_force = [change.generation for change in pointer.read_changes(store)]
    return [pool.dataset(numbers[item]) for item in in_force if item in known]


def _as_slow(history: Any) -> list[slow.SlowChange]:
    """Return the changes of a history in the form of the slow one."""
    return [
        slow.SlowChange(
            change.before_generation,
            change.generation,
            change.first,
            change.last,
            change.fields,
            {layer: changed.sources for layer, changed in change.layers.items()},
        )
        for change in history.changes
    ]


def _check(store: Path, addresses: Sequence[slow.Address], prefixes: Sequence[str]) -> None:
    copies = _copies(store)
    with geolookup.open(store) as engine:
        for address in addresses:
            history = engine.history(address)
            assert _as_slow(history) == slow.changes(copies, [address]), address
            first = slow.answer_of(copies[0], address).values
            assert history.first.fields == {
                path: value for path, value in first.items() if value is not None
            }
        for prefix in prefixes:
            listed: list[slow.Address] = [*ip_network(prefix)]
            assert _as_slow(engine.history(prefix)) == slow.changes(copies, listed), prefix


@settings(max_examples=scaled(5, 60))
@given(
    st.lists(_STEPS, min_size=3, max_size=8),
    st.lists(st.sampled_from(list(addresses())), min_size=1, max_size=8),
    st.lists(st.sampled_from(_PREFIXES), max_size=2),
)
@example([("publish", number) for number in range(1, pool.SIZE)], list(addresses()), _PREFIXES)
def test_any_store(
    steps: list[tuple[str, int]], asked: list[slow.Address], prefixes: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _check(_store(Path(folder), steps), asked, prefixes)
