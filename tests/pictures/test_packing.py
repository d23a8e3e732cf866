"""Bytes and arrays as text: the inverse returns them; ``reports`` unpacks maps in a browser."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geolookup.dataset.intervals import Addresses
from geolookup.pictures.address_map import address_map
from geolookup.pictures.address_space import View, view_of
from geolookup.pictures.packing import pack, pack_within
from geolookup.pictures.page_data import deflate, pack_floats, pack_integers
from tests.pictures.unpacking import inflated, unpack_floats, unpack_integers
from tests.tiers import scaled


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


@settings(max_examples=scaled(6, 40))
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


@given(st.lists(st.integers(-_MOST, _MOST)), st.lists(st.floats(0, allow_infinity=False)))
@example([-_MOST, _MOST, -_MOST], [])
def test_numbers_come_back(values: list[int], floats: list[float]) -> None:
    assert unpack_integers(pack_integers(np.array(values, np.int64))).tolist() == values
    assert unpack_floats(pack_floats(np.array(floats, np.float64))).tolist() == floats
    for value in (_MOST + 1, -_MOST - 1):
        with pytest.raises(ValueError, match="outside of ±1073741823"):
            pack_integers(np.array([0, value]))
