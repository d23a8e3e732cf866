"""The record of the updates of a store: STORE/update.json.

It is written after each update. ``geolookup serve`` shows it in its probes and metrics. A missing
or damaged file counts as a store that was never updated.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FILE_MODE

STATE = "update.json"
#: The outcomes of an update, for the counts.
OUTCOMES = ("published", "unchanged", "held", "failed")
_TIMES = ("began_at", "succeeded_at", "failed_at", "expires_at")
_FORMAT, _VERSION = "geolookup-update", 1


@dataclass(frozen=True, slots=True)
class State:
    """The updates of a store so far. Times are ISO 8601 in UTC, empty for never.

    ``source`` is the address of a mirror, the path of an archive or the name in a recipe. The last
    update that succeeded began at ``began_at``. ``failures`` counts those that failed since.
    ``counts`` are by outcome. ``index`` is the SHA-256 of the index of a mirror that was followed
    last, ``serial`` and ``expires_at`` are its own; ``followed`` is its current generation, and
    when the mirror published that. ``inputs`` is the digest of the inputs of a recipe.
    """

    source: str = ""
    began_at: str = ""
    succeeded_at: str = ""
    failed_at: str = ""
    failures: int = 0
    problem: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0  # downloaded, in all
    generation: str = ""  # current after the last update that succeeded
    index: str = ""
    serial: int = 0
    expires_at: str = ""
    followed: str = ""
    inputs: str = ""

    def after(self, outcome: str, problem: str = "", **members: Any) -> State:
        """Return the state after an update, with members that changed; ``problem``: it failed."""
        members |= {"counts": {**self.counts, outcome: self.counts.get(outcome, 0) + 1}}
        if problem:
            members |= {"failures": self.failures + 1, "failed_at": timestamp()}
        else:
            members |= {"failures": 0, "succeeded_at": timestamp()}
        return replace(self, problem=problem, **members)


def read_state(store: str | os.PathLike[str]) -> State:
    """Return the state of a store; the state before any update if it is missing or damaged."""
    try:
        document = json.loads(Path(store, STATE).read_bytes())
        is_ours = document.pop("format") == _FORMAT and document.pop("format_version") == _VERSION
        state = State(**document)
        # The default of a member has its type; a time that is malformed raises ValueError.
        is_typed = all(
            type(value) is type(getattr(State(), name)) for name, value in document.items()
        )
        has_numbers = all(type(count) is int for count in state.counts.values())
        for time in filter(None, (getattr(state, name) for name in _TIMES)):
            read_timestamp(time)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return State()
    return state if is_ours and is_typed and has_numbers else State()


def write_state(store: Path, state: State) -> None:
    """Replace the file, atomically; OutputError if it cannot be written."""
    document = {"format": _FORMAT, "format_version": _VERSION, **asdict(state)}
    with atomic.staged_file(store / STATE, FILE_MODE) as fresh:
        fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
