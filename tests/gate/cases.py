"""The rate and the quota as a table: requests at instants, and what becomes of each.

Every implementation runs every case: rings and runs in SQLite (``gate/sqlite_admission.py``), the
script in Redis (``gate/redis.py``).
"""

from __future__ import annotations

from typing import NamedTuple

ADMITTED, QUOTA = "admitted", "quota"


def retry(milliseconds: float) -> str:
    """Return the outcome of a request that the rate refuses, with its Retry-After."""
    return f"retry after {milliseconds:g} ms"


class Step(NamedTuple):
    """Requests that come together at a time, their outcomes in order, and the quota used after."""

    #: Milliseconds by the store's clock.
    at: float
    outcomes: list[str]
    used: int
    #: The rate of the plan from this step on; 0: as before.
    rate: int = 0


class Case(NamedTuple):
    """The requests of one account."""

    name: str
    rate: int
    quota: int | None
    steps: list[Step]


CASES = [
    Case(
        "the rate in any second, not in each second of the clock",
        *(2, None),
        [
            Step(900, [ADMITTED, ADMITTED, retry(1000)], 2),
            Step(1000, [retry(900)], 2),
            Step(1899.999, [retry(0.001)], 2),
            Step(1900, [ADMITTED, ADMITTED, retry(1000)], 4),
        ],
    ),
    Case(
        "each admission is free again a second later",
        *(3, None),
        [
            Step(0, [ADMITTED], 1),
            Step(300, [ADMITTED, ADMITTED, retry(700)], 3),
            Step(1000, [ADMITTED, retry(300)], 4),
            Step(1300, [ADMITTED, ADMITTED, retry(700), retry(700)], 6),
        ],
    ),
    Case(
        "a refused request consumes nothing",
        *(1, 2),
        [
            Step(0, [ADMITTED, *[retry(1000)] * 5], 1),
            Step(999, [retry(1)], 1),
            Step(1000, [ADMITTED, retry(1000)], 2),
            Step(2000, [QUOTA], 2),
        ],
    ),
    Case(
        "the rate is checked before the quota",
        *(2, 3),
        [
            Step(0, [ADMITTED, ADMITTED, retry(1000)], 2),
            Step(1000, [ADMITTED, QUOTA, QUOTA], 3),
            Step(60_000, [QUOTA], 3),
        ],
    ),
    Case(
        "the quota ends within requests that come together",
        *(10, 4),
        [
            Step(0, [ADMITTED], 1),
            Step(1, [ADMITTED, ADMITTED, ADMITTED, QUOTA, QUOTA], 4),
        ],
    ),
    Case(
        "a lowered rate counts what was admitted before",
        *(5, None),
        [
            Step(0, [ADMITTED, ADMITTED], 2),
            Step(100, [ADMITTED], 3),
            Step(200, [ADMITTED, ADMITTED, retry(800)], 5),
            Step(400, [retry(800)], 5, rate=2),
            Step(1200, [ADMITTED, ADMITTED, retry(1000)], 7),
        ],
    ),
    Case(
        "a raised rate is free at once",
        *(2, None),
        [
            Step(0, [ADMITTED, ADMITTED, retry(1000)], 2),
            Step(100, [ADMITTED, ADMITTED, ADMITTED, retry(900)], 5, rate=5),
            Step(1000, [ADMITTED, ADMITTED, retry(100)], 7),
        ],
    ),
    Case(
        "admissions of the future count as now, after the clock was set back",
        *(3, None),
        [
            Step(10_000, [ADMITTED], 1),
            Step(10_500, [ADMITTED], 2),
            Step(10_200, [ADMITTED, retry(800)], 3),
            Step(11_000, [ADMITTED, retry(200)], 4),
            Step(11_200, [ADMITTED, ADMITTED, retry(800)], 6),
            Step(2_000, [retry(1000)], 6),
            Step(3_000, [ADMITTED, ADMITTED, ADMITTED, retry(1000)], 9),
        ],
    ),
    Case(
        "an admission after the clock was set back, without a refusal at that time",
        *(3, None),
        [
            Step(10_000, [ADMITTED], 1),
            Step(10_500, [ADMITTED], 2),
            Step(10_200, [ADMITTED], 3),
            Step(11_000, [ADMITTED], 4),
            Step(11_200, [ADMITTED, ADMITTED, retry(800)], 6),
        ],
    ),
]
