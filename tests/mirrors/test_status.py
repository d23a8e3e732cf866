"""STORE/follow.json: what is written is read, and what is damaged is nothing."""

from __future__ import annotations

import json
from pathlib import Path

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
