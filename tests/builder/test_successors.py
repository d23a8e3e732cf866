"""A new row takes the number of the row that its intervals had in the base, where that is gone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from geolookup_builder.base import Base
from geolookup_builder.successors import with_successors
from hypothesis import given
from hypothesis import strategies as st

from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses
from tests.builder.test_base import ROWS, built
from tests.property.test_base import content

_SIZE = 6


def base_of(rows: list[int]) -> Base:
    """A base whose interval at each address from 0 on has the next of these rows."""
    starts = pa.array(range(len(rows)), pa.uint32())
    columns = {"start": starts, "location": pa.array(rows, pa.uint32())}
    return Base(None, {fmt.IPV4: pa.RecordBatch.from_pydict(columns)})


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Rows of the base by address, rows of the dataset likewise, and the known rows' numbers."""
    size = draw(st.integers(1, 30))
    before = draw(st.lists(st.integers(0, _SIZE), min_size=size, max_size=size))
    after = draw(st.lists(st.integers(0, _SIZE), min_size=size, max_size=size))
    numbers = draw(st.permutations(range(_SIZE + 1)))
    known = [each if draw(st.booleans()) else -1 for each in numbers]
    return before, after, known


@given(changes())
def test_the_most_frequent_pairs_of_new_and_gone_rows(
    change: tuple[list[int], list[int], list[int]],
) -> None:
    before, after, known = change
    intervals = [(Addresses(np.arange(len(after), dtype=np.uint32)), np.array(after, np.int32))]
    found = with_successors(np.array(known, np.int32), "location", intervals, base_of(before))
    pairs = Counter(
        (new, former)
        for new, former in zip(after, before, strict=True)
        if known[new] < 0 and former not in known
    )
    for row, (was, number) in enumerate(zip(known, found.tolist(), strict=True)):
        assert number == was or was < 0
        if was < 0 <= number:
            assert pairs[row, number] == max(pairs[row, other] for other in range(_SIZE + 1))
        elif was < 0:  # each of its most frequent rows went to another one, at least as frequent
            most = max(pairs[row, other] for other in range(_SIZE + 1))
            taken = {at: new for new, at in enumerate(found.tolist())}
            best = [at for at in range(_SIZE + 1) if most and pairs[row, at] == most]
            assert not most or any(at in taken and pairs[taken[at], at] >= most for at in best)
    used = [each for each in found.tolist() if each >= 0]
    assert len(used) == len(set(used))


def test_corrected_rows_leave_the_intervals_as_they_are(tmp_path: Path) -> None:
    """Among new rows that are used more, and rows that are gone."""
    base = built(tmp_path / "base", ROWS)
    corrected = [(*row[:2], row[2].replace("City", "Town"), row[3]) for row in ROWS]
    dataset = built(tmp_path / "d", corrected, base)
    for name in (fmt.IPV4, fmt.IPV6, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE):
        assert content(dataset)[name] == content(base)[name]
    many = [(f"9.{at}.0.0/24", "CH", "Zürich", 1) for at in range(30)]
    dataset = built(tmp_path / "more", corrected + many, base)
    assert content(dataset)[fmt.IPV6] == content(base)[fmt.IPV6]
