"""When a follower polls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.mirrors.schedule import Schedule

SCHEDULES = st.builds(Schedule, st.floats(0.1, 1e6), st.floats(0, 1))


@given(SCHEDULES)
def test_waits_differ_by_the_jitter_at_most(schedule: Schedule) -> None:
    low, high = schedule.every * (1 - schedule.jitter), schedule.every * (1 + schedule.jitter)
    assert low <= schedule.next() <= high
    assert 0 <= schedule.first() <= schedule.every


@given(SCHEDULES, st.integers(1, 10_000))
def test_failures_wait_from_a_tenth_of_the_interval_up_to_it(
    schedule: Schedule, failures: int
) -> None:
    most = min(schedule.every, schedule.every / 10 * 2 ** min(failures - 1, 20))
    found = schedule.retry(failures, None)
    assert most * (1 - schedule.jitter) <= found <= most * (1 + schedule.jitter)


def test_waits_double() -> None:
    schedule = Schedule(300, 0)
    waits = [schedule.retry(failures, None) for failures in range(1, 8)]
    assert waits == [30, 60, 120, 240, 300, 300, 300]


@given(SCHEDULES, st.integers(1, 100), st.floats(0, 1e9))
def test_a_wait_that_the_mirror_asks_for_is_kept_within_reason(
    schedule: Schedule, failures: int, asked: float
) -> None:
    found = schedule.retry(failures, asked)
    assert found >= min(asked, max(schedule.every, 3600))
    assert found <= max(schedule.every, 3600) * (1 + schedule.jitter)


def test_waits_are_spread_over_their_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly between two ends, of which this takes each."""
    schedule = Schedule(100, 0.5)
    for end, waits in ((0, (0, 50, 50, 30)), (1, (100, 150, 150, 45))):
        monkeypatch.setattr("random.uniform", lambda *ends, end=end: ends[end])
        asked = schedule.retry(1, 30)
        assert (schedule.first(), schedule.next(), schedule.retry(9, None), asked) == waits
