"""Columns give the same interval ids as single addresses, and rows as a loop, in both kernels."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup import errors
from tests.damage import crowded
from tests.datasets import SMALL
from tests.internals.contract import embedded_ipv4, is_private, parse_text
from tests.internals.dataset import Dataset
from tests.internals.kernel import INVALID_ID, PRIVATE_ID, kernel
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import compiled, needs_compiled
from tests.near_addresses import interval_starts
from tests.tiers import scaled
from tests.walk import rows_at

DATASET = Dataset(SMALL)
COMPILED, REFERENCE = kernel.State(DATASET), kernel_python.State(DATASET)
STATES = [COMPILED, REFERENCE]
#: Bytes that may follow a text: a parser that reads beyond its end would parse them.
SUFFIXES = (
    *(b"", b"0", b"5", b".", b":", b"f", b".1.2.3.4:5::6"),
    *(b"1" * 64, b"\xff" * 64, b"\0" * 64),
)


def located(state: Any, letters: bytes, offsets: list[int]) -> list[tuple[int, int]]:
    """Return (row, family) of the texts between offsets; the buffer ends where the texts end."""
    count = len(offsets) - 1
    rows, families = np.full(count, 77, np.int32), np.full(count, 77, np.uint8)
    data = np.frombuffer(letters, np.uint8).copy()
    state.locate_texts(data, np.array(offsets, np.int64), rows, families)
    return list(zip(rows.tolist(), families.tolist(), strict=True))


def column(state: Any, texts: list[bytes], suffix: bytes = b"") -> list[tuple[int, int]]:
    offsets = np.cumsum([0, *map(len, texts)]).tolist()
    return located(state, b"".join(texts) + suffix, offsets)


def single(text: bytes) -> tuple[int, int]:
    """Return the interval id and family of a text, by the single parser and the single search."""
    try:
        family, value = parse_text(text.decode("utf-8", "surrogatepass"))
    except (errors.InvalidAddressError, UnicodeDecodeError):
        return INVALID_ID, 0
    return single_number(family, value), family


def single_number(family: int, value: int) -> int:
    carried = embedded_ipv4(value) if family == 6 else None
    family, value = (family, value) if carried is None else (4, carried)
    if is_private(family, value):
        return PRIVATE_ID
    before = 0 if family == 4 else len(DATASET.ipv4_starts)
    return DATASET.starts(family).interval(value) + before


def encoded(texts: Iterable[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def test_every_octet_and_group_text() -> None:
    octets = {f"{n:0{width}}" for width in (1, 2, 3) for n in range(1000)}
    texts = [
        pattern.format(octet)
        for octet in octets
        for pattern in ("{}.9.9.9", "9.{}.9.9", "9.9.{}.9", "9.9.9.{}")
    ]
    texts += [f"2a00:{n:x}:{n:04X}::{n:x}" for n in range(0, 1 << 16, scaled(7, 1))]
    result = column(COMPILED, encoded(texts))
    assert result == column(REFERENCE, encoded(texts)) == list(map(single, encoded(texts)))


@pytest.mark.parametrize("whole", ["123.45.6.78", "255.255.255.255", "2a00:1450:4001:82b::200e"])
def test_every_byte_at_every_place(whole: str) -> None:
    text = whole.encode()
    texts = [
        text[:at] + bytes([byte]) + text[at + skip :]
        for at in range(len(text) + 1)
        for byte in range(256)
        for skip in (0, 1)
    ]
    expected = list(map(single, texts))
    assert column(COMPILED, texts, b"7" * 64) == expected
    # One by one as well: each then stands at the end of the buffer.
    assert [column(COMPILED, [text])[0] for text in texts] == expected


@pytest.mark.parametrize("state", STATES)
def test_no_texts_and_offsets_outside_the_letters(state: Any) -> None:
    far = [1 << 62, (1 << 62) + 7], [-(1 << 63), (1 << 63) - 1]
    for offsets in ([-1, 3], [0, -1], [5, 2], [0, 8], [8, 9], *far):
        assert located(state, b"1.2.3.4", offsets) == [(INVALID_ID, 0)], offsets
    assert column(state, []) == []
    assert column(state, [b"", b""]) == [(INVALID_ID, 0)] * 2


@pytest.mark.parametrize("state", STATES)
def test_numbers_around_every_interval(state: Any) -> None:
    rng = random.Random(8)
    numbers = []
    for family, starts in zip((4, 6), interval_starts(DATASET), strict=True):
        top = (1 << (32 if family == 4 else 128)) - 1
        near = {start + step for start in starts for step in (-1, 0, 1, 1 << 64, -(1 << 64))}
        numbers += [(family, value) for value in near if 0 <= value <= top]
    rng.shuffle(numbers)
    families = np.array([family for family, _ in numbers], np.uint8)
    highs = np.array([value >> 64 for _, value in numbers], np.uint64)
    lows = np.array([value & (1 << 64) - 1 for _, value in numbers], np.uint64)
    rows = np.empty(len(numbers), np.int32)
    state.locate_numbers(families, highs, lows, rows)
    assert rows.tolist() == [single_number(*number) for number in numbers]


def test_many_intervals_close_together() -> None:
    texts = [f"20.0.{a}.{b}" for a in range(2) for b in range(256)]
    texts += [f"2a00:1::{at:x}" for at in range(500)]
    texts += [f"2a00:1:0:{at:x}::{low}" for at in range(310) for low in ("", "1", "ffff:0:0:0")]
    states = [kind(Dataset(crowded())) for kind in (kernel.State, kernel_python.State)]
    first, second = (column(state, encoded(texts)) for state in states)
    assert first == second
    assert len(set(first)) > 500


@pytest.mark.parametrize("state", STATES)
def test_rows_are_taken_from_both_tables_or_one(state: Any) -> None:
    ipv4, count = len(DATASET.ipv4_starts), len(DATASET.ipv4_starts) + len(DATASET.ipv6_highs)
    known = [
        rows_at(DATASET, 6, row - ipv4) if row >= ipv4 else rows_at(DATASET, 4, row)
        for row in range(count)
    ]
    ids = [*range(count), INVALID_ID, PRIVATE_ID]
    random.Random(9).shuffle(ids)
    expected = [(0, 0) if row < 0 else known[row] for row in ids]
    rows, none = np.array(ids, np.int32), np.empty(0, np.uint32)
    both, one = np.full((2, len(ids)), 77, np.uint32), np.full((2, len(ids)), 77, np.uint32)
    state.take_rows(rows, *both)
    assert list(zip(*both.tolist(), strict=True)) == expected
    state.take_rows(rows, one[0], none)
    state.take_rows(rows, none, one[1])
    assert one.tolist() == both.tolist()
    state.take_rows(rows, none, none)
    out = np.empty(3, np.uint32)
    for row in (count, (1 << 31) - 1):
        for columns in ((out, out), (out, out[:0]), (out[:0], out)):
            with pytest.raises(IndexError, match=f"interval id {row} does not exist"):
                state.take_rows(np.array([0, row, 1], np.int32), *columns)


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
