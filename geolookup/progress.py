"""The progress of a command, on one line of a terminal; elsewhere only its notes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from geolookup.errors import line_text
from geolookup.terminal import own_sequence

_INTERVAL = 0.1  # seconds between two drawings


class _Line:
    """A line of standard error that is drawn over, if that is a terminal."""

    def __init__(self, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = not silent and self._stream.isatty()
        self._silent = silent
        self._began = time.monotonic()
        self._last = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._began

    def clear(self) -> None:
        """Remove the line."""
        self._write("")

    def _due(self) -> bool:
        return self._is_shown and time.monotonic() - self._last > _INTERVAL

    def _draw(self, text: str) -> None:
        self._write(text)
        self._last = time.monotonic()

    def _write(self, text: str) -> None:
        if self._is_shown:
            # \r: back to the beginning of the line; ESC [ K: erase to its end (ECMA-48, EL).
            erase = own_sequence("\r\x1b[K", self._stream)
            self._stream.write(f"{erase}{line_text(text)}")
            self._stream.flush()


class Progress(_Line):
    """The current stage of a command, its rows or bytes, and the time since the beginning."""

    _stage, _rows, _bytes = "", 0, ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show a stage while the block runs."""
        self._stage, self._rows, self._bytes = name, 0, ""
        self._draw(self._text())
        try:
            yield
        finally:
            self.clear()

    def rows(self, count: int) -> None:
        """Add rows to the current stage."""
        self._rows += count
        if self._due():
            self._draw(self._text())

    def bytes(self, done: int, total: int | None) -> None:
        """Set the bytes of the current stage: done, and in all if known."""
        self._bytes = f"{done:,}" + (f" of {total:,} bytes" if total else " bytes") + "  "
        if self._due():
            self._draw(self._text())

    def note(self, text: str) -> None:
        """Show a text beside the current stage, until its next rows or bytes.

        If the output is not a terminal, print a line: the stage may take minutes.
        """
        if self._is_shown:
            self._draw(f"{self._stage}  {text}")
        elif not self._silent:
            self._stream.write(f"geolookup: {line_text(f'{self._stage}: {text}')}\n")
            self._stream.flush()

    def _text(self) -> str:
        rows = f"{self._rows:,} rows  " if self._rows else ""
        return f"{self._stage}  {rows}{self._bytes}{self.seconds:.1f} s"


class RowProgress(_Line):
    """Rows, rows per second, and the time left."""

    def show(self, rows: int, fraction: float | None) -> None:
        """Draw the line; ``fraction`` is the part of the work that is done, None: unknown."""
        if self._due():
            passed = max(self.seconds, 1e-9)
            # 20 s for a quarter: 80 s in all, 60 s left.
            left = f"  {_clock(passed / fraction - passed)} left" if fraction else ""
            self._draw(f"{rows:,} rows  {rows / passed:,.0f} rows/s{left}")


def _clock(seconds: float) -> str:
    minutes, second = divmod(max(round(seconds), 0), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
