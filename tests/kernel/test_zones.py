"""The period of a zone: the compiled kernel beside `zoneinfo`, and files that are damaged."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import DatasetError
from tests.contract.tzif_files import ZONES, choosing, tzif, unix, written
from tests.fuzz import tzif as target
from tests.fuzz.target import scrambled
from tests.internals.contract import DAY, EARLIEST, LATEST, Period, first_day
from tests.internals.kernel import python_zones
from tests.kernel.modules import MODULES, compiled, needs_compiled
from tests.tiers import scaled

INSTANTS = (unix("2026-01-01T00:00:00Z"), unix("2026-07-01T00:00:00Z"), 4 * 10**9)
FOOTERS = (
    "EST5EDT,M3.2.0,M11.1.0", "IST-1GMT0,M10.5.0,M3.5.0/1", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "ABC-10:30:01", "EET-2EEST,M3.5.4/50,M10.5.4/50",
    "ABC0DEF,M3.1.0/167,M10.1.0/-167",
)  # fmt: skip
TYPES = [(-17762, False, "LMT"), (-18000, False, "EST"), (-14400, True, "EDT"), (-18000, True, "X")]


def members(period: Period | None) -> tuple[object, ...]:
    return () if period is None else tuple(getattr(period, name) for name in Period.__slots__)


def check(zone: str, at: int) -> int:
    """Compare the period of an instant, which the compiled kernel decides; return its end."""
    period: Period = compiled.period_in_file(tzif(zone), at)
    assert members(period) == members(python_zones.period(zone, at)), (zone, at)
    assert period.start <= at < period.end
    return period.end


def different() -> list[str]:
    """The zones without those whose file is another's."""
    return list({tzif(zone): zone for zone in ZONES}.values())


@needs_compiled
def test_every_zone() -> None:
    assert len(ZONES) > 500
    for zone in different()[:: scaled(3, 1)]:
        for at in INSTANTS:
            check(zone, at)


@needs_compiled
@pytest.mark.long
def test_a_century_of_every_zone() -> None:
    """All changes, the second before each, and all years: periods follow without gaps."""
    for zone in different():
        at = unix("1950-01-01T00:00:00Z")
        while at < unix("2050-01-01T00:00:00Z"):
            end = check(zone, at)
            check(zone, end - 1)
            at = end


@needs_compiled
def test_the_ends_of_the_range_and_mean_times() -> None:
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Niue", "Europe/Paris", "America/New_York"):
        for at in (EARLIEST, EARLIEST + 366 * DAY, -(5 * 10**9), -(10**9), LATEST - 1):
            check(zone, at)
        assert compiled.period_in_file(tzif(zone), EARLIEST).start == EARLIEST
        assert compiled.period_in_file(tzif(zone), LATEST - 1).end == LATEST


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    (tmp_path / "America").mkdir()
    return tmp_path


@needs_compiled
def test_footers(folder: Path) -> None:
    for number, footer in enumerate(FOOTERS):
        name = f"America/Test{chr(65 + number)}"
        (folder / name).write_bytes(written(TYPES, [(-2717650800, 1)], footer))
        with choosing(folder, package=False):
            for year in range(2023, 2027):
                for part in range(0, 365 * DAY, 30 * DAY + 1800):
                    check(name, first_day(year) * DAY + part)


@pytest.mark.parametrize("kernel", MODULES)
def test_files_for_zoneinfo(kernel: Any, folder: Path) -> None:
    """Days of the year, as Iran's, and version 1, without a footer."""
    iran = written([(12600, False, "+0330")], (), "<+0330>-3:30<+0430>,J79/24,J263/24")
    (folder / "America" / "Iran").write_bytes(iran)
    (folder / "America" / "Old").write_bytes(written(TYPES, [(0, 1), (10**9, 2)], version=1))
    with choosing(folder, package=False):
        period = kernel.period("America/Iran", unix("2021-07-01T00:00:00Z"))
        assert (period.offset, period.abbr, period.is_dst) == (16200, "+0430", True)
        assert period.start == unix("2021-03-20T20:30:00Z")
        assert kernel.period("America/Old", 10**9 - 1).end == 10**9


@pytest.mark.parametrize("kernel", MODULES)
def test_damaged_files(kernel: Any, folder: Path) -> None:
    """An answer, or an error that names the file and the remedy."""
    good = written(TYPES, [(-2717650800, 1)], FOOTERS[0])
    for data in (
        *(good[:40], good[:-1], good[:60] + b"\xff" * 40, b"TZif2" + bytes(100)),
        *(written([(0, False, 'A"C')]), written([(90_000, False, "ABC")])),
        *(written(TYPES, [(0, 9)]), written(TYPES, (), "EST5EDT"), b"TZif" + b"\xff" * 65_600),
    ):
        (folder / "America" / "Damaged").write_bytes(data)
        with (
            choosing(folder, package=False),
            pytest.raises(DatasetError, match=r"America/Damaged: .*GEOLOOKUP_TZ"),
        ):
            kernel.period("America/Damaged", -(10**9) if len(data) > 60 else 0)


@pytest.mark.parametrize("kernel", MODULES)
def test_any_bytes(kernel: Any, folder: Path) -> None:
    rng, answered = random.Random(7), 0
    seeds = [*target.seeds(), *(written(TYPES, [(0, 1)], footer) for footer in FOOTERS)]
    for _ in range(scaled(200, 3_000)):
        data = target.mutate(rng.choice(seeds), lambda seed: scrambled(seed, rng), rng)
        (folder / "America" / "Damaged").write_bytes(data)
        with choosing(folder, package=False):
            at = rng.choice((*INSTANTS, -(10**10)))
            try:
                period = kernel.period("America/Damaged", at)
            except DatasetError:
                continue
            assert period is None or period.start <= at < period.end
            answered += period is not None
    assert answered > 10


@needs_compiled
def test_a_table_is_checked_once() -> None:
    """Else this file of 64 kB takes minutes: for each transition, all types are checked."""
    first, transitions, types, letters = first_day(2024) * DAY, 2_400, 3_600, 21_000
    counts = struct.pack(">6L", 0, 0, 0, transitions, types, letters)
    times = struct.pack(f">{transitions}q", *range(first, first + 1000 * transitions, 1000))
    table = times + bytes(transitions) + types * struct.pack(">lBB", 3600, 0, 0)
    header = b"TZif2" + bytes(15)
    data = header + bytes(24) + header + counts + table + b"A" * (letters - 1) + b"\0\nUTC0\n"
    result = compiled.period_in_file(data, first + 5)
    assert (result.offset, result.abbr) == (3600, "A" * (letters - 1))
