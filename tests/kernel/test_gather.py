"""Columns of row-major tables: both kernels make the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.kernel import kernel
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import compiled, needs_compiled

GATHERERS = [kernel.gather, kernel_python.gather]
#: (number, first byte, width) of columns in rows of 40 bytes.
LANES = [(0, 8, 8), (63, 16, 8), (2, 24, 4), (3, 30, 2), (9, 32, 4)]
STRIDE = 40
Lane = tuple[int, int, int]


def gathered(
    gather: Any, table: Any, rows: Any, lanes: Sequence[Lane] = LANES
) -> tuple[int, list[bytes], list[bytes]]:
    """Return the union of the nulls, and the values and the validity of each lane."""
    values = [np.full(len(rows) * width, 7, np.uint8) for _, _, width in lanes]
    validity = [np.full((len(rows) + 7) // 8, 7, np.uint8) for _ in lanes]
    nulls = gather(table, rows, list(lanes), values, validity)
    return nulls, [value.tobytes() for value in values], [flag.tobytes() for flag in validity]


def expected(table: Any, rows: Any) -> tuple[int, list[bytes], list[bytes]]:
    """Return the same, row by row."""
    words = [int.from_bytes(table[row, :8].tobytes(), "little") for row in rows]
    union = 0
    for word in words:
        union |= word
    values, validity = [], []
    for number, begin, width in LANES:
        values.append(b"".join(table[row, begin : begin + width].tobytes() for row in rows))
        bits = sum((~word >> number & 1) << at for at, word in enumerate(words))
        validity.append(bits.to_bytes((len(rows) + 7) // 8, "little"))
    return union, values, validity


@pytest.mark.parametrize("gather", GATHERERS)
@given(st.integers(0, 1 << 32), st.integers(0, 200), st.sampled_from([0.0, 0.01, 0.5, 1.0]))
def test_equal_to_a_loop(gather: Any, seed: int, count: int, share: float) -> None:
    """Counts around the blocks of the compiled kernel, with no nulls, some, and nulls only."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 256, (50, STRIDE)).astype(np.uint8)
    table[rng.random(50) >= share, :8] = 0
    rows = rng.integers(0, 50, count).astype(np.uint32)
    assert gathered(gather, table, rows) == expected(table, rows)


@pytest.mark.parametrize("gather", GATHERERS)
def test_rows_outside_are_refused(gather: Any) -> None:
    table = np.zeros((3, STRIDE), np.uint8)
    for row in (3, 1 << 31, (1 << 32) - 1):
        with pytest.raises(IndexError):
            gathered(gather, table, np.array([0, 2, row], np.uint32))


@needs_compiled
def test_lanes_and_outputs_outside_are_refused() -> None:
    table, rows = np.zeros((3, STRIDE), np.uint8), np.zeros(4, np.uint32)
    for lane in ((0, 36, 8), (0, -1, 4), (0, 40, 2), (0, 8, 3), (64, 8, 4)):
        with pytest.raises(ValueError, match="outside the row"):
            gathered(compiled.gather, table, rows[:1], [lane])
    for size, bits in ((15, 1), (16, 0), (17, 1), (16, 2)):
        outputs = [np.empty(size, np.uint8)], [np.empty(bits, np.uint8)]
        with pytest.raises(ValueError, match="differ in length"):
            compiled.gather(table, rows, [(0, 8, 4)], *outputs)
