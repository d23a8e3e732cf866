"""Lines of logs: both kernels split them alike, and no text outside the bytes is read."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.kernel import python as kernel_python
from geolookup.kernel import python_logs
from tests.kernel.modules import MODULES, compiled, needs_compiled

COMMON = b'8.8.8.8 - a user [10/Oct/2000:13:55:36 -0700] "GET /\\" HTTP/1.0" 200 2326'
COMBINED = COMMON + b' "http://a/ b" ""'
HEAD = [b"8.8.8.8", b"-", b"a user", b"10/Oct/2000:13:55:36 -0700", b'GET /\\" HTTP/1.0']


def split(module: Any, lines: list[bytes], combined: bool) -> list[list[bytes | None]]:
    data = np.frombuffer(b"|".join(lines), np.uint8)
    lengths = np.array([len(line) for line in lines], np.int64)
    starts = np.cumsum(lengths + 1) - lengths - 1
    parts = np.full((10, 2, len(lines)), 77, np.int64)
    module.split_log_lines(data, starts, lengths, combined, parts)
    text = data.tobytes()
    return [
        [None if size < 0 else text[first : first + size] for first, size in parts[:, :, at]]
        for at in range(len(lines))
    ]


@pytest.mark.parametrize("module", MODULES)
def test_the_fields(module: ModuleType) -> None:
    head, both = [*HEAD, b"200", b"2326"], [b"http://a/ b", b""]
    found = split(module, [COMBINED, COMBINED + b' "1.1.1.1"', COMMON], combined=True)
    assert found == [[*head, *both, None], [*head, *both, b'"1.1.1.1"'], [None] * 10]
    found = split(module, [COMMON, COMBINED, COMMON[:-8] + b"- -"], combined=False)
    rests = [None, COMBINED[len(COMMON) + 1 :], None]
    heads = [head, head, [*HEAD, b"-", b"-"]]
    assert found == [[*line, None, None, rest] for line, rest in zip(heads, rests, strict=True)]


pieces = st.sampled_from(
    [*(bytes([byte]) for byte in b' "\\[]-x\n'), b" [", b"] ", b'" ', b"200", b"1" * 19, b""]
)


@needs_compiled
@given(st.lists(st.integers(0, len(COMBINED)), max_size=3), st.lists(pieces, max_size=6))
def test_both_kernels_agree_about_damaged_lines(places: list[int], texts: list[bytes]) -> None:
    line = COMBINED
    for place, text in zip(places, texts, strict=False):
        line = line[:place] + text + line[place + len(text) // 2 + place % 3 :]
    lines = [line, b"".join(texts), line[: len(line) // 2], b"", COMMON + b"".join(texts)]
    for combined in (True, False):
        assert split(compiled, lines, combined) == split(kernel_python, lines, combined)


@pytest.mark.parametrize("module", MODULES)
def test_nothing_outside_the_bytes_is_read(module: Any) -> None:
    data = np.frombuffer(COMBINED, np.uint8)
    starts = np.array([-1, len(data) + 1, 1, 0], np.int64)
    lengths = np.array([5, 0, len(data), -1], np.int64)
    parts = np.zeros((10, 2, 4), np.int64)
    module.split_log_lines(data, starts, lengths, True, parts)
    assert (parts[:, 1] == -1).all()
    with pytest.raises(ValueError, match="length"):
        module.split_log_lines(data, starts[:2], lengths, True, parts)
    with pytest.raises(ValueError, match="ten"):
        module.split_log_lines(data, starts, lengths, True, parts[:4].copy())


@pytest.mark.parametrize("module", MODULES)
def test_copied_texts(module: Any) -> None:
    data = np.frombuffer(b"abcdef", np.uint8)
    starts, lengths = np.array([4, 9, 0], np.int64), np.array([2, -1, 3], np.int64)
    out = np.zeros(5, np.uint8)
    module.copy_texts(data, starts, lengths, out)
    assert out.tobytes() == b"efabc"
    module.copy_texts(data, starts[:0], lengths[:0], out[:0].copy())
    for wrong in ([5, 2], [-1, 2], [0, 9]):
        with pytest.raises(ValueError, match="fill"):
            module.copy_texts(data, *(np.array([each]) for each in wrong), np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="fill"):
        module.copy_texts(data, starts, lengths, np.zeros(6, np.uint8))


def test_patterns_mean_the_same_in_every_release_of_python() -> None:
    """Early releases of 3.11 misplace groups around possessive quantifiers and atomic groups."""
    for pattern in python_logs._PATTERNS.values():
        assert not re.search(rb"[*+?}]\+|\(\?>", pattern.pattern)
