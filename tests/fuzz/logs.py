"""Lines of logs: both kernels split them alike, and every field is a part of its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from geolookup.kernel import python_logs, split_log_lines
from tests.fuzz.target import Target

_FIELDS = 10
_COMMON = b'8.8.8.8 - a user [10/Oct/2000:13:55:36 -0700] "GET /\\" HTTP/1.0" 200 2326'
_SEEDS = (
    _COMMON,
    _COMMON + b' "http://a/ b" ""',
    _COMMON + b' "-" "agent [1] \\\\" "10.0.0.1, 8.8.8.8"',
    b'::1 - - [] "" - -\n\n' + _COMMON + b"\r\n - -",
)


def seeds() -> Iterator[bytes]:
    yield from _SEEDS


def run(data: bytes) -> None:
    lengths = np.array([len(line) for line in data.split(b"\n")], np.int64)
    starts = np.cumsum(lengths + 1) - lengths - 1
    given = np.frombuffer(data, np.uint8), starts, lengths
    for combined in (False, True):
        found = _parts(split_log_lines, *given, combined)
        expected = _parts(python_logs.split_log_lines, *given, combined)
        first, size = found[:, 0], found[:, 1]
        assert np.array_equal(size, expected[:, 1])
        assert np.array_equal(first[size >= 0], expected[:, 0][size >= 0])
        assert ((size < 0) | ((first >= starts) & (first + size <= starts + lengths))).all()


def _parts(split: Any, *given: Any) -> NDArray[np.int64]:
    parts = np.full((_FIELDS, 2, len(given[1])), 77, np.int64)
    split(*given, parts)
    return parts


def planted() -> AbstractContextManager[object]:
    """Forget that a backslash before a quote keeps a text open."""
    patterns = {
        combined: re.compile(
            pattern.pattern.replace(python_logs._QUOTED, rb'"([^"]*+)"'), re.DOTALL
        )
        for combined, pattern in python_logs._PATTERNS.items()
    }
    return mock.patch.object(python_logs, "_PATTERNS", patterns)


TARGET = Target(run, seeds, planted)
