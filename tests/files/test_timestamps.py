"""Written instants: every form is the same second."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.files import TextError, unix_seconds
from tests.internals.tables import RowNote, instants_of

SECOND = 971211336
FORMS = [
    *("971211336", " 971211336.9 "),
    *("2000-10-10T20:55:36Z", "2000-10-10 13:55:36-0700", "2000-10-10T13:55:36.25-07:00"),
    *("2000-10-10T20:55:36.999999999Z", "2000-10-10 20:55:36 UTC", "2000-10-10T20:55:36.5UTC"),
    *("10/Oct/2000:13:55:36 -0700", "10/oct/2000:20:55:36 +0000"),
    *("Tue, 10 Oct 2000 20:55:36 GMT", "Tue, 10 Oct 2000 13:55:36 -0700", "10 Oct 2000 20:55:36 Z"),
]
NO_INSTANTS = [
    *("yesterday", "", "nan", "1e9", "10/10/2000", "10.10.2000 13:55:36", "2000-13-01T00:00:00Z"),
    *("10/Okt/2000:13:55:36 -0700", "31/Jun/2000:13:55:36 -0700", "10/Oct/2000:24:00:00 -0700"),
    *("10/Oct/2000:13:55:36 -0760", "10/Oct/2000:13:55:36  0700", "1O/Oct/2000:13:55:36 -0700"),
    *("Tue, 10 Oct 00 20:55:36 GMT", "Tue, 10 Oct 2000 20:55:36 EST", "10/Oct/2000:13:55:36"),
    *("10/Oct/2000:13:55:61 -0700", "10/Oct/2000:13:60:36 -0700", "10/Oct/2000:13:55:36 -2400"),
    *("2000-10-10T20:55:36.0000000000Z", "2000-10-10 UTC", "2000-10-10T20:55:36 CET"),
    *("2000-10-10T20:55:36+7", "99999999999999999", "8.8.8.8"),
]


def seconds(texts: Sequence[str | None], zone: str | None = None) -> list[int | None]:
    result: list[int | None] = unix_seconds(pa.array(texts, pa.string()), zone).to_pylist()
    return result


def refused(text: object, zone: str | None = None) -> str:
    with pytest.raises(TextError) as caught:
        unix_seconds(pa.array([None, text, text]), zone)
    assert caught.value.row == 1
    assert str(text) not in str(caught.value) or not text
    return str(caught.value)


def test_every_form() -> None:
    assert seconds([*FORMS, None]) == [SECOND] * len(FORMS) + [None]
    assert seconds(["1795132800000", "-1.5", "253402214399000"]) == [1795132800, -2, 253402214399]
    assert seconds(["31/Dec/2016:23:59:60 +0000", "31 Dec 2016 23:59:60 Z"]) == [1483228800] * 2
    assert seconds(["Tue, 3 Oct 2000 20:55 GMT", "Tue, 03 Oct 2000 20:55:00 UT"]) == [970606500] * 2
    for text in NO_INSTANTS:
        refused(text)
    assert seconds(["99999999999", "100000000000"]) == [99999999999, 10**8]
    assert "after the year 9999" in refused("-1" + "0" * 18)
    for text in ("2000-10-10 13:55:36", "2000-10-10T13:55:36", "2000-10-10"):
        assert refused(text) == "a time has no offset"


def test_a_zone_for_instants_without_an_offset() -> None:
    texts = ["2000-10-10 13:55:36", "2000-10-10T13:55:36.5", "2000-10-10T20:55:36Z", "971211336"]
    assert seconds(texts, "America/Los_Angeles") == [SECOND] * 4
    assert seconds(texts[:2], "UTC") == [SECOND - 7 * 3600] * 2
    naive = pa.array([datetime(2000, 10, 10, 13, 55, 36)], pa.timestamp("ns"))  # noqa: DTZ001
    assert unix_seconds(naive, "America/Los_Angeles").to_pylist() == [SECOND]
    with pytest.raises(TextError, match="no time zone"):
        unix_seconds(naive[:0])
    for text in ("2026-10-25 02:30:00", "2026-03-29 02:30:00"):
        assert "twice or never" in refused(text, "Europe/Berlin")
    edges = [f"2026-{text}" for text in ("03-29 01:59:59", "03-29 03:00:00", "10-25 01:59:59")]
    edges.append("2026-10-25 03:00")
    assert seconds(edges, "Europe/Berlin") == [1774745999, 1774746000, 1792886399, 1792893600]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Anchorage", "UTC"])
def test_the_last_days_have_no_neighbours(zone: str) -> None:
    """Tables write 9999-12-31 and 0001-01-01 for no end and no beginning."""
    inside = seconds(["0001-01-03 12:00", "9999-12-29 12:00"], zone)
    instants_of(pa.array(inside))
    kinds = [pa.timestamp("s"), pa.timestamp("us")]
    ends = [-(2**63) + 1, 2**63 - 1]
    outside = [
        *seconds(["0000-01-01", "0001-01-01", "9999-12-31 23:59:59"], zone),
        *(unix_seconds(pa.array([at], kind), zone)[0].as_py() for kind in kinds for at in ends),
    ]
    for second in outside:
        with pytest.raises(ValueError, match="0001-01-02") as caught:
            instants_of(pa.array([0, second]), begin=7)
        assert [note.row for note in caught.value.__notes__ if isinstance(note, RowNote)] == [8]
    naive = pa.array([-1, 10**9], pa.timestamp("ns"))
    assert unix_seconds(naive, "UTC").to_pylist() == [-1, 1]


offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(datetime(1900, 1, 1), datetime(9990, 1, 1), timezones=offsets)  # noqa: DTZ001


@given(instants)
def test_written_forms_of_any_instant(at: datetime) -> None:
    at = at.replace(microsecond=0)
    forms = [at.isoformat(), at.strftime("%d/%b/%Y:%H:%M:%S %z"), format_datetime(at)]
    http = format_datetime(at.astimezone(UTC), usegmt=True)
    assert seconds([*forms, http]) == [int(at.timestamp())] * 4
