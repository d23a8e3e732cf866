"""Numbers of rows: of equal tuples, of a previous dataset, and of rows that follow others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from geolookup_builder import factorize as module
from geolookup_builder.factorize import factorize
from geolookup_builder.previous_dataset import Previous, with_successors
from geolookup_builder.row_numbers import inverse, matches, numbering, reencode
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses
from tests.builder.test_reproducible import ROWS, built
from tests.property.compiled import content

_WORDS = st.none() | st.sampled_from("abcdefgh")
_FLOATS = st.none() | st.sampled_from((0.0, -0.0, 1.5, -90.0, float("inf")))
Row = tuple[str | None, float | None, int]
_ROWS = st.lists(st.tuples(_WORDS, _FLOATS, st.integers(-1, 3)), max_size=20, unique_by=repr)


@st.composite
def numbered(draw: st.DrawFn) -> list[int]:
    """The distinct former numbers of some rows, of a table that may have more; -1: new."""
    rows = draw(st.integers(0, 12))
    known = draw(st.lists(st.integers(0, 2 * rows), unique=True, max_size=rows))
    return draw(st.permutations([*known, *[-1] * (rows - len(known))]))


@given(numbered())
def test_numbers_are_kept_and_have_no_gaps(previous: list[int]) -> None:
    numbers = numbering(np.array(previous, np.int32)).tolist()
    assert sorted(numbers) == list(range(len(previous)))
    stay = [0 <= item < len(previous) for item in previous]
    assert all(new == old for new, old, stays in zip(numbers, previous, stay, strict=True) if stays)
    others = [new for new, stays in zip(numbers, stay, strict=True) if not stays]
    assert others == sorted(others)


@given(numbered())
def test_the_inverse_is_the_row_of_each_number(previous: list[int]) -> None:
    numbers = numbering(np.array(previous, np.int32))
    assert [numbers[row] for row in inverse(numbers)] == list(range(len(previous)))


def columns(rows: list[Row]) -> list[pa.Array]:
    kinds = (pa.string(), pa.float64(), pa.int32())
    return [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]


@given(_ROWS, _ROWS)
def test_matches_are_rows_with_the_same_values(previous: list[Row], rows: list[Row]) -> None:
    # By their text: 0.0 and -0.0 are equal numbers, and other values of an answer.
    number_of = {repr(row): number for number, row in enumerate(previous)}
    expected = [number_of.get(repr(row), -1) for row in rows]
    assert matches(columns(previous), columns(rows)).tolist() == expected


def test_of_equal_previous_rows_the_first_counts() -> None:
    previous = pa.array(["x", "y", "x"])
    assert matches([previous], [pa.array(["x", "z", "y"])]).tolist() == [0, -1, 1]


@given(st.lists(_WORDS, min_size=1, max_size=20), st.lists(st.sampled_from("abcdefghij")))
def test_a_dictionary_in_the_previous_order(values: list[str | None], previous: list[str]) -> None:
    column = pa.array(values, pa.string()).dictionary_encode()
    result = reencode(column, pa.array(previous, pa.string()))
    assert result.to_pylist() == values
    assert result.type == column.type
    after = result.dictionary.to_pylist()
    assert sorted(after) == sorted(column.dictionary.to_pylist())
    for value in after:
        at = previous.index(value) if value in previous else len(after)
        assert after.index(value) == at or at >= len(after)
    new = [item for item in after if item not in previous]
    assert new == [item for item in column.dictionary.to_pylist() if item not in previous]


_SIZE = 6


def previous_of(rows: list[int]) -> Previous:
    """A previous dataset whose interval at each address from 0 on has the next of these rows."""
    starts = pa.array(range(len(rows)), pa.uint32())
    columns = {"start": starts, "location": pa.array(rows, pa.uint32())}
    return Previous(None, {fmt.IPV4: pa.RecordBatch.from_pydict(columns)})


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Previous rows by address, rows of the dataset likewise, and the known rows' numbers."""
    size = draw(st.integers(1, 30))
    before = draw(st.lists(st.integers(0, _SIZE), min_size=size, max_size=size))
    after = draw(st.lists(st.integers(0, _SIZE), min_size=size, max_size=size))
    numbers = draw(st.permutations(range(_SIZE + 1)))
    known = [number if draw(st.booleans()) else -1 for number in numbers]
    return before, after, known


