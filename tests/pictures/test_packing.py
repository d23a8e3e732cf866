"""Packed maps, and bytes and arrays as text: the inverse returns them."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from geolookup.dataset.intervals import Addresses
from geolookup.pictures.address_map import address_map
from geolookup.pictures.address_space import View, view_of
from geolookup.pictures.packing import pack, pack_within
from geolookup.pictures.page_data import deflate, pack_floats, pack_integers
from tests.pictures.random_views import views
from tests.pictures.unpacking import inflated, unpack_floats, unpack_integers


def _reader(streams: list[str]) -> list[Iterator[int]]:
    return [iter(inflated(stream)) for stream in streams]


class _Numbers:
    def __init__(self, column: dict[str, Any]) -> None:
        self._back, self._common = column["back"], column["common"]
        self._streams = _reader(column["symbols"])
        planes = [inflated(item) for item in column["rest"]]
        self._literals = iter(
            [int.from_bytes(item, "little") for item in zip(*planes, strict=True)]
        )
        self._numbers: list[int] = []
        self._symbol = 0

    def next(self, context: int | None = None) -> int:
        if context is None:
            context = min(self._symbol, self._back + 1)
        self._symbol = symbol = next(self._streams[context])
        if symbol > self._back:
            number = self._common[symbol - self._back - 1]
        else:
            number = self._numbers[-symbol - 1] if symbol else next(self._literals)
        self._numbers.append(number)
        return int(number)


def unpacked(document: dict[str, Any]) -> tuple[list[int], list[list[int]]]:
    """The first cells of the ranges, and their labels in each view; as ``unpack.js`` has them."""
    lengths = _Numbers(document["lengths"])
    starts = [0]
    for _ in range(document["ranges"] - 1):
        cell = starts[-1]
        starts.append(cell + lengths.next((cell & -cell).bit_length() - 1 if cell else 0))
    planes = [_changes(item, document["ranges"]) for item in document["changed"]]
    bits = itertools.count()
    values: list[list[int]] = []
    for view in document["views"]:
        if "follows" in view:
            values.append([view["table"][value] for value in values[view["follows"]]])
        else:
            bit = next(bits)
            values.append(_values(view["values"], [p >> bit % 8 & 1 for p in planes[bit // 8]]))
    return starts, values


def _changes(streams: list[str], count: int) -> list[int]:
    reader, actual = _reader(streams), [0]
    for _ in range(count):
        actual.append(next(reader[actual[-1]]))
    return actual[1:]


def _values(column: dict[str, Any], changes: list[int]) -> list[int]:
    numbers, actual = _Numbers(column), [0]
    for changed in changes:
        actual.append(numbers.next() if changed else actual[-1])
    return actual[1:]


@given(views)
def test_the_inverse_returns_the_map(listed: list[View]) -> None:
    shown = address_map(listed)
    assume(shown.space.blocks)
    result = pack(shown)
    starts, values = unpacked(json.loads(json.dumps(result)))
    assert starts == shown.starts.tolist()
    assert values == [value.tolist() for value in shown.values]
    labels = [inflated(view["labels"]).decode().split("\n") for view in result["views"]]
    # What ends a line in a label is a space.
    assert labels == [[" ".join(label.split()) for label in view.labels] for view in listed]


def many_labels(seed: int) -> list[View]:
    """Two views with more labels and lengths than a byte counts, and one that follows."""
    rng = random.Random(seed)
    starts = Addresses.of(4, sorted({0, *(rng.randrange(1 << 32) for _ in range(2000))}))
    names = [f"AS{number}" for number in range(70_000)]
    listed = []
    for name in ("one", "two"):
        values = np.array([rng.choice((rng.randrange(len(names)), 7, 8)) for _ in starts.low])
        listed.append(view_of(name, name, "", starts, values.astype(np.uint32), names))
    odd = (listed[0].values % 2 + 2).astype(np.uint32)
    return [*listed, view_of("odd", "odd", "", starts, odd, ["even", "odd"])]


def test_rare_numbers_are_kept() -> None:
    shown = address_map(many_labels(1))
    result = pack(shown)
    assert [view.get("follows") for view in result["views"]] == [None, None, 0]
    starts, values = unpacked(result)
    assert starts == shown.starts.tolist()
    assert values == [value.tolist() for value in shown.values]


@given(st.integers(1, 4_000))
def test_the_finest_cells_that_fit_are_kept(limit: int) -> None:
    starts = Addresses.of(4, [index * 12_345_677 for index in range(300)])
    values = (np.arange(300) % 7 + 1).astype(np.uint32)
    shown = address_map([view_of("v", "V", "", starts, values, list("abcdef"))])
    fitting, actual = pack_within(shown, limit)
    steps = shown.space.order - fitting.space.order
    assert actual == pack(shown.coarser(steps))
    assert len(json.dumps(actual)) <= limit or steps == shown.space.block_order
    assert not steps or len(json.dumps(pack(shown.coarser(steps - 1)))) > limit


_MOST = 2**30 - 1


@given(st.binary(max_size=300))
def test_the_inverse_returns_the_bytes(data: bytes) -> None:
    text = deflate(data)
    assert inflated(text) == data
    assert json.dumps(text) == f'"{text}"'
    assert not set(text) & set('<&"\\\n') - {"&"}


@given(st.lists(st.integers(-_MOST, _MOST)))
@example([-_MOST, _MOST, -_MOST])
def test_integers_come_back(values: list[int]) -> None:
    assert unpack_integers(pack_integers(np.array(values, np.int64))).tolist() == values


@given(st.lists(st.floats(0, allow_infinity=False)))
def test_floats_come_back(values: list[float]) -> None:
    assert unpack_floats(pack_floats(np.array(values, np.float64))).tolist() == values


def test_an_integer_that_does_not_fit_is_refused() -> None:
    for value in (_MOST + 1, -_MOST - 1):
        with pytest.raises(ValueError, match="outside of ±1073741823"):
            pack_integers(np.array([0, value]))
