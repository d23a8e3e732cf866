"""TZ strings and days: hand-written changes, agreement with `zoneinfo` and `datetime`."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract import tzif_files
from tests.contract.test_tzif import zone_in
from tests.contract.tzif_files import by_zoneinfo, plain_zone, unix, written
from tests.internals.contract import gregorian, tzif, tzrule
from tests.tiers import scaled

repeatable = settings(derandomize=True, deadline=None, database=None, max_examples=scaled(20, 400))


def state(text: str, at: int) -> tzrule.State:
    return zone_in(written([(0, False, "UTC")], footer=text)).state(at)


def changes(text: str, year: int) -> list[str]:
    """The changes of a year in UTC, and the abbreviations from then on."""
    result = zone_in(written([(0, False, "UTC")], footer=text))
    start, end = unix(f"{year}-01-01T00:00:00Z"), unix(f"{year + 1}-01-01T00:00:00Z")
    return [
        f"{datetime.fromtimestamp(at, UTC).isoformat()[:19]} {name}"
        for at, (_, _, name) in tzif_files.changes(result, start, end)[1:]
    ]


def test_one_state() -> None:
    for text, offset, name in (
        *(("UTC0", 0, "UTC"), ("EST5", -18000, "EST"), ("<+03>-3", 10800, "+03")),
        *(("<-0330>+3:30", -12600, "-0330"), ("ABC-23:59:59", 86399, "ABC")),
        *(("<A1+>08", -28800, "A1+"), ("Local-0:00:01", 1, "Local")),
    ):
        assert tzrule.parse(text).state(0) == (offset, False, name)


#: A rule, and the changes of a year in UTC.
CHANGES = [
    ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00 EDT", "2026-11-01T06:00:00 EST"),
    ("NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-04-04T14:00:00 NZST", "2026-09-26T14:00:00 NZDT"),
    ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-03-29T01:00:00 IST", "2026-10-25T01:00:00 GMT"),
    (
        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        *("2026-04-04T15:00:00 +1030", "2026-10-03T15:30:00 +11"),
    ),
    # Extended hours, before and after the day.
    ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00 -01", "2026-10-25T01:00:00 -02"),
    ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00 IDT", "2026-10-24T23:00:00 IST"),
    ("ABC0DEF,M3.1.0/167,M10.1.0/-167", "2026-03-07T23:00:00 DEF", "2026-09-27T00:00:00 ABC"),
    # Less than an hour before the day.
    ("ABC0DEF,J60/-0:30,J305/-0:00:01", "2026-02-28T23:30:00 DEF", "2026-10-31T22:59:59 ABC"),
    # Day 60 is 1 March in every year, day 59 is 28 February.
    ("ABC0DEF,J60/0,J305/0:0:1", "2024-03-01T00:00:00 DEF", "2024-10-31T23:00:01 ABC"),
    ("ABC0DEF,J60/0,J305/0", "2023-03-01T00:00:00 DEF", "2023-10-31T23:00:00 ABC"),
    ("ABC0DEF,J59/0,J305/0", "2024-02-28T00:00:00 DEF", "2024-10-31T23:00:00 ABC"),
    # Counted from 0, day 59 is 29 February in leap years.
    ("ABC0DEF,59/0,304/1", "2024-02-29T00:00:00 DEF", "2024-10-31T00:00:00 ABC"),
    ("ABC0DEF,59/0,304/1", "2023-03-01T00:00:00 DEF", "2023-11-01T00:00:00 ABC"),
    # A year that begins in daylight saving, by the clock of the zone.
    ("ABC-10DEF,J1/0,J100/0", "2026-04-09T13:00:00 ABC", "2026-12-31T14:00:00 DEF"),
]


def test_changes_of_a_year() -> None:
    for text, *expected in CHANGES:
        assert changes(text, int(expected[0][:4])) == expected, text
    # Permanent daylight saving, as RFC 9636 and POSIX write it.
    assert changes("XXX3EDT4,0/0,J365/23", 2026) == changes("EST5EDT,0/0,J365/25", 2024) == []


def test_permanent_daylight_saving_holds_at_the_turn_of_the_year() -> None:
    new_year = unix("2026-01-01T00:00:00Z")
    for at in range(new_year - 86400, new_year + 86400, 1800):
        assert state("XXX3EDT4,0/0,J365/23", at) == (-14400, True, "EDT")


names = st.sampled_from(["ABC", "WXYZ", "<+03>", "<-0330>", "<a1B>"])


def durations(least: int, most: int) -> st.SearchStrategy[str]:
    """Seconds as a text, in one of its shorter and longer forms."""
    return st.integers(least, most).map(
        lambda value: (
            f"{'-' * (value < 0)}{abs(value) // 3600}:{abs(value) // 60 % 60:02d}"
            + (f":{abs(value) % 60:02d}" if value % 60 else "")
        )
    ) | st.integers(least // 3600 + 1, most // 3600).map(str)


def dates(first: int, last: int) -> st.SearchStrategy[str]:
    """Dates in months from first to last.

    `zoneinfo` misreads by a day: changes in another year of UTC, days from 0, J59 of leap years.
    """
    in_month = st.tuples(st.integers(first, last), st.integers(1, 5), st.integers(0, 6))
    days = st.integers(first * 30 - 20, last * 30).filter(lambda day: day != 59)
    return in_month.map(lambda date: "M{}.{}.{}".format(*date)) | days.map("J{}".format)


def _is_summer(text: str, at: str) -> bool:
    zone = plain_zone(written([(0, False, "UTC")], footer=text))
    return by_zoneinfo(zone, unix(at))[1]


#: Not so in early releases of Python 3.11: they read -0:30 as half an hour after midnight.
_READS_NEGATIVE_MINUTES = _is_summer("ABC0DEF,J60/-0:30,J305/0", "2026-02-28T23:30:00Z")


@st.composite
def texts(draw: st.DrawFn) -> str:
    offset = draw(st.integers(-40_000, 40_000).filter(bool))
    text = draw(names) + _duration(offset) + draw(names)
    text += draw(st.sampled_from(["", _duration(offset - 3600), _duration(offset + 1800)]))
    first, second = draw(st.permutations([dates(2, 5), dates(7, 11)]))
    times = durations(-604_000, 604_000).filter(
        lambda text: _READS_NEGATIVE_MINUTES or not text.startswith("-") or ":" not in text
    )
    time = st.just("") | times.map("/{}".format)
    return f"{text},{draw(first)}{draw(time)},{draw(second)}{draw(time)}"


def _duration(seconds: int) -> str:
    hours, remainder = divmod(abs(seconds), 3600)
    return f"{'-' * (seconds < 0)}{hours}:{remainder // 60:02d}:{remainder % 60:02d}"


@repeatable
@given(texts(), st.integers(1902, 2100))
def test_a_rule_agrees_with_zoneinfo(text: str, year: int) -> None:
    data = written([(0, False, "UTC")], footer=text)
    actual, zone = zone_in(data), plain_zone(data)
    start, end = unix(f"{year}-01-03T00:00:00Z"), unix(f"{year}-12-28T00:00:00Z")
    listed = [at for at, _ in tzif_files.changes(actual, start, end)]
    assert len(listed) == 3
    for at in (
        *(near for entry in listed for near in (entry - 1, entry)),
        *range(start, end, 10**6),
    ):
        assert actual.state(at) == by_zoneinfo(zone, at), at


MALFORMED = [
    "U0", "UT0", "UTC", "UTC+", "UTC25", "UTC0:60", "UTC0:00:60", "UTC0:", "UTC0:0:0:0",
    "UTC 0", "<UTC0", "<U TC>0", "UTC0x", "<+03>--3", "UTC٣", "UTC0,", "UTC24", "UTC-24",
    "EST5EDT", "EST5,M3.2.0,M11.1.0", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,M11.1.0,M1.1.1",
    "EST5EDT,,", "EST5EDT,M0.2.0,M11.1.0", "EST5EDT,M13.2.0,M11.1.0", "EST5EDT,M3.0.0,M11.1.0",
    "EST5EDT,M3.6.0,M11.1.0", "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,M3.2,M11.1.0",
    "EST5EDT,M3.2.0.0,M11.1.0", "EST5EDT,M-3.2.0,M11.1.0", "EST5EDT,J0,M11.1.0",
    "EST5EDT,J366,M11.1.0", "EST5EDT,366,M11.1.0", "EST5EDT,M3.2.0/168,M11.1.0",
    "EST5EDT,M3.2.0/,M11.1.0", "EST5EDT,M3.2.0/2:00:00:00,M11.1.0", "ABC-23DEF,M3.2.0,M11.1.0",
    ":America/New_York", "EST5EDT4,M3.2.0/2/2,M11.1.0", "EST5 EDT,M3.2.0,M11.1.0",
]  # fmt: skip


def test_malformed_texts() -> None:
    for text in MALFORMED:
        with pytest.raises(ValueError):  # noqa: PT011 - the message is not shown
            tzrule.parse(text)
        assert tzif.read(written([(0, False, "UTC")], footer=text)) is None, text


@repeatable
@given(st.text("ABC<>+-:0123456789,./MJ", max_size=30))
def test_any_text_is_read_or_malformed(text: str) -> None:
    try:
        result = tzrule.parse(text)
    except ValueError:
        return
    for at in (-(10**10), 0, 10**10):
        offset, _, name = result.state(at)
        assert -86400 < offset < 86400
        assert len(name) >= 3


EPOCH = date(1970, 1, 1)


def test_every_new_year_and_leap_year() -> None:
    for year in range(1, 10_000):
        first, days = gregorian.first_day(year), 366 if calendar.isleap(year) else 365
        assert first == (date(year, 1, 1) - EPOCH).days
        assert (gregorian.year_of(first - 1), gregorian.year_of(first)) == (year - 1, year)
        day = date(year, 1, 1) + timedelta(year % days)  # each day of the year, in some year
        number = (day - EPOCH).days
        assert gregorian.date_text(number) == day.isoformat()
        assert gregorian.first_of_month(year, day.month) == number - day.day + 1
        assert gregorian.first_of_month(year, 13) == gregorian.first_day(year + 1) == first + days
        assert gregorian.is_leap(year) == (days == 366)


def test_timestamps() -> None:
    zone = timezone(timedelta(hours=-3))
    at = datetime(2026, 11, 25, 20, 3, 41, 999_999, zone)
    assert gregorian.timestamp(at) == "2026-11-25T23:03:41Z"
    assert gregorian.read_timestamp("2026-11-25T23:03:41Z") == at.replace(microsecond=0)
    assert abs(datetime.now(UTC) - gregorian.read_timestamp(gregorian.timestamp())).days == 0
    for text in ("2026-11-25T23:03:41", "2026-11-25T23:03:41+00:00", "2026-11-25T23:03Z", "x"):
        with pytest.raises(ValueError, match=r"timestamp|isoformat"):
            gregorian.read_timestamp(text)
