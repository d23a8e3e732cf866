"""The plain version of the rate, which the gate is held against: every admission, in a list."""

from __future__ import annotations

from collections.abc import Sequence

from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate.admission import Exact, Leased

SECOND = 1_000_000


class SlidingLog:
    """All admissions so far; one more may come if fewer than ``rate`` are under a second old."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.admitted: list[int] = []

    def allows(self, now: int) -> bool:
        return sum(now - SECOND < stamp <= now for stamp in self.admitted) < self.rate


def most_in_a_second(stamps: Sequence[int]) -> int:
    """Return the most stamps that any half-open second holds."""
    ordered = sorted(stamps)
    most = first = 0
    for last, stamp in enumerate(ordered):
        while ordered[first] <= stamp - SECOND:
            first += 1
        most = max(most, last - first + 1)
    return most


def passes(admission: Exact | Leased) -> bool | None:
    """Ask for one request: True admitted, False too fast, None out of quota."""
    try:
        admission.admit()
    except RateLimitError:
        return False
    except QuotaError:
        return None
    return True
