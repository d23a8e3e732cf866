"""Whether fuzzing finds a planted bug: mutations of inputs that do not show it, until one does."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.fuzz.target import Target, scrambled


def passes(target: Target, data: bytes) -> bool:
    """Return whether a target has nothing to say of an input."""
    try:
        target.run(data)
    except Exception:  # noqa: BLE001 - whatever it is, it is a finding
        return False
    return True


def found_after(
    target: Target, starts: Iterable[bytes], seed: int, most: int
) -> tuple[int, bytes] | None:
    """Return how many mutations it took to find the planted bug, and the input that shows it."""
    rng = random.Random(seed)
    with target.planted():
        passing = [data for data in starts if passes(target, data)]
        for count in range(1, most + 1):
            start = rng.choice(passing)
            data = target.mutate(start, lambda part: scrambled(part, rng), rng)
            if not passes(target, data):
                return count, data
    return None
