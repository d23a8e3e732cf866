"""Columns as texts: the quick ways have the texts of Arrow's casts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.files import cell_texts, joined_cells, json_texts

_NUMBERS = st.none() | st.floats() | st.sampled_from([0.0, -0.0, 1.5])


def texts(array: pa.Array) -> list[str | None]:
    plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    return [None if text is None else text.decode() for text in plain.to_pylist()]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@given(values=st.lists(st.none() | st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-9, 9**11)))
def test_times_of_utc(unit: str, values: list[int | None]) -> None:
    array = pa.array(values, pa.int64()).cast(pa.timestamp(unit, "UTC"))
    wanted = array.cast(pa.large_string()).to_pylist()
    assert texts(cell_texts(array)) == wanted
    quoted = [None if text is None else f'"{text}"' for text in wanted]
    assert texts(json_texts(array)) == quoted


@given(st.lists(_NUMBERS))
def test_numbers_become_texts_once(values: list[float | None]) -> None:
    array = pa.array(values, pa.float64())
    wanted = array.cast(pa.large_string()).fill_null("").to_pylist()
    assert texts(joined_cells([array], ",")) == wanted
