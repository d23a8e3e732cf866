"""Periods that the compiled kernel reads from TZif files, beside ``localtime``: it defines them.

The kernel leaves the files that it does not decide to ``localtime``. So it may find nothing
anywhere, but must decide on the files of the tz database, or a first pass is slow.
"""

from __future__ import annotations

import random
import struct

import pytest

from tests.contract import tzif_files as real
from tests.contract.tzif_files import written
from tests.fuzz import tzif as target
from tests.fuzz.target import scrambled
from tests.internals.contract import DAY, EARLIEST, LATEST, Period, first_day, localtime, tzif
from tests.kernel.modules import needs_compiled, zones
from tests.tiers import scaled

pytestmark = needs_compiled

INSTANTS = (1, real.unix("2026-01-01T00:00:00Z"), real.unix("2026-07-01T00:00:00Z"), 4 * 10**9)
FOOTERS = (
    "EST5EDT,M3.2.0,M11.1.0", "IST-1GMT0,M10.5.0,M3.5.0/1", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "XXX3EDT4,M1.1.0/0,M12.5.6/167", "ABC-10:30:01",
    "STD0DST,M1.1.0/-167,M12.4.3/167", "STD0DST0,M4.1.0,M10.1.0", "EET-2EEST,M3.5.4/50,M10.5.4/50",
)  # fmt: skip
TYPES = [(-17762, False, "LMT"), (-18000, False, "EST"), (-14400, True, "EDT"), (-18000, True, "X")]


def defined(data: bytes, at: int) -> Period | None:
    zone = tzif.read(data)
    if zone is None:
        return None
    try:
        return next(
            period
            for period in localtime.periods_around(zone, at)
            if period.start <= at < period.end
        )
    except ValueError:
        return None


def members(period: Period | None) -> tuple[object, ...]:
    return () if period is None else tuple(getattr(period, name) for name in Period.__slots__)


def decided(data: bytes, at: int) -> bool:
    """Compare, and return whether the kernel decides."""
    result = zones.period_in_file(data, at)
    assert result is None or members(result) == members(defined(data, at)), (data, at)
    return result is not None


def test_every_zone() -> None:
    for zone in real.ZONES:
        data = real.tzif(zone)
        assert all(decided(data, at) for at in INSTANTS), zone


@pytest.mark.long
def test_every_zone_at_each_change() -> None:
    for data, zone in {real.tzif(zone): zone for zone in real.ZONES}.items():
        changes = {near for at in real.transitions(zone) for near in (at - 1, at, at + 1)}
        years = (*range(1850, 2101), 2, 3, 2400, 9998)
        days = {(first_day(year) + part) * DAY for year in years for part in (0, 100, 200)}
        assert all(decided(data, at) for at in changes | days if at >= EARLIEST + 366 * DAY), zone


def test_footers() -> None:
    for footer in FOOTERS:
        data = written(TYPES, [(-2717650800, 1)], footer)
        for at in range(first_day(2023) * DAY, first_day(2026) * DAY, scaled(40_000, 1_800)):
            assert decided(data, at), footer


def test_tables() -> None:
    rng, asked, answered = random.Random(9), 0, 0
    first = first_day(2024) * DAY
    for _ in range(scaled(150, 6_000)):
        seconds = sorted(rng.sample(range(first - 99 * DAY, first + 500 * DAY), rng.randint(1, 8)))
        data = written(TYPES, [(at, rng.randrange(4)) for at in seconds], rng.choice(FOOTERS))
        for at in (first - 1, first, *seconds, *(at - 1 for at in seconds)):
            asked, answered = asked + 1, answered + decided(data, at)
    assert answered / asked > 0.5


def test_the_ends_of_the_range() -> None:
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Niue"):
        data = real.tzif(zone)
        left = (EARLIEST, EARLIEST + DAY, LATEST - DAY, LATEST - 1)
        assert not any(decided(data, at) for at in left), zone  # to ``localtime``
        inside = (EARLIEST + 366 * DAY, LATEST - 366 * DAY)
        assert all(decided(data, at) for at in inside), zone


def test_damaged_files() -> None:
    rng, answered = random.Random(7), 0
    seeds = [*target.seeds(), *(written(TYPES, [(0, 1)], footer) for footer in FOOTERS)]
    for _ in range(scaled(3_000, 200_000)):
        data = target.mutate(rng.choice(seeds), lambda seed: scrambled(seed, rng), rng)
        answered += decided(data, rng.choice((*INSTANTS, -(10**10))))
    assert answered > 50


def test_a_table_is_checked_once() -> None:
    """Else this file of 64 kB takes minutes: for each transition, all types are checked."""
    first, transitions, types, letters = first_day(2024) * DAY, 2_400, 3_600, 21_000
    counts = struct.pack(">6L", 0, 0, 0, transitions, types, letters)
    times = struct.pack(f">{transitions}q", *range(first, first + 1000 * transitions, 1000))
    table = times + bytes(transitions) + types * struct.pack(">lBB", 3600, 0, 0)
    header = b"TZif2" + bytes(15)
    data = header + bytes(24) + header + counts + table + b"A" * (letters - 1) + b"\0\nUTC0\n"
    result = zones.period_in_file(data, first + 5)
    assert (result.offset, result.abbr) == (3600, "A" * (letters - 1))
