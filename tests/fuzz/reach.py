"""Which arcs an input reaches: steps from one line of geolookup's Python code to the next."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tests.conftest import ROOT

#: A code object, the line left (0: it was entered), and the line reached.
Arc = tuple[CodeType, int, int]
_FOLDERS = tuple(str(ROOT / folder) for folder in ("geolookup", "builder"))


def arcs(run: Callable[[bytes], None], data: bytes) -> frozenset[Arc]:
    """Return the arcs that ``run(data)`` takes, in all threads; whatever it raises is raised."""
    taken: set[Arc] = set()
    before: dict[int, int] = {}

    def step(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            last = before.get(id(frame), 0)
            taken.add((frame.f_code, last, frame.f_lineno))
            before[id(frame)] = frame.f_lineno
        elif event == "return":
            before.pop(id(frame), None)
        return step

    def enter(frame: FrameType, _event: str, _argument: object) -> Any:
        return step if frame.f_code.co_filename.startswith(_FOLDERS) else None

    traced = sys.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        run(data)
    finally:
        sys.settrace(traced)
        threading.settrace(None)
    return frozenset(taken)
