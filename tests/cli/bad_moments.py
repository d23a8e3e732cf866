"""Signals at a bad moment: ``python -m tests.cli.bad_moments NAME`` ends by the signal's exit.

The first signal is repeated at once, and not half a second later.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import interrupt_main
from contextlib import suppress
from pathlib import Path

from geolookup import cli


def _interrupted() -> None:
    """Raise the SystemExit of a signal in here."""
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(100_000):
        pass


class _Dropping:
    def __del__(self) -> None:
        _interrupted()


def _wait() -> None:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        time.sleep(0.01)


def dropped_by_a_destructor() -> None:
    """Python drops what a destructor raises."""
    _Dropping()
    _wait()


def dropped_by_a_library() -> None:
    """The C++ of a library drops what Python code raises that it calls."""
    with suppress(SystemExit):
        _interrupted()
    _wait()


def repeated_while_files_are_removed() -> None:
    """The exit is on its way: further signals must not interrupt what removes files."""
    signals: list[signal.Signals] = []

    def counted(number: signal.Signals) -> None:
        signals.append(number)
        interrupt_main(number)

    setattr(cli, "interrupt_main", counted)  # noqa: B010 - it imports the name
    try:
        _interrupted()
    finally:
        try:
            Path("/nowhere").unlink()
        except FileNotFoundError:
            ends = time.monotonic() + 60
            while len(signals) < 3 and time.monotonic() < ends:
                time.sleep(0.001)
        print(f"removed after {len(signals)} signals")


MOMENTS = {
    item.__name__: item
    for item in (dropped_by_a_destructor, dropped_by_a_library, repeated_while_files_are_removed)
}

if __name__ == "__main__":
    cli.REPEAT = 0.02
    cli.exit_on_signals()
    MOMENTS[sys.argv[1]]()
