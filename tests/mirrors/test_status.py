"""STORE/follow.json: what is written is read, and what is damaged is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geolookup.mirrors import status
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


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"format_version": 2},
        {"serial": "7"},
        {"serial": True},
        {"failures": None},
        {"polled_at": "yesterday"},
        {"polled_at": "2026-11-23T10:00:00"},
        {"expires_at": "tomorrow"},
        {"polls": []},
        {"polls": {"current": "1"}},
        {"more": 1},
    ],
    ids=str,
)
def test_another_file_is_as_none(tmp_path: Path, change: dict[str, object]) -> None:
    status.write(tmp_path, Status(serial=7).after_success("current"))
    stated = json.loads((tmp_path / STATUS).read_text())
    (tmp_path / STATUS).write_text(json.dumps({**stated, **change}))
    assert status.read(tmp_path) == Status()


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000], ids=range(5))
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / STATUS).write_text(text)
    assert status.read(tmp_path) == Status()
    assert status.read(tmp_path / "nowhere") == Status()
