"""Rows and values keep the numbers of the base, and the numbers have no gaps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from geolookup_builder.numbering import inverse, kept, matches, reencoded
from hypothesis import given
from hypothesis import strategies as st

_WORDS = st.none() | st.sampled_from("abcdefgh")
_FLOATS = st.none() | st.sampled_from((0.0, -0.0, 1.5, -90.0, float("inf")))
Row = tuple[str | None, float | None, int]
_ROWS = st.lists(st.tuples(_WORDS, _FLOATS, st.integers(-1, 3)), max_size=20, unique_by=repr)


@st.composite
def numbered(draw: st.DrawFn) -> list[int]:
    """The distinct numbers of some rows in a base, which may have more rows; -1: not in it."""
    rows = draw(st.integers(0, 12))
    known = draw(st.lists(st.integers(0, 2 * rows), unique=True, max_size=rows))
    return draw(st.permutations([*known, *[-1] * (rows - len(known))]))


@given(numbered())
def test_numbers_are_kept_and_have_no_gaps(base: list[int]) -> None:
    numbers = kept(np.array(base, np.int32)).tolist()
    assert sorted(numbers) == list(range(len(base)))
    stay = [0 <= each < len(base) for each in base]
    assert all(new == old for new, old, stays in zip(numbers, base, stay, strict=True) if stays)
    others = [new for new, stays in zip(numbers, stay, strict=True) if not stays]
    assert others == sorted(others)


@given(numbered())
def test_the_inverse_is_the_row_of_each_number(base: list[int]) -> None:
    numbers = kept(np.array(base, np.int32))
    assert [numbers[row] for row in inverse(numbers)] == list(range(len(base)))


def columns(rows: list[Row]) -> list[pa.Array]:
    kinds = (pa.string(), pa.float64(), pa.int32())
    return [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]


@given(_ROWS, _ROWS)
def test_matches_are_rows_with_the_same_values(
    base: list[Row],
    rows: list[Row],
) -> None:
    # By their text: 0.0 and -0.0 are equal numbers, and other values of an answer.
    place = {repr(row): number for number, row in enumerate(base)}
    expected = [place.get(repr(row), -1) for row in rows]
    assert matches(columns(base), columns(rows)).tolist() == expected


def test_of_equal_rows_of_the_base_the_first_counts() -> None:
    base = pa.array(["x", "y", "x"])
    assert matches([base], [pa.array(["x", "z", "y"])]).tolist() == [0, -1, 1]


@given(st.lists(_WORDS, min_size=1, max_size=20), st.lists(st.sampled_from("abcdefghij")))
def test_a_dictionary_in_the_order_of_the_base(values: list[str | None], base: list[str]) -> None:
    column = pa.array(values, pa.string()).dictionary_encode()
    found = reencoded(column, pa.array(base, pa.string()))
    assert found.to_pylist() == values
    assert found.type == column.type
    after = found.dictionary.to_pylist()
    assert sorted(after) == sorted(column.dictionary.to_pylist())
    for value in after:
        at = base.index(value) if value in base else len(after)
        assert after.index(value) == at or at >= len(after)
    new = [each for each in after if each not in base]
    assert new == [each for each in column.dictionary.to_pylist() if each not in base]
