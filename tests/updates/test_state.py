"""The record of updates: what is written is read, anything else counts as none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.internals.updates import STATE, State, read_state, write_state


def test_what_is_written_is_read(tmp_path: Path) -> None:
    failed = State(source="https://x/", index="ab", serial=7).after_failure("no")
    assert (failed.failures, failed.problem, failed.succeeded_at) == (1, "no", "")
    state = failed.after_success("published", generation="cd", bytes=5)
    assert (state.failures, state.problem, state.counts) == (0, "", {"failed": 1, "published": 1})
    write_state(tmp_path, state)
    assert read_state(tmp_path) == state
    assert read_state(tmp_path / "nowhere") == State()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"format": ...},
        {"format_version": 2},
        {"format_version": ...},
        {"serial": "7"},
        {"serial": True},
        {"failures": None},
        {"began_at": "yesterday"},
        {"failed_at": "2026-11-23T10:00:00"},
        {"expires_at": "tomorrow"},
        {"counts": []},
        {"counts": {"unchanged": "1"}},
        {"more": 1},
    ],
)
def test_another_file_is_as_none(tmp_path: Path, change: dict[str, object]) -> None:
    write_state(tmp_path, State(serial=7).after_success("unchanged"))
    members = {**json.loads((tmp_path / STATE).read_bytes()), **change}
    members = {name: value for name, value in members.items() if value is not ...}
    for text in (json.dumps(members), "", "[]", "null", "{", "[" * 100_000):
        (tmp_path / STATE).write_text(text, encoding="utf-8")
        assert read_state(tmp_path) == State(), text[:99]
