"""Processes that work for another one: they run the same Python, and end with it."""

from __future__ import annotations

import os
import signal
import sys
from threading import Thread


def command(module: str, *arguments: str) -> list[str]:
    """Return the command of a module; ``environment`` goes with it."""
    # Without -P Python would import modules of the working folder first.
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Return the environment in which that Python finds the modules that this one has."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def end_with_input() -> None:
    """Send this process SIGTERM when its standard input ends; returns at once.

    It is a pipe from the other process, which the system closes however that process dies.
    """
    Thread(target=_wait, name="geolookup-parent", daemon=True).start()


def _wait() -> None:
    # Not sys.stdin: at exit, Python waits for the lock of a stream that is being read.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
