"""TZif files: no bytes raise, and periods of every year fit together."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.contract.tzif_files import tzif as real
from tests.contract.tzif_files import written
from tests.fuzz.target import Change, Target
from tests.internals.contract import EARLIEST, LATEST, Period
from tests.kernel.modules import compiled

_ZONES = ("Etc/UTC", "Europe/Dublin", "Africa/Casablanca", "Asia/Kathmandu", "Antarctica/Troll")
_FOOTERS = (
    "EST5EDT,M3.2.0,M11.1.0", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "XXX3EDT4,0/0,J365/23", "ABC0",
    "ABC-10:30:01DEF,J60/167,300/-167:59:59", "XXX3EDT4,M1.1.0/0,M12.5.6/167",
    "STD0DST,M1.1.0/-167,M12.4.3/167", "STD0DST0,M4.1.0,M10.1.0",
)  # fmt: skip
_TYPES = [(-17762, False, "LMT"), (-18000, False, "EST"), (-14400, True, "EDT")]
_TIMES = [(-2717650800, 1), (-1633280400, 2), (-1615140000, 1)]
_INSTANTS = (EARLIEST, -(10**10), -1633280400, 0, 1_800_000_000, 4 * 10**9, LATEST - 1)


def seeds() -> Iterator[bytes]:
    for footer in _FOOTERS:
        yield written(_TYPES, _TIMES, footer)
    yield written(_TYPES, _TIMES[1:], version=1)
    yield written(_TYPES[:1])
    yield from map(real, _ZONES)


def run(data: bytes) -> None:
    for at in _INSTANTS:
        result = compiled.period_in_file(data, at)
        if result is not None:
            _check(data, result, at)


def _check(data: bytes, local: Period, at: int) -> None:
    assert local.start <= at < local.end
    assert local.end - local.start < 369 * 86400
    assert abs(local.offset) <= 86400
    assert local.offset % 60 == 0
    assert local.abbr.isascii()
    assert compiled.period_in_file(data, local.end - 1).start == local.start
    if local.end < LATEST:
        later = compiled.period_in_file(data, local.end)
        assert later is None or later.start == local.end


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change the whole file, or only the footer."""
    head, newline, footer = data[:-1].rpartition(b"\n")
    if newline and rng.random() < 0.5:
        return head + newline + change(footer).replace(b"\n", b"") + b"\n"
    return change(data)


TARGETS = {"tzif": Target(run, seeds, mutate)}
