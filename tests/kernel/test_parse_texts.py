"""Columns of texts to integers: both kernels as the scalar parser, wherever a text lies.

``test_every_text.py`` has the hand-picked texts and those near to an address; here are texts of
every shape, and places outside the bytes.
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
from geolookup.errors import InvalidAddressError
from geolookup.kernel import python as kernel_python
from geolookup.kernel.columns import parse
from tests.strategies import texts
from tests.text_columns import laid_out, parsed
from tests.tiers import scaled

PARSERS = [kernel.parse_texts, kernel_python.parse_texts]


def scalar(text: str) -> tuple[int, int]:
    try:
        return parse_text(text)
    except InvalidAddressError:
        return 0, 0


def check(parse_texts: Any, rows: Sequence[str]) -> list[tuple[int, int]]:
    data, starts, lengths = laid_out(rows)
    found = parsed(parse_texts, data.tobytes(), starts, lengths)
    expected = [scalar(text) for text in rows]
    differing = [each for each in zip(rows, found, expected, strict=True) if each[1] != each[2]]
    assert not differing
    return found


@given(st.lists(texts, max_size=30))
def test_random_columns(rows: list[str]) -> None:
    for parse_texts in PARSERS:
        check(parse_texts, rows)


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_addresses_of_every_shape(parse_texts: Any) -> None:
    rng = random.Random(3)
    rows = [
        ".".join(str(rng.randrange(256)) for _ in range(4)) for _ in range(scaled(1_000, 5_000))
    ]
    for _ in range(scaled(4_000, 20_000)):
        groups = [f"{rng.getrandbits(rng.choice((1, 4, 8, 16))):x}" for _ in range(8)]
        begin = rng.randrange(9)
        end = rng.randint(begin, 8)
        rows.append(":".join(groups[:begin]) + "::" + ":".join(groups[end:]))
        rows.append(":".join(groups))
    found = check(parse_texts, rows)
    # "::" for no group at all is the one thing here that is no address.
    assert 0.85 < sum(family > 0 for family, _ in found) / len(rows) < 1


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_what_leads_outside_is_no_address(parse_texts: Any) -> None:
    for start, length in (
        *((-1, 3), (0, -1), (5, -2), (0, 8), (7, 1), (8, 0), (1 << 62, 7), (0, 1 << 62)),
    ):
        found = parsed(parse_texts, b"1.2.3.4", [0, start], [7, length])
        assert found == [(4, 0x01020304), (0, 0)], (start, length)


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_no_texts_empty_texts_and_columns_of_other_lengths(parse_texts: Any) -> None:
    none = np.zeros(0, np.int64)
    assert len(parse(np.zeros(1, np.uint8), none, none, parse_texts).family) == 0
    found = parse(*laid_out(["", "", ""]), parse_texts)
    assert [*found.family, *found.high, *found.low] == [0] * 9
    with pytest.raises(ValueError, match="differ in length"):
        parsed(parse_texts, b"1.2.3.4", [0, 0], [7])
