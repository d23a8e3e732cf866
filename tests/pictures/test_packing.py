"""Bytes and arrays as text: the inverse returns them; ``reports`` unpacks maps in a browser."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.internals.dataset import Addresses
from tests.internals.pictures import address_map, deflate, pack, pack_within, view_of
from tests.pictures.unpacking import inflated
from tests.tiers import scaled


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


@given(st.binary(max_size=300))
def test_the_inverse_returns_the_bytes(data: bytes) -> None:
    text = deflate(data)
    assert inflated(text) == data
    assert json.dumps(text) == f'"{text}"'
    assert not set(text) & set('<&"\\\n') - {"&"}
