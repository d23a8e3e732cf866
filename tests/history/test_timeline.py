"""Histories equal what full copies of all generations answer."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from ipaddress import ip_address, ip_network, summarize_address_range
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.comparison.former_answers import write_former_answers
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import ClosedError, DatasetError, InvalidAddressError, PrivateAddressError
from geolookup.history.former_files import former_answers_path
from geolookup.store import pointer
from geolookup.store.pointer import Change
from tests.history import pool, slow
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
    pointer.write(store, published, dated)
    known = {entry.generation for entry in published}
    return [
        slow.Copy(pool.dataset(numbers[change.generation]), begin, end)
        for change, (begin, end) in zip(changes, pairwise(days), strict=True)
        if change.generation in known
    ]


def _as_slow(history: Any) -> list[slow.SlowChange]:
    """Return the changes of a history in the form of the slow one."""
    return [
        slow.SlowChange(
            change.before_generation,
            change.before_until,
            change.generation,
            change.since,
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
            assert history.first.since == copies[0].begin
            first = slow.answer_of(copies[0].path, address).values
            assert history.first.fields == {
                path: value for path, value in first.items() if value is not None
            }
        for prefix in prefixes:
            listed: list[slow.Address] = [*ip_network(prefix)]
            assert _as_slow(engine.history(prefix)) == slow.changes(copies, listed), prefix


def _keep_rows(store: Path) -> int:
    """Write the files of former answers of neighbours; return their number."""
    in_force = [copy.path for copy in _copies(store)]
    for old, new in pairwise(in_force):
        path = former_answers_path(
            store, read_manifest(old).generation, read_manifest(new).generation
        )
        path.parent.mkdir(exist_ok=True)
        write_former_answers(old, new, path)
    return len(in_force) - 1


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
        _keep_rows(store)
        _check(store, asked, prefixes)


@pytest.mark.long
def test_former_answers_instead_of_old_generations(tmp_path: Path, cache: Path) -> None:
    store = _store(tmp_path, [("publish", 1), ("rollback", 0), ("publish", 2), ("publish", 3)])
    geolookup.prune(store, 4)
    expected = slow.changes(_copies(store), list(ip_network("8.8.8.0/28")))
    assert len({(change.before, change.after) for change in expected}) == 4
    for path in (store / pointer.HISTORY).glob("*.former"):
        path.unlink()
    _keep_rows(store)

    def changes() -> list[slow.SlowChange]:
        with geolookup.open(store) as engine:
            return _as_slow(engine.history("8.8.8.0/28"))

    assert changes() == expected
    assert not cache.exists()  # no generation was unpacked
    files = sorted((store / pointer.HISTORY).glob("*.former"))
    files[0].write_bytes(files[1].read_bytes())  # of other generations
    files[1].write_bytes(files[1].read_bytes()[:-9])  # damaged
    files[2].unlink()
    assert changes() == expected
    assert cache.exists()


def test_as_of_an_instant(tmp_path: Path) -> None:
    store = _store(tmp_path, [("publish", 1), ("rollback", 0), ("publish", 2), ("prune", 3)])
    copies, address = _copies(store), ip_address("8.8.8.8")
    assert len(copies) == 4
    with geolookup.open(store) as engine:
        for number, copy in enumerate(copies, 1):
            with engine.as_of(copy.begin) as past:
                history = past.history(address)
                assert _as_slow(history) == slow.changes(copies[:number], [address])


def test_names_of_fields(tmp_path: Path) -> None:
    store = _store(tmp_path, [("publish", 1), ("publish", 2)])
    with geolookup.open(store) as engine:
        whole = engine.history("8.8.8.0/28")
        for names in (("asn",), (["country", "own.site"],), ("location", "own")):
            part = engine.history("8.8.8.0/28", *names)
            paths = {path for change in part.changes for path in change.fields}
            assert paths
            assert _by_address(part, paths) == _by_address(whole, paths)
            # Neighbours that changed alike are joined.
            for one, other in pairwise(part.changes):
                assert one.last != str(ip_address(other.first) - 1) or one.layers != other.layers
        assert set(engine.history("8.8.8.8", "isp").first.fields or {}) <= {"network.isp"}
        for name, problem in (("own.none", "no column"), ("time.abbr", "not stored"), ("x", "x")):
            with pytest.raises(ValueError, match=problem):
                engine.history("8.8.8.8", name)  # type: ignore[arg-type]


def _by_address(history: Any, paths: set[str]) -> set[tuple[str, str, str, str]]:
    """Return which generation changed which of some fields at each address, and how."""
    return {
        (change.generation, str(address), path, repr(pair))
        for change in history.changes
        for network in summarize_address_range(ip_address(change.first), ip_address(change.last))
        for address in network
        for path, pair in change.fields.items()
        if path in paths
    }


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
        assert engine.history("2002::/15").changes == ()  # not in space that carries IPv4
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


def test_no_store(tmp_path: Path) -> None:
    with (
        geolookup.open(pool.dataset(0)) as engine,
        pytest.raises(DatasetError, match="not a store"),
    ):
        engine.history("8.8.8.8")
    with pytest.raises(ClosedError):
        engine.history("8.8.8.8")
    store, overlay = _store(tmp_path, []), tmp_path / "overlay.csv"
    overlay.write_text("network,isp\n8.8.8.0/24,x\n", encoding="utf-8")
    with (
        geolookup.open(store, overlay=overlay) as engine,
        pytest.raises(DatasetError, match="an overlay has no history"),
    ):
        engine.history("8.8.8.8")


def test_a_damaged_generation(tmp_path: Path) -> None:
    store = _store(tmp_path, [("publish", 1)])
    manifest = store / pointer.GENERATIONS / pool.id_of(0) / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text("{}", encoding="utf-8")
    with geolookup.open(store) as engine, pytest.raises(DatasetError, match="manifest"):
        engine.history("8.8.8.8")
