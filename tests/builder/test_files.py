"""The jump table and the texts of rows. Each build verifies the files that it writes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from geolookup.errors import BuildError
from tests.internals.builder import json_texts, row_texts
from tests.internals.dataset import jump_table


def test_jump_table() -> None:
    """Entry b is the interval that the first address of bucket b lies in; one more is the last."""
    for count in (1, 2, 255, 256, 257, 5000, 70_000):
        rng = np.random.default_rng(count)
        starts = np.unique(np.append(rng.integers(0, 1 << 32, count - 1, np.uint32), np.uint32(0)))
        result = jump_table(starts)
        bits = min(max(len(starts).bit_length() - 3, 8), 20)
        assert len(result) == (1 << bits) + 1
        assert result[-1] == len(starts) - 1
        for bucket in rng.integers(0, 1 << bits, 300).tolist():
            first, last = bucket << 32 - bits, (bucket + 1 << 32 - bits) - 1
            for address in (first, last, int(rng.integers(first, last + 1))):
                interval = int((starts <= address).sum()) - 1
                assert result[bucket] <= interval <= result[bucket + 1]
            assert result[bucket] == int((starts <= first).sum()) - 1


def test_rows_are_joined_by_line_feeds_up_to_2_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    one = json_texts(pa.array(["a\nb", None], pa.string()))
    assert row_texts([one, json_texts(pa.array([1, 2]))]).to_pylist() == ['"a\\nb"\n1', "null\n2"]
    monkeypatch.setattr(pc, "binary_join_element_wise", lambda *texts: len(texts))
    column = pa.array(["x" * (1 << 20)], pa.string())
    assert row_texts([column] * 2047) == 2048
    with pytest.raises(BuildError, match="more than 2 GiB"):
        row_texts([column] * 2048)
