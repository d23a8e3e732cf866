"""The rows of keys: the same as Arrow finds among all keys, in every batch."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from geolookup_builder.sources.reading.key_index import KeyIndex
from hypothesis import given, settings
from hypothesis import strategies as st

NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-5, 5)
#: The usual texts of numbers, and others of the same number or of none.
TEXTS = NUMBERS.map(str) | st.sampled_from(["007", "-0", "+1", " 1", "1 ", "0x1", "", "1.0", "é"])


@given(st.lists(NUMBERS.map(str)) | st.lists(TEXTS), st.lists(TEXTS) | st.lists(NUMBERS.map(str)))
@settings(max_examples=100)
def test_as_arrow_finds_them(keys: list[str], texts: list[str]) -> None:
    keys, sought = [*keys, *texts[:2]], pa.array([*texts, *keys[::2]], pa.string())
    index = KeyIndex(pa.array(keys, pa.string()))
    assert index.rows(sought).equals(pc.index_in(sought, pa.array(keys, pa.string())))
