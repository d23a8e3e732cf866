"""Rows of locations and networks are numbered by use."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest

from geolookup.dataset import layout as fmt
from tests.datasets import SMALL


@pytest.mark.parametrize("table", ["location", "network"])
def test_the_most_used_rows_come_first(table: str) -> None:
    uses: dict[int, int] = {}
    for name in (fmt.IPV4, fmt.IPV6):
        with pa.memory_map(str(SMALL / name)) as source:
            for row in pa.ipc.open_file(source).read_all()[table].to_pylist():
                uses[row] = uses.get(row, 0) + 1
    known = [uses[row] for row in sorted(uses) if row]
    assert len(known) > 2
    assert all(before >= after for before, after in pairwise(known))
    assert sorted(uses) == list(range(len(uses)))
