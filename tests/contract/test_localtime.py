"""The time object by both kernels: hand-written answers, names that no zone has, instants."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tests.contract.tzif_files import EPOCH, unix
from tests.internals.contract import EARLIEST, LATEST, localtime, time_object
from tests.kernel.modules import MODULES

of_both_kernels = pytest.mark.parametrize("kernel", MODULES)


def local_time(kernel: Any, zone: str | None, at: int) -> dict[str, object]:
    return dict(time_object(zone, kernel.period(zone, at), at))


# Hand-written answers, besides ``tests/golden``. The abbreviation is None where editions
# of the tz database disagree on it.


GOLDEN = [
    ("America/Los_Angeles", "2024-11-03T08:59:59Z", "PDT", "2024-11-03T01:59:59-07:00", True),
    ("America/Los_Angeles", "2024-11-03T09:00:00Z", "PST", "2024-11-03T01:00:00-08:00", False),
    ("Europe/London", "1970-01-01T00:00:00Z", "BST", "1970-01-01T01:00:00+01:00", False),
    ("Africa/Casablanca", "2026-02-20T12:00:00Z", "+00", "2026-02-20T12:00:00+00:00", False),
    ("Africa/Casablanca", "2026-05-15T12:00:00Z", "+01", "2026-05-15T13:00:00+01:00", True),
    ("Africa/Windhoek", "1996-01-15T12:00:00Z", None, "1996-01-15T14:00:00+02:00", True),
    ("Africa/Windhoek", "1996-07-15T12:00:00Z", None, "1996-07-15T13:00:00+01:00", False),
    ("Europe/Prague", "1947-01-15T12:00:00Z", "GMT", "1947-01-15T12:00:00+00:00", False),
    ("Europe/Prague", "1947-03-15T12:00:00Z", "CET", "1947-03-15T13:00:00+01:00", False),
    ("Europe/Prague", "1947-07-15T12:00:00Z", "CEST", "1947-07-15T14:00:00+02:00", True),
    ("Europe/London", "1947-06-01T12:00:00Z", "BDST", "1947-06-01T14:00:00+02:00", True),
    ("Europe/Istanbul", "2016-08-01T12:00:00Z", "EEST", "2016-08-01T15:00:00+03:00", True),
    ("Europe/Istanbul", "2016-10-01T12:00:00Z", "+03", "2016-10-01T15:00:00+03:00", False),
    ("Europe/Paris", "1900-06-15T12:00:00Z", "PMT", "1900-06-15T12:09:00+00:09", False),
    ("Pacific/Apia", "2011-12-31T10:00:00Z", "+14", "2012-01-01T00:00:00+14:00", True),
    ("America/Nome", "1983-10-15T12:00:00Z", "BDT", "1983-10-15T02:00:00-10:00", True),
    ("America/Nome", "1983-11-15T12:00:00Z", "YST", "1983-11-15T03:00:00-09:00", False),
    # 1944 began twice: at 00:01 on 1 January it became 23:01 on 31 December.
    ("America/Phoenix", "1944-01-01T06:00:00Z", "MWT", "1944-01-01T00:00:00-06:00", True),
    ("America/Phoenix", "1944-01-01T06:01:00Z", "MST", "1943-12-31T23:01:00-07:00", False),
    ("America/Phoenix", "1944-01-01T07:00:00Z", "MST", "1944-01-01T00:00:00-07:00", False),
    ("Europe/Samara", "1991-06-15T12:00:00Z", "+03", "1991-06-15T15:00:00+03:00", True),
    ("Europe/Samara", "1991-11-15T12:00:00Z", "+04", "1991-11-15T16:00:00+04:00", False),
]


@of_both_kernels
def test_golden(kernel: Any) -> None:
    for zone, utc, abbr, current_time, is_dst in GOLDEN:
        at = unix(utc)
        sign, hours, minutes = current_time[-6], int(current_time[-5:-3]), int(current_time[-2:])
        answer = local_time(kernel, zone, at)
        assert list(answer.items()) == [
            ("zone", zone),
            ("abbr", abbr or answer["abbr"]),
            ("utc_offset", current_time[-6:]),
            ("utc_offset_seconds", int(f"{sign}1") * (hours * 3600 + minutes * 60)),
            ("current_time", current_time),
            ("current_timestamp", at),
            ("is_dst", is_dst),
        ]


# Names that no zone has.


UNKNOWN = [
    None, "", "No/Where", "America", "america/los_angeles", "AMERICA/LOS_ANGELES", "utc",
    "../etc/passwd", "/etc/localtime", "Europe/../UTC", "./UTC", "America//New_York",
    "America/", "America/New_York/", "America/New_York/x", "America/New York", "UTC\n",
    "NUL\0", "Europe/\0", "\ud800", "Europe/\udfff", "Europe/Málaga", "٣", "a" * 100_000,
    "a/" * 50_000, "zone.tab", "tzdata.zi", "posixrules", "localtime", "posix/UTC",
    "right/UTC", "__init__", "__init__/x", "America/__init__/x", "__init__.py", "-", "/", "_",
]  # fmt: skip


@of_both_kernels
def test_unknown_zones(kernel: Any) -> None:
    for zone in UNKNOWN:
        answer = local_time(kernel, zone, 1795162987)
        known = {name: value for name, value in answer.items() if value is not None}
        assert known == {"current_timestamp": 1795162987}, zone


# The instant.


INSTANTS: list[tuple[object, int]] = [
    (0, 0), (-1, -1), (1.9, 1), (-0.5, -1), (-0.0, 0), (EARLIEST, EARLIEST),
    (LATEST - 1, LATEST - 1), (LATEST - 0.5, LATEST - 1),
    (np.int64(-5), -5), (np.uint8(5), 5), (np.float64(-5.5), -6),
    (datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 0),
    (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
    (datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC), LATEST - 1),
    (datetime(1, 1, 2, tzinfo=UTC), EARLIEST),
    (datetime(1, 1, 1, 10, tzinfo=timezone(timedelta(hours=-14))), EARLIEST),
    (datetime(2026, 7, 1, tzinfo=timezone(timedelta(minutes=345))), 1782843300),
    (datetime(2024, 11, 3, 1, tzinfo=ZoneInfo("America/Los_Angeles")), 1730620800),
    (datetime(2024, 11, 3, 1, tzinfo=ZoneInfo("America/Los_Angeles"), fold=1), 1730624400),
]  # fmt: skip
NO_INSTANTS: list[object] = [
    True, False, "0", b"0", 1j, [], (), object(), int, Decimal(1), Fraction(1), timedelta(),
    date(2026, 1, 1), EPOCH.replace(tzinfo=None), np.True_, np.float32(1), np.array([1]),
    np.datetime64(0, "s"),
]  # fmt: skip
TOO_FAR: list[object] = [
    float("nan"), float("inf"), float("-inf"), 1e300, EARLIEST - 1, EARLIEST - 0.5, LATEST,
    float(LATEST), 10**400, -(10**400), np.float64("nan"), datetime.max.replace(tzinfo=UTC),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
]  # fmt: skip


def test_instant() -> None:
    for at, expected in INSTANTS:
        answer = localtime.instant(at)
        assert (answer, type(answer)) == (expected, int), at
    for at in NO_INSTANTS:
        with pytest.raises(TypeError):
            localtime.instant(at)
    for at in TOO_FAR:
        with pytest.raises(ValueError, match="0001-01-02"):
            localtime.instant(at)


def test_instant_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert int(time.time()) <= localtime.instant(None) <= time.time()
    monkeypatch.setattr(time, "time", lambda: 1.9)
    assert localtime.instant(None) == 1
