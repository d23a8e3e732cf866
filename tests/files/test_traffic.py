"""The counts behind ``geolookup map``, against a count of the rows one by one."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.internals.files import (
    HOSTING,
    STATUSES,
    AddressColumn,
    Summary,
    TimeColumn,
    Traffic,
    count_files,
    table_file,
)
from tests.internals.kernel import state_of
from tests.internals.tables import Instants
from tests.tiers import scaled

#: Addresses of the small dataset: hosting, another kind, no zone and kind, nothing, private, none.
_ADDRESSES = ("77.88.8.201", "68.181.17.93", "2001:4860:4860::8888", "1.128.77.203",
              "203.0.114.77", "10.17.93.201", "300.17.93.201")  # fmt: skip
_FIRST = datetime(2026, 11, 1, 10, 40, tzinfo=UTC)
_Row = tuple[str, int | None, int | None]
#: An address, its minutes after ``_FIRST`` and its status code.
_ROWS = st.tuples(
    st.sampled_from(_ADDRESSES),
    st.none() | st.integers(0, 50) | st.integers(0, 40_000) | st.integers(0, 4_000_000),
    st.sampled_from((None, 0, 99, 101, 200, 299, 404, 503, 600)),
)


def _traffic(engine: geolookup.Engine, rows: list[_Row], chunk: int = 7) -> Traffic:
    traffic = Traffic(state_of(engine))
    summary = Summary(engine, traffic)
    for begin in range(0, len(rows), chunk):
        addresses, minutes, codes = zip(*rows[begin : begin + chunk], strict=True)
        seconds = [0 if at is None else _second(at) for at in minutes]
        valid = [at is not None for at in minutes]
        summary.add(
            pa.array(addresses),
            instants=Instants(np.array(seconds, np.int64), np.array(valid)),
            statuses=pa.array(codes, pa.int16()),
        )
    return traffic


def _second(minutes: int) -> int:
    return int((_FIRST + timedelta(minutes=minutes)).timestamp())


@given(rows=st.lists(_ROWS, max_size=40))
@settings(max_examples=scaled(40, 400))
def test_counts_are_those_of_single_lookups(sample: geolookup.Engine, rows: list[_Row]) -> None:
    traffic = _traffic(sample, rows)
    statuses, hosting, local = (Counter[Any]() for _ in range(3))
    instants = []
    for address, minutes, code in rows:
        data: Any = sample.lookup(address)["data"]
        if address in _ADDRESSES[-2:]:
            continue
        country = None if data is None else data["location"]["country_code"]
        kind = None if data is None else data["network"]["user_type"]
        hosting[country, {"hosting": 0, None: 2}.get(kind, 1)] += 1
        if code is not None and 100 <= code < 600:
            statuses[country, code // 100 - 1] += 1
        if minutes is not None:
            at = _FIRST + timedelta(minutes=minutes)
            instants.append(at)
            if zone := (data or {"time": {"zone": None}})["time"]["zone"]:
                there = at.astimezone(ZoneInfo(zone))
                local[there.weekday() * 24 + there.hour] += 1
    for counts, wanted, width in (
        (traffic.statuses, statuses, len(STATUSES)),
        (traffic.hosting, hosting, len(HOSTING)),
    ):
        codes = [None, *traffic.countries]
        assert {(codes[at], kind): n for (at, kind), n in np.ndenumerate(counts) if n} == wanted
        assert counts.shape == (len(codes), width)
    # An hour more on each side, so all hours are whole.
    if instants:
        first, last = (int(at.timestamp()) for at in (min(instants), max(instants)))
        _, counts = traffic.times.average_week(first - 3600, last + 3600)
        assert dict(enumerate(counts)) == {hour: local[hour] for hour in range(168)}
    assert traffic.times.known == local.total()
    _check_times(traffic, [int(at.timestamp()) for at in instants])


def _check_times(traffic: Traffic, seconds: list[int]) -> None:
    times = traffic.times
    assert (times.first, times.last) == (min(seconds, default=None), max(seconds, default=None))
    counts = times.counts(times.buckets())
    assert times.requests == counts.sum() == len(seconds)
    starts = [times.start(bucket) for bucket in times.buckets()]
    assert all(later - start == times.size for start, later in pairwise(starts))
    assert len(starts) <= 240 or times.size == 7 * 86400
    for start, count in zip(starts, counts.tolist(), strict=True):
        assert count == sum(start <= second < start + times.size for second in seconds)


@pytest.mark.parametrize("minutes", [1, 60])
@pytest.mark.parametrize("days", [7.1, 11, 14.3])
def test_even_requests_are_even_in_an_average_week(
    sample: geolookup.Engine, days: float, minutes: int
) -> None:
    """Though some hours of the week occur once more, and others at offsets of half an hour."""
    zones = "77.88.8.201", "103.27.9.201", "2.16.195.67"  # +3:00, +5:30, +1:00
    at = range(0, int(days * 24 * 60), minutes)
    traffic = _traffic(sample, [(zone, minute, 200) for zone in zones for minute in at], 1 << 20)
    average, counts = traffic.times.average_week(_second(at[0]), _second(at[-1]))
    assert average.tolist() == [180 / minutes] * 168
    assert 0 <= len(at) * len(zones) - counts.sum() <= 6 * 60


def test_hours_that_are_not_whole_do_not_count(sample: geolookup.Engine) -> None:
    """From 10:40 to 12:55 on a Sunday, 13:40 to 15:55 in Moscow: 15:55 is nearly 16:00."""
    traffic = _traffic(sample, [("77.88.8.201", minute, 200) for minute in (0, 19, 20, 134, 134)])
    average, counts = traffic.times.average_week(_second(0), _second(134) + 59)
    assert {hour: n for hour, n in enumerate(average) if not np.isnan(n)} == {158: 1, 159: 2}
    assert counts.sum() == 3


@pytest.mark.parametrize("fields", ["date time c-ip", "time c-ip sc-status", "c-ip"])
def test_a_log_may_lack_times_and_statuses(
    sample: geolookup.Engine, tmp_path: Path, fields: str
) -> None:
    values = {"date": "2026-11-20", "time": "10:00:00", "c-ip": "8.8.8.8", "sc-status": "404"}
    row = " ".join(values[field] for field in fields.split())
    (tmp_path / "a.log").write_text(f"#Fields: {fields}\n{row}\n", encoding="utf-8")
    traffic = Traffic(state_of(sample))
    summary = Summary(sample, traffic)
    files = [table_file(str(tmp_path / "a.log"), None, "")]
    count_files(summary, files, AddressColumn(), TimeColumn())
    assert (summary.addresses, traffic.times.requests) == (1, int("date" in fields))
    assert traffic.statuses.sum() == int("status" in fields)


@given(texts=st.lists(st.sampled_from([
    "1.2.3.4", "::ffff:1.2.3.4", "1.2.3.5", "2001:4860::1", "2001:4860:0::1", "2001:4860::100",
    "223.255.255.255", "10.0.0.1", "x",
])))  # fmt: skip
def test_addresses_count_once(sample: geolookup.Engine, texts: list[str]) -> None:
    same = {"::ffff:1.2.3.4": "1.2.3.4", "2001:4860:0::1": "2001:4860::1"}
    traffic = _traffic(sample, [(text, None, None) for text in texts], 3)
    assert traffic.distinct() == len({same.get(text, text) for text in texts} - {"10.0.0.1", "x"})
    assert traffic.distinct() == traffic.distinct()
