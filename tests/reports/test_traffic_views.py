"""Views of the traffic page against a count of the lines of a log, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from geolookup import Engine
from geolookup.files.distinct import DistinctAddresses
from geolookup.files.summarize import Summary
from geolookup.files.traffic import Traffic
from geolookup.reports.traffic_views import View, share_text
from geolookup.tables.times import Instants

_ADDRESSES = [
    *("68.181.17.93", "77.88.8.201", "89.207.57.131", "91.197.29.187", "93.180.39.77"),
    *("128.10.143.29", "1.46.201.119", "8.8.8.8", "1.1.1.1", "2001:4860:4860::8888"),
]
_PRIVATE = ["10.0.0.1", "none"]
_FIRST = 1_795_132_800
#: Address, seconds after the first time, status code.
_Row = tuple[str, int | None, int | None]


def _rows(seconds: int) -> st.SearchStrategy[list[_Row]]:
    at = st.none() | st.integers(0, seconds)
    status = st.sampled_from([200, 301, 404, 500, 799, None])
    return st.lists(st.tuples(st.sampled_from(_ADDRESSES + _PRIVATE), at, status), max_size=80)


def _counted(engine: Engine, rows: Sequence[_Row]) -> tuple[Summary, Traffic]:

    traffic = Traffic(engine.snapshot())
    summary = Summary(engine, traffic)
    seconds = [0 if row[1] is None else _FIRST + row[1] for row in rows]
    instants = Instants(
        np.array(seconds, np.int64), np.array([row[1] is not None for row in rows], bool)
    )
    statuses = pa.array([row[2] for row in rows], pa.int16())
    summary.add(pa.array([row[0] for row in rows], pa.string()), instants=instants,
                statuses=statuses)  # fmt: skip
    return summary, traffic


def _public(rows: Iterable[_Row]) -> list[_Row]:
    return [row for row in rows if row[0] in _ADDRESSES]


def _views(section: Any) -> list[View]:
    return list(section.values["views"])


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


def _answer(engine: Engine, address: str) -> tuple[str | None, int | None, str | None]:
    data: Any = engine.lookup(address)["data"]
    network = data["network"]
    return data["location"]["country_code"], network.get("asn"), network["user_type"]
