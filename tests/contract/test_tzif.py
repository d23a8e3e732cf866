"""TZif files: all zones against `zoneinfo`, then files and TZ strings that are generated."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.contract import tzif_files as files
from tests.contract.test_localtime import rules
from tests.contract.tzif_files import DAY, Type, by_zoneinfo, changes, plain_zone, unix, written
from tests.internals.contract import EARLIEST, LATEST, Zone, tzif
from tests.tiers import scaled

FROM, TO = unix("1901-01-01T00:00:00Z"), unix("2101-01-01T00:00:00Z")
NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"
APART, YEAR = 4 * DAY, 365 * DAY
TYPES: list[Type] = [(-17762, False, "LMT"), (-18000, False, "EST"), (-14400, True, "EDT")]

repeatable = settings(derandomize=True, deadline=None, database=None, max_examples=scaled(20, 300))


def zone_in(data: bytes) -> Zone:
    result = tzif.read(data)
    assert result is not None
    return result


# All zones.


def check(zone: str) -> None:
    """Compare with `zoneinfo` at every change, beside it and between changes."""
    actual, expected = zone_in(files.tzif(zone)), rules(zone)
    listed = [at for start in range(FROM, TO, YEAR) for at in actual.between(start, start + YEAR)]
    near = {at + step for at in {*listed, *files.transitions(zone)} for step in (-1, 0, 1)}
    for at in near | {*range(FROM, TO, scaled(80, 10) * DAY)}:
        assert actual.state(at) == by_zoneinfo(expected, at), (zone, at)


@pytest.mark.parametrize(
    "zone",
    [
        *("America/New_York", "America/Nome", "Africa/Casablanca", "Europe/Dublin", "UTC"),
        *("Europe/Samara", "Australia/Lord_Howe"),
    ],
)
def test_a_zone_agrees_with_zoneinfo(zone: str) -> None:
    check(zone)


@pytest.mark.long
def test_every_zone_agrees_with_zoneinfo() -> None:
    assert len(files.ZONES) > 500
    for zone in files.ZONES:
        check(zone)


# Files that are generated.

names = st.text("ABCXYZabc", min_size=3, max_size=6) | st.text(
    "+-0123456789Az", min_size=3, max_size=6
)
offsets = st.integers(-43199, 43199)  # `zoneinfo` allows no saving of a day
anything = st.tuples(offsets, st.booleans(), names)
standard = st.tuples(offsets, st.just(False), names)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Type], list[tuple[int, int]], int]:
    types = [draw(standard), *draw(st.lists(anything, max_size=5))]
    version = draw(st.sampled_from([1, 2, 3, 4]))
    # At least four days apart: a local time then has two meanings at most, as `zoneinfo` needs.
    most = 2**31 // APART - 1 if version == 1 else 2**38 // APART
    some = st.integers(-most, most) | st.integers(-8, 8)
    shift = draw(st.integers(0, APART - 1))
    times = [item * APART + shift for item in sorted(draw(st.sets(some, max_size=12)))]
    kinds = [draw(st.integers(0, len(types) - 1)) for _ in times]
    kinds[-1:] = [0] * bool(times)  # `zoneinfo` fails on a table that ends in daylight saving
    return types, list(zip(times, kinds, strict=True)), version


@repeatable
@given(tables())
@example((TYPES, [], 1))
@example((TYPES, [(-(2**31), 1), (0, 2)], 1))
def test_a_table_is_read_as_it_is_written(
    table: tuple[list[Type], list[tuple[int, int]], int],
) -> None:
    types, transitions, version = table
    data = written(types, transitions, version=version)
    actual, zone = zone_in(data), plain_zone(data)
    seconds = [at for at, _ in transitions]
    for at in {0, *(near for second in seconds for near in (second - 1, second, second + 1))}:
        index = bisect_right(seconds, at)
        expected = types[transitions[index - 1][1] if index else 0]
        assert actual.state(at) == expected
        if EARLIEST <= at < LATEST and (transitions or len(types) == 1):
            assert by_zoneinfo(zone, at)[::2] == expected[::2]


@repeatable
@given(tables(), st.integers(1902, 2100))
def test_changes_are_those_of_the_states(
    table: tuple[list[Type], list[tuple[int, int]], int], year: int
) -> None:
    types, transitions, version = table
    footer = NEW_YORK if version > 1 else ""
    result = zone_in(written(types, transitions, footer, version))
    start = unix(f"{year}-01-01T00:00:00Z") - DAY
    end = start + 367 * DAY
    listed = changes(result, start, end)
    assert listed[0][0] == start
    for at, state in listed[1:]:
        assert result.state(at) == state != result.state(at - 1)
    inside = {start, *(at for at, _ in transitions if start <= at < end)}
    inside |= set(range(start, end, 10 * DAY))
    for at in inside:
        _, state = listed[bisect_right([item for item, _ in listed], at) - 1]
        assert state == result.state(at)


# Files that are malformed.

GOOD = written(TYPES, [(-2717650800, 1), (-1633280400, 2), (-1615140000, 1)], NEW_YORK)


def test_every_cut_is_malformed() -> None:
    for follows in (b"", b"anything\n"):
        assert zone_in(GOOD + follows).state(0) == TYPES[1]
    for offset in (-86399, 86399):
        assert zone_in(written([(offset, False, "ABC")])).state(0) == (offset, False, "ABC")
    assert [at for at in range(len(GOOD)) if tzif.read(GOOD[:at]) is not None] == []


def test_malformed_files() -> None:
    for data in (
        *(b"", b"TZif", b"TZif2" + bytes(100), b"XZif" + GOOD[4:], GOOD[:4] + b"\x01" + GOOD[5:]),
        *(GOOD.replace(b"TZif2", b"\0Zif2"), GOOD.replace(b"\nEST", b"EST")),
        *(GOOD.replace(b"M3.2", b"\xff3.2"), GOOD.replace(b"M3.2.0", b"M13.2.0")),
        b"TZif2" + bytes(15) + b"\xff" * 24 + GOOD,
        b"TZif\0" + bytes(15) + b"\xff" * 24 + GOOD,
        *(written([], []), written([(86400, False, "ABC")]), written([(-86400, False, "ABC")])),
        *(written([(0, False, 'A"C')]), written([(0, False, "Æ12")])),
        *(written(TYPES, [(0, 3)]), written(TYPES, [(0, 1), (0, 2)])),
        written(TYPES, [(1, 1), (0, 2)]),
    ):
        assert tzif.read(data) is None, data


def test_a_malformed_table_before_a_footer_is_found_when_it_is_read() -> None:
    zone = zone_in(GOOD.replace(b"EDT\0", b"EDTX"))
    assert zone.state(0) == TYPES[1]  # by the footer
    with pytest.raises(ValueError):  # noqa: PT011 - the message is not shown
        zone.state(-(10**10))


@repeatable
@given(st.data())
def test_no_bytes_raise(data: st.DataObject) -> None:
    changed = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(GOOD) - 1))] = data.draw(st.integers(0, 255))
    result = tzif.read(bytes(changed))
    if result is not None:
        for at in (EARLIEST, -1633280400, 0, 2**31, LATEST - 1):
            try:
                offset, _, name = result.state(at)
            except ValueError:
                continue
            assert -86400 < offset < 86400
            assert name.isascii()
