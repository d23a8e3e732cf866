"""The progress of a command, on one line of a terminal; elsewhere only its notes.

Strategy: code that may take seconds names its stages and counts its work on ``current()``. Only
the command line shows them (``shown``). Other programs that call the library see nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Event, RLock, Thread
from typing import TextIO

from geolookup.errors import count_text, line_text
from geolookup.terminal import own_sequence

_INTERVAL = 0.1  # seconds between two drawings
_TICK = 1.0  # seconds between two drawings without news


class Progress:
    """The current stage of a command, its rows or bytes, and the time since the beginning."""

    def __init__(self, stream: TextIO | None = None, *, silent: bool = False) -> None:
        # None: a process may be started without standard error.
        self._stream = None if silent else stream or sys.stderr
        self._is_shown = self._stream is not None and self._stream.isatty()
        self._began, self._last, self._drawing = time.monotonic(), 0.0, RLock()
        self._stage = self._next = self._done = ""
        self._rows = 0

    @property
    def seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._began

    @contextmanager
    def stage(self, name: str, then: str = "") -> Iterator[Progress]:
        """Show a stage while the block runs, and the one that comes ``then``.

        A stage inside another is shown instead of it until it ends; ``then`` stays the outer one's.
        """
        outer = self._stage, self._next, self._done, self._rows
        self._stage, self._next, self._done, self._rows = name, then or outer[1], "", 0
        self._draw(self._text())
        try:
            with nullcontext() if outer[0] else self._ticking():
                yield self
        finally:
            self._stage, self._next, self._done, self._rows = outer
            self._draw(self._text())

    @contextmanager
    def _ticking(self) -> Iterator[None]:
        """Draw the time again each second of the block: one step of numpy may take many."""
        if not self._is_shown:
            yield
            return
        ended = Event()

        def tick() -> None:
            while not ended.wait(_TICK):
                self._draw(self._text())

        ticker = Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join()

    def rows(self, count: int) -> None:
        """Add rows to the current stage."""
        self._rows += count
        self._show(count_text(self._rows, "row"))

    def bytes(self, done: int, total: int | None) -> None:
        """Set the bytes of the current stage: done, and in all if known."""
        self._show(f"{done:,}" + (f" of {total:,} bytes" if total else " bytes"))

    def show(self, rows: int, fraction: float | None) -> None:
        """Show rows, rows per second, and the time left.

        ``fraction`` is the part of the work that is done, None: unknown.
        """
        from datetime import timedelta

        passed = max(self.seconds, 1e-9)
        text = f"{count_text(rows, 'row')}  {rows / passed:,.0f} rows/s"
        if fraction:  # 20 s for a quarter: 80 s in all, 60 s left
            text += f"  {timedelta(seconds=max(round(passed / fraction - passed), 0))} left"
        self._show(text)

    def note(self, text: str) -> None:
        """Show a text beside the current stage, until its next rows or bytes.

        If the output is not a terminal, print a line: the stage may take minutes.
        """
        if self._is_shown:
            self._draw(f"{self._stage}  {text}")
        elif self._stream is not None:
            self._stream.write(f"geolookup: {line_text(f'{self._stage}: {text}')}\n")
            self._stream.flush()

    def clear(self) -> None:
        """Remove the line."""
        self._draw("")

    def _show(self, done: str) -> None:
        self._done = f"{done}  "
        if self._is_shown and time.monotonic() - self._last > _INTERVAL:
            self._draw(self._text())
            self._last = time.monotonic()

    def _draw(self, text: str) -> None:
        if not self._is_shown or self._stream is None:
            return
        # \r: back to the beginning of the line; ESC [ K: erase to its end (ECMA-48, EL).
        erase = own_sequence("\r\x1b[K", self._stream)
        with self._drawing:
            self._stream.write(f"{erase}{line_text(text)}")
            self._stream.flush()

    def _text(self) -> str:
        then = f", then {self._next}" if self._next else ""
        return f"{self._stage}  {self._done}{self.seconds:.1f} s{then}" if self._stage else ""


#: Threads of a command have no progress of their own: one thread writes the line.
_SILENT = Progress(silent=True)
_CURRENT: ContextVar[Progress | None] = ContextVar("progress", default=None)


def current() -> Progress:
    """Return the progress of the running command; it is silent in other programs."""
    return _CURRENT.get() or _SILENT


def beside(output: str) -> Progress:
    """Return ``current()``; silent if the output is ``-`` and standard output is a terminal."""
    is_terminal = output == "-" and sys.stdout is not None and sys.stdout.isatty()
    return _SILENT if is_terminal else current()


@contextmanager
def stage(name: str, then: str = "") -> Iterator[Progress]:
    """Show a stage of the running command while the block, or the decorated function, runs."""
    with current().stage(name, then) as progress:
        yield progress


@contextmanager
def shown(*, silent: bool = False) -> Iterator[None]:
    """Show the progress of the block on standard error, if that is a terminal; not if silent."""
    before = _CURRENT.set(Progress(silent=silent))
    try:
        yield
    finally:
        _CURRENT.reset(before)
