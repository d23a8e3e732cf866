"""What a follower writes of its polls, and when it polls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.mirrors import status
from geolookup.mirrors.schedule import Schedule
from geolookup.mirrors.status import STATUS, Status


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = Status(url="https://x/", index="ab", serial=7).after_failure("no")
    found = found.after_success("updated", generation="cd", bytes=5)
    status.write(tmp_path, found)
    assert status.read(tmp_path) == found


def test_failures_are_counted_until_a_success() -> None:
    failed = Status().after_failure("one").after_failure("two")
    assert (failed.failures, failed.problem, failed.succeeded_at) == (2, "two", "")
    again = failed.after_success("current")
    assert (again.failures, again.problem) == (0, "")
    assert again.succeeded_at == again.polled_at != ""
    assert again.polls == {"failed": 2, "current": 1}


CHANGES: tuple[dict[str, object], ...] = (
    {"format": "other"},
    {"format_version": 2},
    {"serial": "7"},
    {"serial": True},
    {"failures": None},
    {"polled_at": "yesterday"},
    {"polled_at": "2026-11-23T10:00:00"},
    {"expires_at": "tomorrow"},
    {"succeeded_at": "2026-11-23T10:00:00"},
    {"expires_at": "2026-11-23T10:00:00"},
    {"polls": []},
    {"polls": {"current": "1"}},
    {"more": 1},
)


def test_another_file_is_as_none(tmp_path: Path) -> None:
    status.write(tmp_path, Status(serial=7).after_success("current"))
    stated = json.loads((tmp_path / STATUS).read_text())
    changed = [json.dumps({**stated, **change}) for change in CHANGES]
    lacking = [
        json.dumps({k: v for k, v in stated.items() if k != name})
        for name in ("format", "format_version")
    ]
    for text in (*changed, *lacking, "", "[]", "null", "{", "[" * 100_000):
        (tmp_path / STATUS).write_text(text)
        assert status.read(tmp_path) == Status(), text[:99]
    assert status.read(tmp_path / "nowhere") == Status()


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
