"""Bytes and arrays as text: the inverse returns them, and no character needs an escape."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.pictures.deflate import deflated, inflated
from geolookup.pictures.numbers import pack_floats, pack_integers, unpack_floats, unpack_integers

_MOST = 2**30 - 1


@given(st.binary(max_size=300))
def test_the_inverse_returns_the_bytes(data: bytes) -> None:
    text = deflated(data)
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
        with pytest.raises(ValueError, match="outside"):
            pack_integers(np.array([0, value]))
