"""Tuples of numbers are numbered as they appear, whatever their widths and hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from geolookup_builder import factorize as module
from geolookup_builder.factorize import factorize
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

#: Two keys of 64 bits, which are mixed.
COLUMNS: list[NDArray[Any]] = [
    np.array([1, 2, 1, 2, 1 << 62], np.int64),
    np.array([0, 0, 0, 9, 9], np.uint8),
]
NUMBERS = [0, 1, 0, 2, 3]


def test_collisions_are_found_or_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    mix, attempts = module.mix, list[int]()

    def colliding(columns: Sequence[NDArray[Any]], attempt: int) -> NDArray[np.uint64]:
        attempts.append(attempt)
        return mix(columns, attempt) % np.uint64(2 if attempt < 3 else 1 << 63)

    monkeypatch.setattr(module, "mix", colliding)
    codes, first = factorize(COLUMNS)
    assert codes.tolist() == NUMBERS
    assert first.tolist() == [0, 1, 3, 4]
    assert attempts == [0, 1, 2, 3]
    monkeypatch.setattr(module, "mix", lambda columns, _: np.zeros(len(columns[0]), np.uint64))
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
