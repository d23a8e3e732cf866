"""Columns of texts to numbers: both kernels as the single parser, wherever a text lies."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from geolookup import errors, kernel
from geolookup.contract.address import parse
from geolookup.dataset.files import Dataset
from geolookup.engine import SAMPLE
from geolookup.kernel import parsing
from geolookup.kernel import python as kernel_python
from tests.near_addresses import near_addresses

PARSERS = [kernel.parse_texts, kernel_python.parse_texts]


def parsed(parse_texts: Any, letters: bytes, starts: Any, lengths: Any) -> list[tuple[int, int]]:
    """Return (family, value) of each text; (0, 0) for one that is no address."""
    count = len(starts)
    families = np.full(count, 7, np.uint8)
    highs, lows = np.full(count, 7, np.uint64), np.full(count, 7, np.uint64)
    data = np.frombuffer(letters, np.uint8)
    columns = (np.array(column, np.int64) for column in (starts, lengths))
    parse_texts(data, *columns, families, highs, lows)
    values = zip(highs.tolist(), lows.tolist(), strict=True)
    return [
        (family, high << 64 | low)
        for family, (high, low) in zip(families.tolist(), values, strict=True)
    ]


def single(text: str) -> tuple[int, int]:
    try:
        return parse(text)
    except errors.InvalidAddressError:
        return 0, 0


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_near_addresses_in_any_order(parse_texts: Any) -> None:
    rng = random.Random(1)
    found = near_addresses(rng, Dataset(SAMPLE))
    texts = [next(found) for _ in range(60_000)]
    raw = [text.encode("utf-8", "replace") for text in texts]
    lengths = [len(each) for each in raw]
    starts = np.cumsum([0, *lengths])[:-1].tolist()
    order = rng.sample(range(len(raw)), len(raw))
    assert parsed(
        parse_texts, b"".join(raw), [starts[at] for at in order], [lengths[at] for at in order]
    ) == [single(raw[at].decode()) for at in order]


@pytest.mark.parametrize("parse_texts", PARSERS)
@pytest.mark.parametrize(
    ("start", "length"),
    [(-1, 3), (0, -1), (5, -2), (0, 8), (7, 1), (8, 0), (1 << 62, 7), (0, 1 << 62)],
)
def test_what_leads_outside_is_no_address(parse_texts: Any, start: int, length: int) -> None:
    assert parsed(parse_texts, b"1.2.3.4", [0, start], [7, length]) == [(4, 0x01020304), (0, 0)]


def test_no_texts() -> None:
    none = np.zeros(0, np.int64)
    assert len(parsing.parse(np.zeros(1, np.uint8), none, none).family) == 0


@pytest.mark.parametrize("parse_texts", PARSERS)
def test_columns_of_other_lengths(parse_texts: Any) -> None:
    with pytest.raises(ValueError, match="differ in length"):
        parsed(parse_texts, b"1.2.3.4", [0, 0], [7])
