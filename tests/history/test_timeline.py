"""Histories equal what full copies of all generations answer."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.errors import InvalidAddressError, PrivateAddressError
from tests.history import pool, slow
from tests.internals.history import write_missing
from tests.internals.store import Change, pointer
from tests.own_random import addresses
from tests.store.numbered import published
from tests.tiers import scaled

_NUMBERS = st.integers(0, pool.SIZE - 1)
#: Steps of a store: publish a number, now or in the past, roll back, prune all but a number.
_STEPS = st.one_of(
    st.tuples(st.just("publish"), _NUMBERS),
    st.tuples(st.just("rollback"), st.just(0)),
    st.tuples(st.just("since"), st.integers(0, 2 * pool.SIZE)),
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


_SAMPLE = list(addresses())[::18]


def _store(folder: Path, steps: Sequence[tuple[str, int]]) -> Path:
    store = folder / "store"
    geolookup.publish(pool.dataset(0), store)
    for step, number in steps:
        if step == "publish":
            geolookup.publish(pool.dataset(number), store)
        elif step == "since":
            since = f"2020-01-{number + 1:02}"
            geolookup.publish(pool.dataset(number % pool.SIZE), store, since=since)
        elif step == "prune":
            geolookup.prune(store, number)
        elif len(pointer.not_withdrawn(pointer.read(store))) > 1:
            geolookup.rollback(store)
    return store


def _copies(store: Path) -> list[slow.Copy]:
    """Date the changes of a store, a day each; return the known ones, the oldest first."""
    numbers = {pool.id_of(number): number for number in range(pool.SIZE)}
    published, changes = pointer.read(store), pointer.read_changes(store)
    days = [f"2026-03-{day + 1:02}T00:00:00Z" for day in range(len(changes) + 1)]
    dated = [Change(change.generation, day) for change, day in zip(changes, days, strict=False)]
    pointer.save(store, published, dated)
    known = {entry.generation for entry in published}
    return [
        slow.Copy(pool.dataset(numbers[change.generation]), begin, end)
        for change, (begin, end) in zip(changes, pairwise(days), strict=True)
        if change.generation in known
    ]


def _as_slow(history: Any) -> list[slow.SlowChange]:
    """Return the changes of a history in the form of the slow one."""
    *names, _ = slow.SlowChange._fields
    return [
        slow.SlowChange(
            **{name: getattr(change, name) for name in names},
            sources={layer: changed.sources for layer, changed in change.layers.items()},
        )
        for change in history.changes
    ]


def _check(store: Path, addresses: Sequence[slow.Address], prefixes: Sequence[str]) -> None:
    copies = _copies(store)
    with geolookup.open(store) as engine:
        for address in addresses:
            history = engine.history(address)
            assert _as_slow(history) == slow.changes(copies, [address]), address
            assert history.first.since == copies[0].begin
            first = slow.answer_of(copies[0].path, address).values
            assert history.first.fields == {
                path: value for path, value in first.items() if value is not None
            }
        for prefix in prefixes:
            listed: list[slow.Address] = [*ip_network(prefix)]
            assert _as_slow(engine.history(prefix)) == slow.changes(copies, listed), prefix


@settings(max_examples=scaled(1, 20))
@given(
    st.lists(_STEPS, min_size=3, max_size=8),
    st.lists(st.sampled_from(list(addresses())), min_size=1, max_size=8),
    st.lists(st.sampled_from(_PREFIXES), max_size=2),
)
@example([("publish", number) for number in range(1, pool.SIZE)], _SAMPLE, _PREFIXES)
def test_any_store(
    steps: list[tuple[str, int]], asked: list[slow.Address], prefixes: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder), steps)
        _check(store, asked, prefixes)
        kept = {entry.generation for entry in pointer.read(store)}
        assert write_missing(store, kept) == []
        _check(store, asked, prefixes)  # all of it from files


def test_forms_of_addresses(tmp_path: Path) -> None:
    form: Any
    store = _store(tmp_path, [("publish", 1)])
    with geolookup.open(store) as engine:
        plain, prefix = engine.history("8.8.8.8"), engine.history("8.8.8.8/30")
        assert plain.changes
        assert plain.first.fields is not None
        assert prefix.first.fields is None
        for form in (ip_address("8.8.8.8"), "::ffff:8.8.8.8", "2002:808:808::1"):
            assert engine.history(form).changes == plain.changes, form
        assert engine.history("2002:808:808::1").ip == "2002:808:808::1"
        for form in (ip_network("8.8.8.8/30"), "::ffff:8.8.8.8/126", "2002:808:808::/46"):
            assert engine.history(form).changes == prefix.changes, form
        for form in ("2002::/15", "::/80"):  # only one end is in space that carries IPv4
            assert engine.history(form).changes == (), form
        for form in ("[::ffff:8.8.8.8]:443", " 8.8.8.8 ", "8.8.8.8, 10.0.0.1"):
            assert engine.history(form, clean=True).changes == plain.changes, form
            with pytest.raises(InvalidAddressError):
                engine.history(form)
        for form in ("8.8.8.8/24", "8.8.8.0/33", "8.8.8.0/255.255.255.0", "x/8", None, b"8.8.8.8"):
            with pytest.raises(InvalidAddressError):
                engine.history(form, clean=True)


def test_private_space_without_private_columns(tmp_path: Path) -> None:
    store = published(tmp_path / "store", 0, 1)
    with geolookup.open(store) as engine:
        for private in ("10.0.0.1", "10.0.0.0/8", "::ffff:10.0.0.1", "fd00::/8"):
            with pytest.raises(PrivateAddressError):
                engine.history(private)
        assert len(engine.history("0.0.0.0/0").changes) == 3
        assert engine.history("10.0.0.0/7").changes == ()  # 11.0.0.0/8 is public
