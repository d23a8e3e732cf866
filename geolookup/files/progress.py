"""How far a command is: rows, rows a second and the time left, on one line of a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_INTERVAL = 0.2


class Progress:
    """Drawn on standard error where that is a terminal; silent elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._began = time.monotonic()
        self._last = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._began

    def show(self, rows: int, fraction: float | None) -> None:
        """Draw the line again, if it is time; ``fraction`` of the work is done, None: unknown."""
        now = time.monotonic()
        if not self._shown or now - self._last < _INTERVAL:
            return
        self._last = now
        passed = max(now - self._began, 1e-9)
        left = f"  {_clock(passed / fraction - passed)} left" if fraction else ""
        self._stream.write(f"\r\x1b[K{rows:,} rows  {rows / passed:,.0f} rows/s{left}")
        self._stream.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, second = divmod(max(round(seconds), 0), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