@given(changes())
def test_the_most_frequent_pairs_of_new_and_gone_rows(
    change: tuple[list[int], list[int], list[int]],
) -> None:
    before, after, known = change
    intervals = [(Addresses(np.arange(len(after), dtype=np.uint32)), np.array(after, np.int32))]
    result = with_successors(np.array(known, np.int32), "location", intervals, previous_of(before))
    pairs = Counter(
        (new, former)
        for new, former in zip(after, before, strict=True)
        if known[new] < 0 and former not in known
    )
    for row, (was, number) in enumerate(zip(known, result.tolist(), strict=True)):
        assert number == was or was < 0
        if was < 0 <= number:
            assert pairs[row, number] == max(pairs[row, other] for other in range(_SIZE + 1))
        elif was < 0:  # each of its most frequent rows went to another one, at least as frequent
            most = max(pairs[row, other] for other in range(_SIZE + 1))
            taken = {at: new for new, at in enumerate(result.tolist())}
            best = [at for at in range(_SIZE + 1) if most and pairs[row, at] == most]
            assert not most or any(at in taken and pairs[taken[at], at] >= most for at in best)
    used = [value for value in result.tolist() if value >= 0]
    assert len(used) == len(set(used))


def test_corrected_rows_leave_the_intervals_as_they_are(tmp_path: Path) -> None:
    """Among new rows that are used more, and rows that are gone."""
    previous = built(tmp_path / "previous", ROWS)
    corrected = [(*row[:2], row[2].replace("City", "Town"), row[3]) for row in ROWS]
    dataset = built(tmp_path / "d", corrected, previous)
    for name in (fmt.IPV4, fmt.IPV6, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE):
        assert content(dataset)[name] == content(previous)[name]
    many = [(f"9.{at}.0.0/24", "CH", "Zürich", 1) for at in range(30)]
    dataset = built(tmp_path / "more", corrected + many, previous)
    assert content(dataset)[fmt.IPV6] == content(previous)[fmt.IPV6]


#: Two keys of 64 bits, which are mixed.
COLUMNS: list[NDArray[Any]] = [
    np.array([1, 2, 1, 2, 1 << 62], np.int64),
    np.array([0, 0, 0, 9, 9], np.uint8),
]
NUMBERS = [0, 1, 0, 2, 3]


def test_collisions_are_found_or_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    mix, attempts = module._mix, []

    def colliding(columns: Sequence[NDArray[Any]], attempt: int) -> NDArray[np.uint64]:
        attempts.append(attempt)
        return mix(columns, attempt) % np.uint64(2 if attempt < 3 else 1 << 63)

    monkeypatch.setattr(module, "_mix", colliding)
    codes, first = factorize(COLUMNS)
    assert codes.tolist() == NUMBERS
    assert first.tolist() == [0, 1, 3, 4]
    assert attempts == [0, 1, 2, 3]
    monkeypatch.setattr(module, "_mix", lambda columns, _: np.zeros(len(columns[0]), np.uint64))
    with pytest.raises(AssertionError, match="64 different hashes collided"):
        factorize(COLUMNS)


def test_every_width() -> None:
    for kind in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64):
        bounds = np.iinfo(kind)
        column = np.array([bounds.max, bounds.min, bounds.max, 1], kind)
        assert factorize([column])[0].tolist() == [0, 1, 0, 2], kind
    assert factorize([np.zeros(3, np.int8)])[0].tolist() == [0, 0, 0]
    ends = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1]
    column = np.array(ends, np.uint64)
    assert factorize([column, column])[0].tolist() == [0, 1, 2, 3, 4, 1]


@given(rows=st.lists(st.tuples(*[st.integers(-3, 3)] * 3)))
def test_tuples_are_numbered_as_they_appear(rows: list[tuple[int, ...]]) -> None:
    """Values of few bits are an index, of 64 bits or less one key, of more several."""
    for width, wide in ((1, 1), (3, 1), (3, 1 << 30), (3, 1 << 40), (3, 1 << 61)):
        columns = [np.array([row[at] for row in rows], np.int64) * wide for at in range(width)]
        firsts = [row[:width] for row in rows]
        listed = list(dict.fromkeys(firsts))
        codes, first = factorize(columns)
        assert codes.tolist() == [listed.index(row) for row in firsts]
        assert first.tolist() == [firsts.index(row) for row in listed]
        assert codes.dtype == np.int32
