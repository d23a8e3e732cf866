"""Bytes as text: the inverse returns them, and no character needs an escape."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures.deflate import ALPHABET, deflated, inflated


@given(st.binary(max_size=300))
def test_the_inverse_returns_the_bytes(data: bytes) -> None:
    text = deflated(data)
    assert inflated(text) == data
    assert json.dumps(text) == f'"{text}"'
    assert not set(text) & set('<&"\\\n') - {"&"}


def test_two_characters_hold_13_bits() -> None:
    assert len(set(ALPHABET)) == 91
    assert 91**2 >= 2**13
