"""Rows of tables: the compiled check accepts what ``dataset.rows`` accepts, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from unittest import mock

from geolookup.dataset import rows
from geolookup.dataset.files import Dataset
from tests.datasets import SMALL
from tests.fuzz.target import Target

try:
    from geolookup.kernel._compiled import _accepts
except ImportError:
    HAS_SCAN = False
else:
    HAS_SCAN = True

_TABLES = tuple(rows.KINDS.values())
_SEEDS = 40  # rows of each table


def as_defined(kinds: tuple[rows.Kind, ...], row: bytes) -> bool:
    """Return whether a row is one of these kinds by the definition."""
    return rows.are_of_kinds(row, kinds)


def certain(kinds: tuple[rows.Kind, ...], row: bytes) -> bool:
    """Return whether the compiled scan accepts a row; without it, it accepts none."""
    return HAS_SCAN and _accepts(kinds, row)


def seeds() -> Iterator[bytes]:
    dataset = Dataset(SMALL)
    for texts in (dataset.locations, dataset.networks, dataset.countries):
        for row in range(min(len(texts), _SEEDS)):
            yield texts[row]


def run(data: bytes) -> None:
    for kinds in _TABLES:
        is_right = as_defined(kinds, data)
        if is_right:
            for text in data.decode().split(rows.SEPARATOR):
                assert text in ("", "null") or rows._scan(text)[1] == len(text)
        assert is_right or not certain(kinds, data)


def planted() -> AbstractContextManager[object]:
    """Accept a raw quote in a string."""

    def careless(text: str, _kind: rows.Kind) -> bool:
        return text[:1] == text[-1:] == '"'

    return mock.patch.dict(rows._IS_VALUE, {rows.STRING: careless})


TARGET = Target(run, seeds, planted)
