"""The progress of a command, on one line of a terminal; elsewhere only its notes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TextIO

from geolookup.errors import count_text, line_text
from geolookup.terminal import own_sequence

_INTERVAL = 0.1  # seconds between two drawings


class Progress:
    """The current stage of a command, its rows or bytes, and the time since the beginning."""

    def __init__(self, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown, self._silent = not silent and self._stream.isatty(), silent
        self._began, self._last = time.monotonic(), 0.0
        self._stage, self._rows, self._bytes = "", 0, ""

    @property
    def seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._began

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
        self._draw_if_due(self._text)

    def bytes(self, done: int, total: int | None) -> None:
        """Set the bytes of the current stage: done, and in all if known."""
        self._bytes = f"{done:,}" + (f" of {total:,} bytes" if total else " bytes") + "  "
        self._draw_if_due(self._text)

    def show(self, rows: int, fraction: float | None) -> None:
        """Show rows, rows per second, and the time left.

        ``fraction`` is the part of the work that is done, None: unknown.
        """
        passed = max(self.seconds, 1e-9)
        text = f"{count_text(rows, 'row')}  {rows / passed:,.0f} rows/s"
        if fraction:  # 20 s for a quarter: 80 s in all, 60 s left
            text += f"  {timedelta(seconds=max(round(passed / fraction - passed), 0))} left"
        self._draw_if_due(lambda: text)

    def note(self, text: str) -> None:
        """Show a text beside the current stage, until its next rows or bytes.

        If the output is not a terminal, print a line: the stage may take minutes.
        """
        if self._is_shown:
            self._draw(f"{self._stage}  {text}")
        elif not self._silent:
            self._stream.write(f"geolookup: {line_text(f'{self._stage}: {text}')}\n")
            self._stream.flush()

    def clear(self) -> None:
        """Remove the line."""
        self._draw("")

    def _draw_if_due(self, text: Callable[[], str]) -> None:
        if self._is_shown and time.monotonic() - self._last > _INTERVAL:
            self._draw(text())
            self._last = time.monotonic()

    def _draw(self, text: str) -> None:
        if self._is_shown:
            # \r: back to the beginning of the line; ESC [ K: erase to its end (ECMA-48, EL).
            erase = own_sequence("\r\x1b[K", self._stream)
            self._stream.write(f"{erase}{line_text(text)}")
            self._stream.flush()

    def _text(self) -> str:
        rows = f"{count_text(self._rows, 'row')}  " if self._rows else ""
        return f"{self._stage}  {rows}{self._bytes}{self.seconds:.1f} s"
