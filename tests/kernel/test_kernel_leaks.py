"""The kernel's ways in for whole columns, and its opening and closing, keep no reference.

Blocks of Python's allocator, references of the arrays that are lent, and objects that the
collector knows are counted around many calls: one lost at each call would be thousands.

Python's cache of attributes is emptied before: it keeps up to 4,096 names that C code made for one
call, such as the "utcoffset" of each ``datetime.astimezone``.
"""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import geolookup
from tests.kernel.test_locate import DATASET, STATES
from tests.tiers import scaled

CALLS = scaled(80, 1000)
TEXTS = (b"8.8.8.8", b"2001:4860:4860::8888", b"::ffff:1.1.1.1", b"10.0.0.1", b"nonsense", b"")
LETTERS = np.frombuffer(b"".join(TEXTS), np.uint8).copy()
OFFSETS = np.cumsum([0, *map(len, TEXTS)]).astype(np.int64)
COUNT = len(TEXTS)
ROWS, FAMILIES = np.empty(COUNT, np.int32), np.empty(COUNT, np.uint8)
HALVES = np.array([8, 1 << 31, 0, 7, 1 << 40, 3], np.uint64)
NUMBERED = np.array([4, 4, 6, 6, 0, 6], np.uint8)
TAKEN = np.zeros(COUNT, np.uint32)
MANY: list[object] = ["8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "x", 5] * 6
LENT = (LETTERS, OFFSETS, ROWS, FAMILIES, HALVES, NUMBERED, TAKEN)
NOWHERE = np.full(COUNT, len(DATASET.ipv4_starts) + len(DATASET.ipv6_highs), np.int32)
ASKS: dict[str, Callable[[Any], None]] = {
    "texts": lambda state: state.locate_texts(LETTERS, OFFSETS, ROWS, FAMILIES),
    "texts outside": lambda state: state.locate_texts(LETTERS, OFFSETS * 9, ROWS, FAMILIES),
    "numbers": lambda state: state.locate_numbers(NUMBERED, HALVES, HALVES, ROWS),
    "rows": lambda state: state.take_rows(np.arange(COUNT, dtype=np.int32), TAKEN, TAKEN),
    "no such rows": lambda state: state.take_rows(NOWHERE, TAKEN, TAKEN),
    "many as dicts": lambda state: state.envelopes(MANY, 0),
    "many as JSON": lambda state: state.envelopes_json(MANY, 0),
    "many values": lambda state: state.values(MANY, ("ip", "location", "network.isp"), 0),
    "many without instants": lambda state: state.envelopes_json(MANY, []),
    "lines": lambda state: state.lines().add(MANY, 0),
    "other types": lambda state: state.locate_texts(None, OFFSETS, ROWS, FAMILIES),
}
#: The second name is of Python 3.13 and later.
clear_attributes = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """Objects of earlier tests are out of the collector's sight: it is fast."""
    gc.freeze()
    yield
    gc.unfreeze()


def kept(call: Callable[[], object], calls: int) -> tuple[int, int, int]:
    """Return how many blocks, references to arguments, and objects are left of many calls."""

    def now() -> tuple[int, int, int]:
        clear_attributes()
        gc.collect()
        references = sum(map(sys.getrefcount, (*LENT, DATASET)))
        return sys.getallocatedblocks(), references, len(gc.get_objects())

    for _ in range(scaled(40, 100)):
        call()
    before = now()
    for _ in range(calls):
        call()
    blocks, references, objects = (b - a for a, b in zip(before, now(), strict=True))
    return blocks, references, objects


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("state", STATES)
def test_columns_keep_nothing(state: object, name: str) -> None:
    def call() -> None:
        with suppress(IndexError, TypeError, ValueError, AttributeError, geolookup.DatasetError):
            ASKS[name](state)

    assert max(kept(call, CALLS)) < CALLS // 4


@pytest.mark.long
@pytest.mark.parametrize(
    "way", ["lookup", "lookup_json", "explain", "get", "no field", "no instant"]
)
def test_single_lookups_keep_nothing(way: str) -> None:
    def call() -> None:
        for ip in MANY:
            with suppress(geolookup.errors.ContractError, KeyError, TypeError, ValueError):
                ways[way](ip)

    with geolookup.open() as engine:
        ways: dict[str, Callable[[Any], object]] = {
            "lookup": lambda ip: engine.lookup(ip, at=0),
            "lookup_json": lambda ip: engine.lookup_json(ip, at=0),
            "explain": engine.explain,
            "get": lambda ip: engine.get(ip, "network.isp", at=0),
            "no field": lambda ip: engine.get(ip, "nothing"),  # type: ignore[call-overload]
            "no instant": lambda ip: engine.lookup_json(ip, at="noon"),
        }
        assert max(kept(call, CALLS)) < CALLS // 4


@pytest.mark.long
@pytest.mark.parametrize("ip", ["8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "x"])
def test_answers_come_and_go(ip: str) -> None:
    engine = geolookup.open()

    def call() -> None:
        answer = engine.answer(ip, at=0)
        for item in (answer, pickle.loads(pickle.dumps(answer))):  # noqa: S301
            views = (item.location, item.time, item.currency, item.network)
            repr((item, views, item.ip, item.ip_type, item.prefix, item.to_dict()))
            with suppress(AttributeError):
                getattr(item.location, "country")  # noqa: B009 - type checkers refuse the name

    assert max(kept(call, 500)) < 250  # caches of Python vary by about a hundred


def test_engines_come_and_go() -> None:
    def call() -> None:
        with geolookup.open() as engine:
            engine.lookup("8.8.8.8", at=0)
            engine.lookup_json("2001:4860:4860::8888", at=0)
        with suppress(geolookup.errors.ClosedError):
            engine.lookup("8.8.8.8")

    assert max(kept(call, scaled(60, 200))) < scaled(30, 50)


def test_a_reference_that_is_kept_is_seen() -> None:
    keeping: list[object] = []
    blocks, references, _ = kept(lambda: keeping.extend((LETTERS, object())), CALLS)
    assert min(blocks, references) >= CALLS
