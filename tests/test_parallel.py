"""Work in threads: results in the order of the items, errors instead of their result."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from tests.internals.parallel import alongside, in_order


def test_results_in_order_some_in_advance() -> None:
    computed = threading.Event()

    def slow(number: int) -> int:
        time.sleep(0.01 if number % 3 == 0 else 0)
        if number == 2:
            computed.set()
        return number

    for items in ([], [1], [*range(100)]):
        with in_order(str, items) as texts:
            assert list(texts) == [*map(str, items)]
    with in_order(slow, range(12)) as numbers:
        assert [next(numbers), computed.wait(60), *numbers] == [0, True, *range(1, 12)]


def test_errors_follow_the_results_before_them() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("cut off")

    with in_order(str, items()) as texts, pytest.raises(ValueError, match="cut off"):
        list(texts)
    with in_order(lambda number: 6 // number, [3, 2, 0, 1]) as numbers:
        assert [next(numbers), next(numbers)] == [2, 3]
        with pytest.raises(ZeroDivisionError):
            next(numbers)


def test_nothing_runs_after_the_block() -> None:
    begun, ended = [], []
    others = threading.enumerate()

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.01)
        ended.append(number)

    with in_order(work, range(100)) as results:
        next(results)
    assert set(threading.enumerate()) <= set(others)
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 100


def test_a_call_alongside_returns_or_raises() -> None:
    with alongside(threading.get_ident) as other, alongside(partial(int, "a")) as wrong:
        assert other() != threading.get_ident()
    assert other() == other()
    with pytest.raises(ValueError, match="'a'"):
        wrong()
