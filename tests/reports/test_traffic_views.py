"""Views of the traffic page against a count of the lines of a log, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup import Engine
from geolookup.files.distinct import DistinctAddresses
from geolookup.files.summarize import Summary
from geolookup.files.traffic import Traffic
from geolookup.reports.traffic_cube import cube_of
from geolookup.reports.traffic_groups import groups_section
from geolookup.reports.traffic_kinds import hosting_section, status_section
from geolookup.reports.traffic_times import hours_section, time_section
from geolookup.reports.traffic_views import View, share_text
from geolookup.tables.times import Instants
from tests.tiers import scaled

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


@given(rows=_rows(3 * 3600))
@settings(max_examples=scaled(10, 200))
def test_buckets_of_time_are_those_of_the_rows(sample: Engine, rows: list[_Row]) -> None:
    summary, traffic = _counted(sample, rows)
    timed = [_FIRST + row[1] for row in _public(rows) if row[1] is not None]
    wanted = Counter(f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M}" for second in timed)
    views = _views(time_section(summary, traffic, 1))
    assert bool(views) == bool(timed and len(timed) >= 0.2 * len(rows))
    for view in views:
        assert view.title.endswith(f"{share_text(len(timed), len(rows))} of the requests")
        assert {label: counts[0] for label, counts in view.rows if counts[0]} == wanted
    assert (traffic.times.first, traffic.times.last) == (
        (min(timed), max(timed)) if timed else (None, None)
    )


def test_buckets_grow_with_the_period(sample: Engine) -> None:
    day = 86_400
    for period, size in ((239 * 60, 60), (240 * 60, 3600), (10 * day, day), (240 * day, 7 * day)):
        rows: list[_Row] = [("8.8.8.8", at, 200) for at in (0, 1, period // 2, period)]
        batches = [rows[:1], rows[1:3], rows[3:]]
        traffic = Traffic(sample.snapshot())
        summary = Summary(sample, traffic)
        for batch in batches:
            seconds = np.array([_FIRST + (row[1] or 0) for row in batch], np.int64)
            summary.add(
                pa.array(["8.8.8.8"] * len(batch)),
                instants=Instants(seconds, np.ones(len(batch), bool)),
            )
        assert traffic.times.size == size
        (view,) = _views(time_section(summary, traffic, 1))
        assert sum(counts[0] or 0 for _, counts in view.rows) == 4
        assert view.rows[0][1][0] == 2
        steps = {
            datetime.fromisoformat(after[0]) - datetime.fromisoformat(before[0])
            for before, after in zip(view.rows, view.rows[1:], strict=False)
        }
        assert steps == {timedelta(seconds=size)}


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


def test_a_chart_of_few_requests_gives_way_to_a_sentence(sample: Engine) -> None:
    rows: list[_Row] = [("93.180.39.77", 0 if at < 19 else None, None) for at in range(100)]
    summary, traffic = _counted(sample, rows)
    time = time_section(summary, traffic, 1)
    assert _views(time) == []
    assert time.values["note"] == "Only 19 % of the requests have a time: no chart."
    fifth: list[_Row] = [("93.180.39.77", 0 if at < 20 else None, None) for at in range(100)]
    assert len(_views(time_section(*_counted(sample, fifth), 1))) == 1
    assert _views(hours_section(traffic.hours, 100, 1)) == []
    assert status_section(summary, traffic, cube_of(summary, traffic, 1), 10, 1) is None
    # Addresses without a time zone: the hours are in UTC.
    rows = [("93.180.39.77" if at < 10 else "203.0.114.77", 0, 200) for at in range(100)]
    summary, traffic = _counted(sample, rows)
    section = hours_section(traffic.hours, 100, 1)
    (view,) = _views(section)
    assert view.title == "Requests by hour, UTC: known for 100 % of the requests"
    assert "known for only 10 % of the requests" in section.values["note"]
    assert sum(count or 0 for _, counts in view.rows for count in counts) == 100
    groups = groups_section(summary, 10, 1)
    assert "Known countries: only 10 % of the requests, no chart." in groups.values["note"]
    assert _views(groups) == []


def test_a_chart_of_hidden_counts_gives_way_to_a_sentence(sample: Engine) -> None:
    # One request in each week of ten years.
    rows: list[_Row] = [("93.180.39.77", at * 7 * 86_400, 200) for at in range(520)]
    summary, traffic = _counted(sample, rows)
    section = time_section(summary, traffic, 5)
    assert _views(section) == []
    assert section.values["note"] == (
        "In hidden parts: 520. Requests by week from Monday, UTC: all counts are hidden."
    )
    rows = [("93.180.39.77", 0, 200), ("8.8.8.8", 60, 404)]
    summary, traffic = _counted(sample, rows)
    sections = [
        hours_section(traffic.hours, 2, 5),
        groups_section(summary, 10, 5),
        hosting_section(summary, traffic, 5),
        status_section(summary, traffic, cube_of(summary, traffic, 5), 10, 5),
    ]
    for hidden in sections:
        assert hidden is not None
        assert _views(hidden) == []
        assert ": all counts are hidden." in hidden.values["note"]
        assert [*hidden.pictures] == []


def test_shares_are_whole_unless_small() -> None:
    shares = [share_text(part, 1000) for part in (0, 5, 99, 314, 999, 1000)]
    assert shares == ["0 %", "0.5 %", "9.9 %", "31 %", "> 99 %", "100 %"]
    assert share_text(1, 100_000) == "< 0.1 %"


def _answer(engine: Engine, address: str) -> tuple[str | None, int | None, str | None]:
    data: Any = engine.lookup(address)["data"]
    network = data["network"]
    return data["location"]["country_code"], network.get("asn"), network["user_type"]


def test_hosting_and_status_codes_by_country(sample: Engine) -> None:
    counts = {("8.8.8.8", 200): 30, ("93.180.39.77", 404): 20, ("89.207.57.131", 500): 20}
    rows: list[_Row] = [(row[0], 0, row[1]) for row, n in counts.items() for _ in range(n)]
    summary, traffic = _counted(sample, rows)
    section = status_section(summary, traffic, cube_of(summary, traffic, 1), 10, 1)
    (view,) = _views(section)
    assert view.title == "Status codes by country: known for 100 % of the requests"
    assert view.rows[0] == ("All countries", [30, 20, 20])
    by_country = dict(view.rows[1:])
    for (address, _), count in counts.items():
        data: Any = sample.lookup(address)["data"]
        assert sum(n or 0 for n in by_country[data["location"]["country_name"]]) == count
    kinds = Counter(_answer(sample, row[0])[2] for row in rows)
    known = sum(n for kind, n in kinds.items() if kind is not None)
    views = _views(hosting_section(summary, traffic, 1))
    if known >= 0.2 * len(rows):
        (view,) = views
        assert view.rows[0] == ("hosting", [kinds["hosting"]])
        assert view.rows[1] == ("other kinds", [known - kinds["hosting"]])
