"""The time object: hand-written answers, then agreement with `zoneinfo` and the TZif files."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import cache
from io import BytesIO
from itertools import groupby, pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.tzif_files import DAY, EPOCH, HOUR, ZONES, transitions, tzif, unix
from tests.internals.contract import (
    EARLIEST,
    LATEST,
    Period,
    localtime,
    period,
    time_json,
    time_object,
)
from tests.tiers import scaled

ROOT = Path(__file__).parents[2]

repeatable = settings(derandomize=True, deadline=None, database=None, max_examples=scaled(30, 200))
instants = st.integers(EARLIEST, LATEST - 1) | st.integers(-3 * 10**9, 5 * 10**9)


def raw(zone: str, at: int) -> datetime:
    """The local time as `zoneinfo` has it, from the files of the deciding database."""
    return (EPOCH + timedelta(seconds=at)).astimezone(rules(zone))


@cache
def rules(zone: str) -> ZoneInfo:
    return ZoneInfo.from_file(BytesIO(tzif(zone)), key=zone)


def raw_offset(zone: str, at: int) -> int:
    return (raw(zone, at).utcoffset() or timedelta()) // timedelta(seconds=1)


def period_at(zone: str, at: int) -> Period:
    period_ = period(zone, at)
    assert period_ is not None
    return period_


def periods_of(zone: str, year: int) -> list[Period]:
    """The periods of a local year, by walking both ways from its middle."""
    periods = [period_at(zone, unix(f"{year:04d}-07-01T00:00:00Z"))]
    while periods[0].start > EARLIEST and raw(zone, periods[0].start - 1).year == year:
        periods.insert(0, period_at(zone, periods[0].start - 1))
    while periods[-1].end < LATEST and raw(zone, periods[-1].end).year == year:
        periods.append(period_at(zone, periods[-1].end))
    return periods


# Hand-written answers, besides ``tests/golden``. The abbreviation is None where editions
# of the tz database disagree on it.


@pytest.mark.parametrize(
    ("zone", "utc", "abbr", "current_time", "is_dst"),
    [
        ("America/Los_Angeles", "2024-11-03T08:59:59Z", "PDT", "2024-11-03T01:59:59-07:00", True),
        ("America/Los_Angeles", "2024-11-03T09:00:00Z", "PST", "2024-11-03T01:00:00-08:00", False),
        ("Europe/London", "1970-01-01T00:00:00Z", "BST", "1970-01-01T01:00:00+01:00", False),
        ("Africa/Casablanca", "2026-02-20T12:00:00Z", "+00", "2026-02-20T12:00:00+00:00", False),
        ("Africa/Casablanca", "2026-05-15T12:00:00Z", "+01", "2026-05-15T13:00:00+01:00", True),
        ("Africa/Windhoek", "1996-01-15T12:00:00Z", None, "1996-01-15T14:00:00+02:00", True),
        ("Africa/Windhoek", "1996-07-15T12:00:00Z", None, "1996-07-15T13:00:00+01:00", False),
        ("Europe/Prague", "1947-01-15T12:00:00Z", "GMT", "1947-01-15T12:00:00+00:00", False),
        ("Europe/Prague", "1947-03-15T12:00:00Z", "CET", "1947-03-15T13:00:00+01:00", False),
        ("Europe/Prague", "1947-07-15T12:00:00Z", "CEST", "1947-07-15T14:00:00+02:00", True),
        ("Europe/London", "1947-06-01T12:00:00Z", "BDST", "1947-06-01T14:00:00+02:00", True),
        ("Europe/Istanbul", "2016-08-01T12:00:00Z", "EEST", "2016-08-01T15:00:00+03:00", True),
        ("Europe/Istanbul", "2016-10-01T12:00:00Z", "+03", "2016-10-01T15:00:00+03:00", False),
        ("Europe/Paris", "1900-06-15T12:00:00Z", "PMT", "1900-06-15T12:09:00+00:09", False),
        ("Pacific/Apia", "2011-12-31T10:00:00Z", "+14", "2012-01-01T00:00:00+14:00", True),
        ("America/Nome", "1983-10-15T12:00:00Z", "BDT", "1983-10-15T02:00:00-10:00", True),
        ("America/Nome", "1983-11-15T12:00:00Z", "YST", "1983-11-15T03:00:00-09:00", False),
        ("Europe/Samara", "1991-06-15T12:00:00Z", "+03", "1991-06-15T15:00:00+03:00", True),
        ("Europe/Samara", "1991-11-15T12:00:00Z", "+04", "1991-11-15T16:00:00+04:00", False),
    ],
)
def test_golden(zone: str, utc: str, abbr: str | None, current_time: str, is_dst: bool) -> None:
    at = unix(utc)
    sign, hours, minutes = current_time[-6], int(current_time[-5:-3]), int(current_time[-2:])
    answer = time_object(zone, at)
    assert list(answer.items()) == [
        ("zone", zone),
        ("abbr", abbr or answer["abbr"]),
        ("utc_offset", current_time[-6:]),
        ("utc_offset_seconds", int(f"{sign}1") * (hours * 3600 + minutes * 60)),
        ("current_time", current_time),
        ("current_timestamp", at),
        ("is_dst", is_dst),
    ]


# Names that no zone has.


UNKNOWN = [
    None, "", "No/Where", "America", "america/los_angeles", "AMERICA/LOS_ANGELES", "utc",
    "../etc/passwd", "/etc/localtime", "Europe/../UTC", "./UTC", "America//New_York",
    "America/", "America/New_York/", "America/New_York/x", "America/New York", "UTC\n",
    "NUL\0", "Europe/\0", "\ud800", "Europe/\udfff", "Europe/Málaga", "٣", "a" * 100_000,
    "a/" * 50_000, "zone.tab", "tzdata.zi", "posixrules", "localtime", "posix/UTC",
    "right/UTC", "__init__", "__init__/x", "America/__init__/x", "__init__.py", "-", "/", "_",
]  # fmt: skip


def test_unknown_zones() -> None:
    for zone in UNKNOWN:
        answer = time_object(zone, 1795162987)
        assert list(answer) == list(time_object("UTC", 0))
        known = {name: value for name, value in answer.items() if value is not None}
        assert known == {"current_timestamp": 1795162987}, zone
        assert time_json(zone, 1795162987) == json.dumps(answer, separators=(",", ":")).encode()
        assert zone is None or period(zone, 0) is None


# The instant.


INSTANTS: list[tuple[object, int]] = [
    (0, 0), (-1, -1), (1.9, 1), (-0.5, -1), (-0.0, 0), (EARLIEST, EARLIEST),
    (LATEST - 1, LATEST - 1), (LATEST - 0.5, LATEST - 1),
    (np.int64(-5), -5), (np.uint8(5), 5), (np.float64(-5.5), -6),
    (datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 0),
    (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
    (datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC), LATEST - 1),
    (datetime(1, 1, 2, tzinfo=UTC), EARLIEST),
    (datetime(1, 1, 1, 10, tzinfo=timezone(timedelta(hours=-14))), EARLIEST),
    (datetime(2026, 7, 1, tzinfo=timezone(timedelta(minutes=345))), 1782843300),
    (datetime(2024, 11, 3, 1, tzinfo=ZoneInfo("America/Los_Angeles")), 1730620800),
    (datetime(2024, 11, 3, 1, tzinfo=ZoneInfo("America/Los_Angeles"), fold=1), 1730624400),
]  # fmt: skip
NO_INSTANTS: list[object] = [
    True, False, "0", b"0", 1j, [], (), object(), int, Decimal(1), Fraction(1), timedelta(),
    date(2026, 1, 1), EPOCH.replace(tzinfo=None), np.True_, np.float32(1), np.array([1]),
    np.datetime64(0, "s"),
]  # fmt: skip
TOO_FAR: list[object] = [
    float("nan"), float("inf"), float("-inf"), 1e300, EARLIEST - 1, EARLIEST - 0.5, LATEST,
    float(LATEST), 10**400, -(10**400), np.float64("nan"), datetime.max.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
]  # fmt: skip


def test_instant() -> None:
    for at, expected in INSTANTS:
        answer = localtime.instant(at)
        assert (answer, type(answer)) == (expected, int), at
    for at in NO_INSTANTS:
        with pytest.raises(TypeError):
            localtime.instant(at)
    for at in TOO_FAR:
        with pytest.raises(ValueError, match="0001-01-02"):
            localtime.instant(at)


def test_instant_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert int(time.time()) <= localtime.instant(None) <= time.time()
    monkeypatch.setattr(time, "time", lambda: 1.9)
    assert localtime.instant(None) == 1


# Agreement with zoneinfo.


@repeatable
@given(st.sampled_from(ZONES), instants)
def test_agrees_with_zoneinfo(zone: str, at: int) -> None:
    answer, local = time_object(zone, at), raw(zone, at)
    seconds = raw_offset(zone, at)
    rounded = (abs(seconds) + 30) // 60 * (60 if seconds > 0 else -60)
    assert answer["abbr"] == local.tzname()
    assert answer["utc_offset_seconds"] == rounded
    assert answer["utc_offset"] == str(answer["current_time"])[19:]
    shown = local + timedelta(seconds=rounded - seconds)
    assert (
        answer["current_time"] == shown.replace(tzinfo=timezone(timedelta(0, rounded))).isoformat()
    )
    assert datetime.fromisoformat(str(answer["current_time"])) == local
    assert (
        time_json(zone, at)
        == json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()
    )


@repeatable
@given(st.sampled_from(ZONES), st.integers(1850, 2100))
def test_periods_cover_the_year(zone: str, year: int) -> None:
    periods = periods_of(zone, year)
    assert all(earlier.end == later.start for earlier, later in pairwise(periods))
    assert 364 * DAY <= periods[-1].end - periods[0].start <= 367 * DAY  # a day may be skipped
    for item in periods:
        assert period(zone, item.start) == period(zone, item.end - 1) == item
        assert {raw(zone, at).year for at in (item.start, item.end - 1)} == {year}
        assert {raw_offset(zone, at) for at in range(item.start, item.end, 7 * DAY)} == {
            raw_offset(zone, item.end - 1)
        }


def test_ends_of_the_range() -> None:
    for zone in ZONES[:: scaled(8, 1)]:
        first, last = period_at(zone, EARLIEST), period_at(zone, LATEST - 1)
        assert (first.start, last.end) == (EARLIEST, LATEST)
        assert str(time_object(zone, EARLIEST)["current_time"]).startswith("0001-01-0")
        assert str(time_object(zone, LATEST - 1)["current_time"]).startswith("9999-12-3")


def test_clock_put_back_across_new_year() -> None:
    # 1944 began twice in Phoenix: at 00:01 on 1 January it became 23:01 on 31 December.
    new_year = unix("1944-01-01T06:00:00Z")
    times = [time_object("America/Phoenix", new_year + minute * 60) for minute in (-1, 0, 1, 60)]
    assert [str(item["current_time"])[:16] for item in times] == [
        "1943-12-31T23:59", "1944-01-01T00:00", "1943-12-31T23:01", "1944-01-01T00:00",
    ]  # fmt: skip
    assert [item["is_dst"] for item in times] == [True, True, False, False]


# is_dst, against the rule applied to every hour of the year.


def hours_of(zone: str, year: int) -> list[tuple[int, timedelta, bool]]:
    start, rule = unix(f"{year}-01-01T00:00:00Z") - DAY, rules(zone)
    return [
        (at, local.utcoffset() or timedelta(), bool(local.dst()))
        for at in range(start, start + 368 * DAY, HOUR)
        if (local := datetime.fromtimestamp(at, rule)).year == year
    ]


def is_dst_by_hours(hours: list[tuple[int, timedelta, bool]]) -> list[bool]:
    """Marked hours are judged first, then the others by the nearest of them."""
    answers = [marked for *_, marked in hours]
    runs = [list(run) for _, run in groupby(range(len(hours)), key=lambda at: hours[at][1:])]
    for judged in (True, False):
        for run in runs:
            _, offset, marked = hours[run[0]]
            if marked is judged:
                near = [at for at in nearest(hours, run[0], run[-1]) if hours[at][1] != offset]
                verdicts = {offset > hours[at][1] if marked else not answers[at] for at in near}
                answers[run[0] : run[-1] + 1] = [
                    verdicts == {True} if len(verdicts) == 1 else marked
                ] * len(run)
    return answers


def nearest(hours: list[tuple[int, timedelta, bool]], first: int, last: int) -> list[int]:
    """Walk away from a run, both ways at once, to the first hours of the other mark."""
    for step in range(1, len(hours)):
        sides = [at for at in (first - step, last + step) if 0 <= at < len(hours)]
        near = [at for at in sides if hours[at][2] != hours[first][2]]
        if near:
            return near
    return []


#: Zones and years in which the rule matters: double summer time, negative savings, changes of
#: the standard offset, two periods at once.
_HOURLY = [
    ("Europe/London", (1947, 1971)), ("Europe/Dublin", (1971, 2024)),
    ("Africa/Casablanca", (2018,)), ("Africa/Windhoek", (1994, 2017)), ("Europe/Prague", (1947,)),
    ("Europe/Moscow", (1919, 1991)), ("Europe/Istanbul", (2016,)), ("America/Nome", (1983,)),
    ("Antarctica/Troll", (2010,)), ("America/Santo_Domingo", (1974,)), ("Europe/Samara", (1991,)),
]  # fmt: skip
_HOURLY_TOO = [
    ("America/New_York", (1945, 1974, 2024)), ("Europe/London", (1941, 1968)),
    ("Europe/Dublin", (1968, 2050)), ("Africa/Casablanca", (2024, 2030)),
    ("Africa/Windhoek", (2010,)), ("Europe/Prague", (1945, 1946)), ("Europe/Moscow", (1981, 2011)),
    ("Europe/Istanbul", (1978,)), ("Pacific/Apia", (2011,)), ("Asia/Gaza", (2011, 2040)),
    ("Antarctica/Troll", (2024,)), ("America/Nome", (1967,)), ("Asia/Manila", (1942, 1945)),
    ("UTC", (2024,)), ("Australia/Lord_Howe", (1985, 2024)), ("Asia/Hong_Kong", (1941,)),
    ("America/Cambridge_Bay", (1999, 2000, 2001)),
]  # fmt: skip


@pytest.mark.parametrize("listed", [_HOURLY, pytest.param(_HOURLY_TOO, marks=pytest.mark.long)])
def test_is_dst_hour_by_hour(listed: list[tuple[str, tuple[int, ...]]]) -> None:
    for zone, year in [(zone, year) for zone, years in listed for year in years]:
        hours = hours_of(zone, year)
        expected = is_dst_by_hours(hours)
        assert [period_at(zone, at).is_dst for at, *_ in hours] == expected, (zone, year)


# Transitions, against the files.


def test_transitions_are_found_to_the_second() -> None:
    """Per zone, the years of the two closest transitions and of one other."""
    choose = random.Random(7)
    for zone in ZONES[:: scaled(4, 1)]:
        changes = [at for at in transitions(zone) if at > unix("1850-01-01T00:00:00Z")]
        pairs = sorted(pairwise(changes), key=lambda pair: pair[1] - pair[0])[:1]
        for change in {*(pairs[0] if pairs else ()), *choose.sample(changes, min(1, len(changes)))}:
            periods = periods_of(zone, raw(zone, change).year)
            start, end = periods[0].start, min(periods[-1].end, changes[-1] + 1)
            inside = {at for at in changes if start < at < end}
            assert inside == {item.start for item in periods[1:] if item.start < end}, zone


# The process.


def test_threads_agree() -> None:
    choose = random.Random(11)  # of years that no other test needs: nothing is cached
    asked = [(choose.choice(ZONES[::20]), choose.randrange(2**33, 2**34)) for _ in range(400)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda request: time_json(*request), asked))
    assert answers == [time_json(*request) for request in asked]


def test_a_zone_loads_no_slow_module() -> None:
    code = (
        "import sys; from geolookup.contract.localtime import period; assert period('UTC', 0); "
        "slow = {'zoneinfo', 'datetime', 'struct', 'weakref', 'pathlib'}; "
        "print(*slow & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == []
