"""The corpus in the repository: inputs from fuzzing that reach code beyond the seeds.

``tests/fuzz/corpus/TARGET/DIGEST`` is one input. ``minimal`` keeps it small: of all inputs it takes
the fewest bytes for the most arcs.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.conftest import ROOT
from tests.fuzz.target import Target

FOLDER = ROOT / "tests" / "fuzz" / "corpus"
#: Bytes of one input, and of all inputs of a target.
LARGEST = 3000
BUDGET = 6000
#: A step between lines: a code object, the line left (0: it was entered), and the line reached.
Arc = tuple[CodeType, int, int]
_FOLDERS = tuple(str(ROOT / folder) for folder in ("geolookup", "builder"))


def entries(name: str, folder: Path = FOLDER) -> list[bytes]:
    """Return the inputs of a target, in the order of their names."""
    target = folder / name
    return [path.read_bytes() for path in sorted(target.iterdir())] if target.is_dir() else []


def file_name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def write(name: str, inputs: Iterable[bytes], folder: Path = FOLDER) -> None:
    """Make these inputs the corpus of a target."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    for path in target.iterdir():
        path.unlink()
    for data in inputs:
        (target / file_name(data)).write_bytes(data)


def minimal(target: Target, inputs: Iterable[bytes]) -> list[bytes]:
    """Return the inputs to keep: by turns the one that reaches most new arcs for its size.

    What the target's seeds reach is not new.
    """
    seeds = list(target.seeds())
    for seed in seeds:
        target.run(seed)  # fills caches: the order of the inputs does not matter
    reached = frozenset[Arc]().union(*(arcs(target.run, seed) for seed in seeds))
    actual = {
        data: arcs(target.run, data) - reached
        for data in sorted(set(inputs), key=lambda other_input: (len(other_input), other_input))
        if len(data) <= LARGEST
    }
    kept: list[bytes] = []
    while actual := {data: new for data, new in actual.items() if new}:
        best = max(actual, key=lambda data: len(actual[data]) / (len(data) + 16))
        new = actual.pop(best)
        if sum(map(len, kept)) + len(best) <= BUDGET:
            kept.append(best)
            actual = {data: item - new for data, item in actual.items()}
    return kept


def arcs(run: Callable[[bytes], None], data: bytes) -> frozenset[Arc]:
    """Return the arcs that ``run(data)`` takes, in all threads; whatever it raises is raised."""
    taken: set[Arc] = set()
    before: dict[int, int] = {}

    def step(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            taken.add((frame.f_code, before.get(id(frame), 0), frame.f_lineno))
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
