"""Days of the calendar, against `datetime`."""

from __future__ import annotations

import calendar
from datetime import date

from hypothesis import example, given, settings
from hypothesis import strategies as st

from geolookup.contract import gregorian
from tests.tiers import scaled

EPOCH = date(1970, 1, 1)

repeatable = settings(
    derandomize=True, deadline=None, database=None, max_examples=scaled(200, 2000)
)


@repeatable
@given(st.dates())
@example(date.min)
@example(date.max)
@example(date(2000, 2, 29))
@example(date(1900, 2, 28))
def test_days_are_those_of_datetime(day: date) -> None:
    number = (day - EPOCH).days
    assert gregorian.year_of(number) == day.year
    assert gregorian.date_text(number) == day.isoformat()
    assert gregorian.first_of_month(day.year, day.month) == number - day.day + 1


def test_every_new_year_and_leap_year() -> None:
    for year in range(1, 10_000):
        first, days = gregorian.first_day(year), 366 if calendar.isleap(year) else 365
        assert first == (date(year, 1, 1) - EPOCH).days
        assert (gregorian.year_of(first - 1), gregorian.year_of(first)) == (year - 1, year)
        assert gregorian.first_of_month(year, 13) == gregorian.first_day(year + 1) == first + days
        assert gregorian.is_leap(year) == (days == 366)
