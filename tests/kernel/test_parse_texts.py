"""Columns of texts to integers: both kernels as the scalar parser, wherever a text lies.

Columns are long and mixed, so that a row's neighbours (of other lengths and kinds) cannot leak
into it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup import kernel
from geolookup.contract.address import parse_text
from geolookup.dataset.files import Dataset
from geolookup.errors import InvalidAddressError
from geolookup.kernel import python as kernel_python
from geolookup.kernel.columns import parse
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.datasets import SMALL
from tests.near_addresses import near_addresses
from tests.strategies import SEEDS, mutated, texts
from tests.text_columns import laid_out
from tests.tiers import scaled

PARSERS = [kernel.parse_texts, kernel_python.parse_texts]


def parsed(parse_texts: Any, data: bytes, starts: Any, lengths: Any) -> list[tuple[int, int]]:
    """Return (family, value) of each text; (0, 0) for one that is no address."""
    count = len(starts)
    families = np.full(count, 7, np.uint8)
    highs, lows = np.full(count, 7, np.uint64), np.full(count, 7, np.uint64)
    columns = (np.array(column, np.int64) for column in (starts, lengths))
    parse_texts(np.frombuffer(data, np.uint8), *columns, families, highs, lows)
    values = zip(highs.tolist(), lows.tolist(), strict=True)
    return [
        (family, high << 64 | low)
        for family, (high, low) in zip(families.tolist(), values, strict=True)
    ]


def scalar(text: str) -> tuple[int, int]:
    try:
        return parse_text(text)
    except InvalidAddressError:
        return 0, 0


def check(parse_texts: Any, rows: Sequence[str], between: bytes = b"") -> list[tuple[int, int]]:
    data, starts, lengths = laid_out(rows, between)
    found = parsed(parse_texts, data.tobytes(), starts, lengths)
    expected = [scalar(text) for text in rows]
    differing = [each for each in zip(rows, found, expected, strict=True) if each[1] != each[2]]
    assert not differing
    return found


@pytest.mark.parametrize("parse_texts", PARSERS)
@pytest.mark.parametrize("between", [b"", b"1", b":", b".", b"f", b"\0", b"::1"])
def test_hand_picked(parse_texts: Any, between: bytes) -> None:
    check(parse_texts, [*VALID_IPV4, *VALID_IPV6, *INVALID], between)


@pytest.mark.parametrize("parse_texts", PARSERS)
@pytest.mark.parametrize("kept", [VALID_IPV4, tuple(VALID_IPV6), INVALID])
def test_hand_picked_one_at_a_time(parse_texts: Any, kept: tuple[str, ...]) -> None:
    """A column of one row has no longer neighbour to make room for it."""
    for text in kept:
        check(parse_texts, [text])


@given(st.lists(texts, max_size=30))
def test_random_columns(rows: list[str]) -> None:
    for parse_texts in PARSERS:
        check(parse_texts, rows)


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_mutated_texts(parse_texts: Any) -> None:
    rng = random.Random(2)
    rows = [mutated(rng, rng.choice(SEEDS)) for _ in range(scaled(40_000, 100_000))]
    found = check(parse_texts, rows)
    # All three kinds are there in number, or nothing was tested.
    families = [family for family, _ in found]
    assert min(families.count(family) for family in (0, 4, 6)) > len(rows) // 50


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_addresses_of_every_shape(parse_texts: Any) -> None:
    rng = random.Random(3)
    rows = [".".join(str(rng.randrange(256)) for _ in range(4)) for _ in range(5_000)]
    for _ in range(20_000):
        groups = [f"{rng.getrandbits(rng.choice((1, 4, 8, 16))):x}" for _ in range(8)]
        begin = rng.randrange(9)
        end = rng.randint(begin, 8)
        rows.append(":".join(groups[:begin]) + "::" + ":".join(groups[end:]))
        rows.append(":".join(groups))
    found = check(parse_texts, rows)
    # "::" for no group at all is the one thing here that is no address.
    assert 0.85 < sum(family > 0 for family, _ in found) / len(rows) < 1


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_near_addresses_in_any_order(parse_texts: Any) -> None:
    rng = random.Random(1)
    found = near_addresses(rng, Dataset(SMALL))
    texts = [next(found) for _ in range(60_000)]
    raw = [text.encode("utf-8", "replace") for text in texts]
    lengths = [len(each) for each in raw]
    starts = np.cumsum([0, *lengths])[:-1].tolist()
    order = rng.sample(range(len(raw)), len(raw))
    assert parsed(
        parse_texts, b"".join(raw), [starts[at] for at in order], [lengths[at] for at in order]
    ) == [scalar(raw[at].decode()) for at in order]


@pytest.mark.parametrize("parse_texts", PARSERS)
@pytest.mark.parametrize(
    ("start", "length"),
    [(-1, 3), (0, -1), (5, -2), (0, 8), (7, 1), (8, 0), (1 << 62, 7), (0, 1 << 62)],
)
def test_what_leads_outside_is_no_address(parse_texts: Any, start: int, length: int) -> None:
    assert parsed(parse_texts, b"1.2.3.4", [0, start], [7, length]) == [(4, 0x01020304), (0, 0)]


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_no_texts_and_empty_texts(parse_texts: Any) -> None:
    none = np.zeros(0, np.int64)
    assert len(parse(np.zeros(1, np.uint8), none, none, parse_texts).family) == 0
    found = parse(*laid_out(["", "", ""]), parse_texts)
    assert [*found.family, *found.high, *found.low] == [0] * 9


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_columns_of_other_lengths(parse_texts: Any) -> None:
    with pytest.raises(ValueError, match="differ in length"):
        parsed(parse_texts, b"1.2.3.4", [0, 0], [7])
