"""Views of the traffic page against a count of the lines of a log, one by one."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.files import DistinctAddresses
from tests.internals.reports import share_text


@given(texts=st.lists(st.sampled_from([
    "1.2.3.4", "::ffff:1.2.3.4", "1.2.3.5", "2001:db8::1", "2001:DB8:0::1", "::1.2.3.4", "::",
    "2001:db8::100", "255.255.255.255",
])))  # fmt: skip
def test_addresses_count_once(texts: list[str]) -> None:
    same = {"::ffff:1.2.3.4": "1.2.3.4", "2001:DB8:0::1": "2001:db8::1"}
    for column in (pa.array(texts, pa.string()), pa.array(texts, pa.string()).dictionary_encode()):
        distinct = DistinctAddresses()
        for begin in range(0, len(column), 3):
            distinct.add(column.slice(begin, 3))
        assert distinct.count == len({same.get(text, text) for text in texts})


def test_shares_are_whole_unless_small() -> None:
    shares = [share_text(part, 1000) for part in (0, 5, 99, 314, 999, 1000)]
    assert shares == ["0 %", "0.5 %", "9.9 %", "31 %", "> 99 %", "100 %"]
    assert share_text(1, 100_000) == "< 0.1 %"
