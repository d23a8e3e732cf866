"""Whole columns of texts: each row judged exactly as the scalar parser judges it.

Columns are long and mixed, so that a row's neighbours (of other lengths and
kinds) cannot leak into it, and longer than the chunks they are cut into.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.contract.address import IPV6_MAX, parse_text
from geolookup.dataset.address_columns import (
    CHUNK,
    I64,
    U8,
    Addresses,
    parse,
    parse_integers,
    shift_left,
)
from geolookup.errors import InvalidAddressError
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.strategies import SEEDS, mutated, texts


def encoded(text: str) -> bytes:
    # As a text column may hold them: surrogates are no UTF-8, but must not be an address.
    return text.encode("utf-8", "surrogatepass")


def laid_out(rows: Sequence[str], between: bytes = b"") -> tuple[U8, I64, I64]:
    """Return texts as one buffer, starts and lengths; ``between`` lies between the texts."""
    parts = [encoded(text) for text in rows]
    lengths = np.array([len(part) for part in parts], np.int64)
    steps = lengths + len(between)
    starts = np.cumsum(steps) - steps
    return np.frombuffer(between.join(parts) or b"\0", np.uint8), starts, lengths


def scalar(text: str) -> tuple[int, int]:
    try:
        return parse_text(text)
    except InvalidAddressError:
        return 0, 0


def as_pairs(found: Addresses) -> list[tuple[int, int]]:
    columns = found.family.tolist(), found.high.tolist(), found.low.tolist()
    return [(family, high << 64 | low) for family, high, low in zip(*columns, strict=True)]


def check(rows: Sequence[str], between: bytes = b"") -> list[tuple[int, int]]:
    found = as_pairs(parse(*laid_out(rows, between)))
    expected = [scalar(text) for text in rows]
    differing = [each for each in zip(rows, found, expected, strict=True) if each[1] != each[2]]
    assert not differing
    return found


@pytest.mark.parametrize("between", [b"", b"1", b":", b".", b"f", b"\0", b"::1"])
def test_hand_picked(between: bytes) -> None:
    check([*VALID_IPV4, *VALID_IPV6, *INVALID], between)


@pytest.mark.parametrize("kept", [VALID_IPV4, tuple(VALID_IPV6), INVALID])
def test_hand_picked_one_at_a_time(kept: tuple[str, ...]) -> None:
    """A column of one row has no longer neighbour to make room for it."""
    for text in kept:
        check([text])


@given(st.lists(texts, max_size=30))
def test_random_columns(rows: list[str]) -> None:
    check(rows)


def test_mutated_texts() -> None:
    rng = random.Random(2)
    rows = [mutated(rng, rng.choice(SEEDS)) for _ in range(100_000)]
    found = check(rows)
    assert len(rows) > 3 * CHUNK
    # All three kinds are there in number, or nothing was tested.
    families = [family for family, _ in found]
    assert min(families.count(family) for family in (0, 4, 6)) > 2_000


def test_addresses_of_every_shape() -> None:
    rng = random.Random(3)
    rows = [".".join(str(rng.randrange(256)) for _ in range(4)) for _ in range(5_000)]
    for _ in range(20_000):
        groups = [f"{rng.getrandbits(rng.choice((1, 4, 8, 16))):x}" for _ in range(8)]
        begin = rng.randrange(9)
        end = rng.randint(begin, 8)
        rows.append(":".join(groups[:begin]) + "::" + ":".join(groups[end:]))
        rows.append(":".join(groups))
    found = check(rows)
    # "::" for no group at all is the one thing here that is no address.
    assert 0.85 < sum(family > 0 for family, _ in found) / len(rows) < 1


def test_no_rows_and_empty_rows() -> None:
    assert as_pairs(parse(*laid_out([]))) == []
    assert as_pairs(parse(*laid_out(["", "", ""]))) == [(0, 0)] * 3


@pytest.mark.parametrize("size", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1])
def test_ends_of_chunks(size: int) -> None:
    rows = ["1.2.3.4", "x", "2001:db8::1"] * (size // 3 + 1)
    assert as_pairs(parse(*laid_out(rows[:size]))) == [scalar(text) for text in rows[:size]]


def scalar_integer(text: str) -> int | None:
    good = text.isascii() and text.isdigit() and len(text) <= len(str(IPV6_MAX))
    return int(text) if good and int(text) <= IPV6_MAX else None


def check_integers(rows: Sequence[str]) -> None:
    high, low, good = (column.tolist() for column in parse_integers(*laid_out(rows)))
    values = zip(high, low, good, strict=True)
    found = [top << 64 | rest if ok else None for top, rest, ok in values]
    assert found == [scalar_integer(text) for text in rows]


@given(
    st.lists(
        st.integers(0, 1 << 130).map(str)
        | st.integers(0, 128).flatmap(
            lambda bits: st.integers(-2, 2).map(lambda d: str(2**bits + d))
        )
        | st.text("0123456789+-_. x\xe9\u0661", max_size=42)
    )
)
def test_integers(rows: list[str]) -> None:
    check_integers(rows)


def test_integers_at_the_limits() -> None:
    edges = [
        (1 << bits) + step for bits in (0, 32, 63, 64, 65, 127, 128, 129) for step in (-1, 0, 1)
    ]
    tens = [10**power for power in range(41)]
    check_integers([str(each) for each in edges + tens])
    check_integers(["0", "00", "007", "0" * 39, "0" * 40, "", "-1", "+1", "1 ", " 1", "1_0", "1.0"])
    check_integers([str(IPV6_MAX - 5 + step) for step in range(CHUNK + 10)])


@given(st.integers(0, IPV6_MAX), st.integers(0, 128))
def test_shift_left(value: int, bits: int) -> None:
    halves = np.array([[value >> 64], [value & 0xFFFF_FFFF_FFFF_FFFF]], np.uint64)
    high, low = shift_left(halves[0], halves[1], np.array([bits], np.int64))
    assert int(high[0]) << 64 | int(low[0]) == value << bits & IPV6_MAX
