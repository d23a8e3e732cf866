"""Processes that work for another one: they run the same Python, and end with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from threading import Thread


def command(module: str, *arguments: str) -> list[str]:
    """Return the command of a module; ``environment`` goes with it."""
    # Without -P Python would import modules of the working folder first.
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Return the environment in which that Python finds the modules that this one has."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def at_end_of_input(act: Callable[[], None]) -> None:
    """Call ``act`` on a thread when standard input ends; returns at once.

    It is a pipe from the other process, which the system closes however that process dies.
    """
    Thread(target=_wait, args=(act,), name="geolookup-parent", daemon=True).start()


def _wait(act: Callable[[], None]) -> None:
    # Not sys.stdin: at exit, Python waits for the lock of a stream that is being read.
    while os.read(0, 1):
        pass
    act()
