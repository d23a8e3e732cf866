"""Packed arrays come back as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures.numbers import pack_floats, pack_integers, unpack_floats, unpack_integers


@given(st.lists(st.integers(-(2**30), 2**30)))
def test_integers_come_back(values: list[int]) -> None:
    assert unpack_integers(pack_integers(np.array(values, np.int64))).tolist() == values


@given(st.lists(st.floats(0, allow_infinity=False)))
def test_floats_come_back(values: list[float]) -> None:
    assert unpack_floats(pack_floats(np.array(values, np.float64))).tolist() == values


@pytest.mark.parametrize("value", [2**30 + 1, -(2**30) - 1])
def test_an_integer_that_does_not_fit_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        pack_integers(np.array([0, value]))
