"""Whatever the column, every row says what ``Engine.lookup`` says of it; its time object."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup import tables
from tests import strategies
from tests.contract.tzif_files import CALENDAR
from tests.internals.contract import EARLIEST, LATEST, TIME_MEMBERS, time_object
from tests.internals.kernel import kernel
from tests.internals.tables import CHUNK, Clock, instants_of
from tests.tables import columns
from tests.tiers import scaled

_RANDOMS = st.randoms(use_true_random=False)
_PUBLIC = st.sampled_from(
    (0x08080808, 0x0B000001, 0x0B000102, 0x0B000201, 0x14000001, 0x0A000001, 0xFFFFFFFF, 0)
)
_IPV6 = st.sampled_from(
    (0x20014860 << 96, 0x2A020001 << 96, 0x2A03 << 112, 1, 0xFFFF08080808, 0xFD << 120)
)
_NUMBERS = _PUBLIC | strategies.ipv4_values
_KNOWN = st.sampled_from(
    ("8.8.8.8", "11.0.0.9", "11.0.1.0", "2a03::1", "2A02:1::", "10.0.0.1", "fd00::1")
)
#: In each column: private addresses first and in the middle, with own columns of every type.
_FIRST = [0x0A000001, 0x08080808, None, 0x0A010203, 0x08080809, 0xC0000201, 0x0A000001]


def _texts(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Replace characters that are not UTF-8: no Arrow column holds them."""
    return values.map(lambda text: text.encode("utf-8", "replace").decode())


_BYTES4 = _NUMBERS.map(lambda number: number.to_bytes(4))
_BYTES16 = (_IPV6 | strategies.ipv6_values).map(lambda number: number.to_bytes(16))


def _value(number: int | None, kind: pa.DataType, holder: type) -> Any:
    if number is None or holder is int:
        return number
    address = IPv6Address(0xFFFF << 32 | number) if kind == pa.binary(16) else IPv4Address(number)
    return str(address) if holder is str else address.packed


#: Arrow types, what is drawn, what lookups are asked, and what holds an address.
_SOURCES: tuple[tuple[dict[str, pa.DataType], st.SearchStrategy[Any], columns.Asked, type], ...] = (
    (columns.TEXTS, _KNOWN | _texts(strategies.texts), columns.of_texts, str),
    (columns.NUMBERS, _NUMBERS, columns.of_numbers, int),
    (columns.BYTES, _BYTES4 | _BYTES16 | st.binary(max_size=20), columns.of_bytes, bytes),
    ({"binary of 4": pa.binary(4)}, _BYTES4, columns.of_bytes, bytes),
    ({"binary of 16": pa.binary(16)}, _BYTES16, columns.of_bytes, bytes),
)
_CASES = [
    pytest.param(kind, values, asked, [_value(n, kind, holder) for n in _FIRST], id=name)
    for kinds, values, asked, holder in _SOURCES
    for name, kind in kinds.items()
]


@pytest.mark.parametrize(("kind", "values", "asked", "first"), _CASES)
def test_every_field_of_every_type(
    state: Any,
    engine: geolookup.Engine,
    kind: pa.DataType,
    values: st.SearchStrategy[Any],
    asked: columns.Asked,
    first: list[Any],
) -> None:
    @settings(max_examples=scaled(2, 20))
    @example(first, random.Random(1))
    @given(drawn=st.lists(st.none() | values, max_size=12), rng=_RANDOMS)
    def check(drawn: Sequence[Any], rng: random.Random) -> None:
        column = columns.chunked(drawn, kind, rng)
        table = tables.enrich(
            state,
            pa.table({"address": column}),
            columns.EVERYTHING,
            column="address",
            at=columns.AT,
        )
        table.validate(full=True)
        result = table.drop_columns("address").to_pydict()
        columns.assert_equal(result, columns.expected(engine, asked(drawn)))

    check()


def test_bounds_of_chunks(engine: geolookup.Engine) -> None:
    drawn = ["8.8.8.8", None, "10.0.0.1", "2a03::1", "x", "20.0.0.9", "11.0.0.1"]
    fields = ["error_code", "location.city_name", "network.asn"]
    few = columns.expected(engine, drawn)
    for size in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5):
        at = pa.array(np.arange(size) % len(drawn))
        column = pa.array(drawn).take(at)
        for threads in (1, 2, 7):
            table = engine.enrich(column, fields, threads=threads)
            for field in table.schema:
                wanted = pa.array(few[field.name]).take(at)
                made = table[field.name].cast(wanted.type).combine_chunks()
                assert made.equals(wanted), (size, threads)


_ADDRESSES = ["8.8.8.8", "11.0.0.1", "11.0.2.0", "2a02:1::", "2a03::1", "11.0.1.1", "x", "10.0.0.1"]
_TIMES = [f"time_{member}" for member in TIME_MEMBERS]
_EDGES = (EARLIEST, EARLIEST + 1, -1, 0, 1, LATEST - 1, 1_792_889_999, 1_792_890_000)
_SECONDS = st.sampled_from(_EDGES) | st.integers(EARLIEST, LATEST - 1) | st.integers(0, 2**31)
_UTC = datetime(2026, 7, 1, tzinfo=UTC)
_TOKYO = _UTC.astimezone(timezone(timedelta(hours=9)))


def _times(engine: geolookup.Engine, addresses: list[Any], at: Any) -> dict[str, Any]:
    wanted = columns.expected(engine, addresses, at)
    return {name: wanted[name] for name in _TIMES}


