"""Whole columns resolve as single addresses do, in either kernel and on any number of threads."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from geolookup import errors, kernel, kernel_python
from geolookup.address import embedded_ipv4, parse_text
from geolookup.dataset import Dataset
from geolookup.engine import SAMPLE
from geolookup.resolve import Rows, resolve
from geolookup.special import is_private
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.near_addresses import near_addresses

STATES = [kernel.State, kernel_python.State]


def _column(texts: list[str]) -> tuple[Any, Any]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded) or b"\0", np.uint8), offsets


def _single(state: kernel_python.State, text: str) -> tuple[int, int, int]:
    try:
        family, value = parse_text(text)
    except errors.InvalidAddressError:
        return 0, 0, 10001
    carried = embedded_ipv4(value) if family == 6 else None
    family, value = (family, value) if carried is None else (4, carried)
    if is_private(family, value):
        return 0, 0, 10002
    interval = state.interval_ipv4(value) if family == 4 else state.interval_ipv6(value)
    return *state.rows(family, interval), 0


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset(SAMPLE)


@pytest.fixture(scope="module")
def texts(dataset: Dataset) -> list[str]:
    found = near_addresses(random.Random(7), dataset)
    return [*VALID_IPV4, *VALID_IPV6, *INVALID, *(next(found) for _ in range(40_000))]


def _tuples(rows: Rows) -> list[tuple[int, int, int]]:
    columns = (rows.location.tolist(), rows.network.tolist(), rows.code.tolist())
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("make", STATES)
@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_equal_to_single_lookups(
    make: Any, threads: int | None, dataset: Dataset, texts: list[str]
) -> None:
    single = kernel_python.State(dataset)
    expected = [_single(single, text) for text in texts]
    assert _tuples(resolve(make(dataset), *_column(texts), threads)) == expected


@pytest.mark.parametrize("make", STATES)
@pytest.mark.parametrize("texts", [[], ["8.8.8.8"], [""], ["x", "", "10.0.0.1"]])
def test_small_columns(make: Any, texts: list[str], dataset: Dataset) -> None:
    single = kernel_python.State(dataset)
    found = _tuples(resolve(make(dataset), *_column(texts)))
    assert found == [_single(single, text) for text in texts]


@pytest.mark.parametrize("make", STATES)
def test_less_than_one_thread(make: Any, dataset: Dataset) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        resolve(make(dataset), *_column(["8.8.8.8"]), 0)
