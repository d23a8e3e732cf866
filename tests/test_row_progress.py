"""The line of a command that reads a table: rows, rows a second, and the time left."""

from __future__ import annotations

import io

import pytest

from geolookup.progress import RowProgress
from tests.builder.test_progress import CLEAR, Terminal


@pytest.mark.parametrize(
    ("fraction", "left"), [(0.5, "0:10"), (0.25, "0:30"), (0.001, "2:46:30"), (None, "")]
)
def test_rows_rate_and_time_left(
    monkeypatch: pytest.MonkeyPatch, fraction: float | None, left: str
) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    terminal = Terminal()
    progress = RowProgress(terminal)
    now[0] += 10
    progress.show(20_000, fraction)
    shown = f"{CLEAR}20,000 rows  2,000 rows/s" + (f"  {left} left" if left else "")
    assert terminal.getvalue() == shown
    now[0] += 0.05
    progress.show(30_000, fraction)  # too soon after the last
    assert terminal.getvalue() == shown
    progress.clear()
    assert terminal.getvalue() == shown + CLEAR
    assert progress.seconds == pytest.approx(10.05)


def test_no_terminal_no_line() -> None:
    stream = io.StringIO()
    progress = RowProgress(stream)
    progress._last = float("-inf")
    progress.show(1, 0.5)
    progress.clear()
    assert stream.getvalue() == ""
