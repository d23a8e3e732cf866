"""Batches that a thread prefetches: all of them, in order, errors in place of their batch."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from geolookup_builder.sources.reading.delimited import prefetched


def test_order_and_end() -> None:
    with prefetched(range(1, 100)) as numbers:
        assert list(numbers) == list(range(1, 100))
    none: list[int] = []
    with prefetched(none) as nothing:
        assert list(nothing) == []


def test_the_next_batch_is_read_while_one_is_used() -> None:
    read = threading.Event()

    def batches() -> Iterator[int]:
        yield 1
        read.set()
        yield 2

    with prefetched(batches()) as numbers:
        assert next(numbers) == 1
        assert read.wait(10)
        assert list(numbers) == [2]


def test_an_error_follows_the_batches_before_it() -> None:
    def batches() -> Iterator[int]:
        yield 1
        raise ValueError("cut off")

    with prefetched(batches()) as numbers:
        assert next(numbers) == 1
        with pytest.raises(ValueError, match="cut off"):
            next(numbers)


def test_nothing_is_read_after_the_block() -> None:
    reading = 0

    def batches() -> Iterator[int]:
        nonlocal reading
        for number in range(1, 10):
            reading += 1
            yield number

    before = set(threading.enumerate())
    with prefetched(batches()) as numbers:
        next(numbers)
    assert reading == 2
    assert set(threading.enumerate()) <= before