@settings(max_examples=scaled(15, 100))
@given(
    rows=st.lists(st.tuples(st.sampled_from(_ADDRESSES), st.none() | _SECONDS), max_size=30),
    rng=_RANDOMS,
)
def test_each_row_has_its_own(
    engine: geolookup.Engine, rows: list[tuple[str, int | None]], rng: random.Random
) -> None:
    addresses, seconds = [row[0] for row in rows], [row[1] for row in rows]
    data = pa.table(
        {
            "ip": columns.chunked(addresses, pa.string(), rng),
            "at": columns.chunked(seconds, pa.int64(), rng),
        }
    )
    table = engine.enrich(data, "time", time_column="at")
    table.validate(full=True)
    columns.assert_equal(
        table.drop_columns(["ip", "at"]).to_pydict(), _times(engine, addresses, seconds)
    )


def test_one_for_all_and_now(state: Any, engine: geolookup.Engine) -> None:
    for at in (*_EDGES, *CALENDAR, 0.5, -0.5, _UTC, _TOKYO):
        table = tables.enrich(state, pa.array(_ADDRESSES), "time", at=at)
        columns.assert_equal(table.to_pydict(), _times(engine, _ADDRESSES, at))
    before = datetime.now(UTC).timestamp() - 1
    table = engine.enrich(pa.array(_ADDRESSES * 2_000), "time.current_timestamp")
    seconds = set(table["time_current_timestamp"].to_pylist()) - {None}
    assert len(seconds) == 1
    assert before <= seconds.pop() <= datetime.now(UTC).timestamp()


def test_timestamps_and_numbers(engine: geolookup.Engine) -> None:
    for unit, ticks in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items():
        for zone in ("UTC", "Asia/Kathmandu", "+05:30"):
            values = [0, -1, None, 5 * ticks - 1, 1_774_746_000 * ticks]
            result = instants_of(pa.array(values, pa.timestamp(unit, zone)).slice(1))
            assert result.seconds.tolist() == [-1, 0, 4, 1_774_746_000], (unit, zone)
            assert result.is_valid.tolist() == [True, False, True, True]
    for column in (
        pa.array([-0.5, 1.999, None, float(LATEST) - 0.5]),
        pa.array([-0.5, 2048, None], pa.float16()),
        pa.array([-0.5, 2.0**31, None], pa.float32()),
        pa.array([5, None, 2**33], pa.uint64()),
        pa.array([5, None, 255], pa.uint8()),
        pa.array([-5, None], pa.int8()),
        pa.nulls(2),
    ):
        numbers = [None if item is None else float(item) for item in column.to_pylist()]
        result = instants_of(column)
        assert result.seconds.dtype == np.int64
        assert result.is_valid.tolist() == [value is not None for value in numbers]
        for value, second in zip(numbers, result.seconds.tolist(), strict=True):
            if value is not None:
                wanted = engine.get("8.8.8.8", "time.current_timestamp", at=value)
                assert second == wanted, column.type


def test_outside_the_contract_or_no_instant(engine: geolookup.Engine) -> None:
    # As in a lookup, the instant is judged before the address is.
    for wrong in (float("nan"), float("inf"), 1e300, LATEST, EARLIEST - 0.5, -1e18):
        for address in ("8.8.8.8", "no address"):
            with pytest.raises(ValueError, match="0001-01-02"):
                engine.lookup(address, at=wrong)
            data = pa.table({"ip": ["8.8.8.8", address], "at": [0.0, wrong]})
            with pytest.raises(ValueError, match="0001-01-02") as caught:
                engine.enrich(data, time_column="at")
            assert caught.value.__notes__ == ["in row 1, counted from 0"]
    for values, kind in (([2**62, 7], pa.int64()), ([np.nan, 7.0], pa.float64())):
        plain = pa.array(values, kind)
        validity = pa.array([False, True]).buffers()[1]
        hidden = pa.Array.from_buffers(kind, 2, [validity, plain.buffers()[1]])
        table = engine.enrich(
            pa.table({"ip": ["8.8.8.8"] * 2, "at": hidden}), "time", time_column="at"
        )
        assert table["time_current_timestamp"].to_pylist() == [None, 7]
    for column in (
        pa.array([datetime(2026, 1, 1)], pa.timestamp("us")),  # noqa: DTZ001 - is refused
        pa.array(["2026-01-01T00:00:00Z"]),
        pa.array([True]),
        pa.array([datetime(2026, 1, 1, tzinfo=UTC).date()]),
        pa.array([timedelta(1)]),
        pa.array([datetime(2026, 1, 1)]).slice(1),  # noqa: DTZ001
        pa.chunked_array([], pa.string()),
    ):
        data = pa.table({"ip": pa.array(["8.8.8.8"] * len(column), pa.string()), "at": column})
        for source in (data, data.to_reader()):
            with pytest.raises(TypeError, match="column of times"):
                engine.enrich(source, time_column="at")


def test_zones_that_nobody_knows() -> None:
    """The instant has its value; the other members are null."""
    for zone in (None, "Mars/Olympus", "europe/vienna", "", "x" * 1000, "Europe/Vienna"):
        zones, rows = [None, "Asia/Tokyo", zone], np.array([2, 0, 1, 2], np.uint16)
        valid = np.array([True, True, True, False])
        pairs = zip(rows, valid, strict=True)
        wanted = [
            time_object(zones[row], kernel.period(zones[row], 7), 7) if ok else {}
            for row, ok in pairs
        ]
        at = pa.array(np.where(valid, rows, 0))
        for instants in (None, instants_of(pa.array([7] * 4))):
            result = Clock(zones, 7).take(at, valid, TIME_MEMBERS, instants)
            for member in TIME_MEMBERS:
                result[member].validate(full=True)
                assert result[member].to_pylist() == [item.get(member) for item in wanted], member
