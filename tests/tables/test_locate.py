"""Interval ids, public and joinable, the same whatever holds the addresses; ids to columns."""

from __future__ import annotations

import itertools
import random
from functools import partial
from ipaddress import IPv4Address
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from geolookup import tables
from tests.internals.contract import PATHS, embedded_ipv4, parse
from tests.internals.kernel import state_of
from tests.near_addresses import near_addresses
from tests.tables import columns
from tests.tiers import scaled


def _locate(engine: geolookup.Engine, addresses: Any) -> pa.Int32Array:
    return tables.locate(state_of(engine), addresses)


def _take(engine: geolookup.Engine, ids: Any, *fields: Any) -> pa.RecordBatch:
    return tables.take(state_of(engine), ids, *fields)


def test_numbers_are_those_of_intervals(state: Any, engine: geolookup.Engine) -> None:
    texts = near_addresses(random.Random(3), state_of(engine).dataset)
    drawn = [next(texts).encode("utf-8", "replace").decode() for _ in range(scaled(700, 5_000))]
    failed = {10001: -1, 10002: -2}
    codes = [engine.lookup(text)["error_code"] for text in drawn]
    assert {*codes} == {None, *failed}
    assert tables.locate(state, drawn).to_pylist() == [
        _interval(engine, text) if code is None else failed[code]
        for text, code in zip(drawn, codes, strict=True)
    ]


def _interval(engine: geolookup.Engine, text: str) -> int:
    state: Any = state_of(engine)
    family, value = parse(text)
    carried = value if family == 4 else embedded_ipv4(value)
    if carried is not None:
        return int(state.interval_ipv4(carried))
    return len(state.dataset.ipv4_starts) + int(state.interval_ipv6(value))


def test_nothing(engine: geolookup.Engine) -> None:
    assert _locate(engine, []).to_pylist() == []
    for kind in (pa.string(), pa.uint32(), pa.binary(16), pa.null()):
        for column in (pa.array([], kind), pa.chunked_array([], kind), pa.nulls(3, kind).slice(3)):
            assert _locate(engine, column).to_pylist() == []
        assert _locate(engine, pa.nulls(2, kind)).to_pylist() == [-1, -1]
    buffers = [None, pa.py_buffer(bytes(4)), pa.py_buffer(b"")]
    empty = pa.Array.from_buffers(pa.string(), 0, buffers)
    for column in (empty, pa.nulls(0, pa.string()), empty.cast(pa.large_string())):
        assert _locate(engine, column).to_pylist() == []
    assert _locate(engine, pa.array(["", "", None])).to_pylist() == [-1, -1, -1]


def test_extension_types_and_text_that_is_none(engine: geolookup.Engine) -> None:
    raw = [b"8.8.8.8", b"\xff\xfe", b"8.8.8.\xb2", b"8.8.8.8\x00"]
    texts = pa.Array.from_buffers(pa.string(), 4, pa.array(raw, pa.binary()).buffers())
    table = engine.enrich(texts, ["ip", "error_code"])
    assert table["error_code"].to_pylist() == [None, 10001, 10001, 10001]
    assert table["ip"].to_pylist() == ["8.8.8.8", None, None, None]
    ids = pa.array([None, (0x2A03 << 112).to_bytes(16), (1).to_bytes(16)], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), ids)
    assert (
        _locate(engine, column).to_pylist() == _locate(engine, [None, "2a03::", "::1"]).to_pylist()
    )
    table = engine.enrich(pa.table({"ip": column}), "ip", prefix="x_")
    assert table["x_ip"].to_pylist() == [None, "2a03::", None]
    assert table["ip"].type == pa.uuid()


def test_what_is_no_column_of_addresses(engine: geolookup.Engine) -> None:
    column: Any
    for column in (
        pa.array([1], pa.int64()),
        pa.array([1.5]),
        *(pa.array([bytes(size)], pa.binary(size)) for size in (5, 8)),
        pa.array([{"ip": "8.8.8.8"}]),
        pa.array([1], pa.int64()).dictionary_encode(),
        pa.chunked_array([], pa.int64()),
        *([1, 2], ["8.8.8.8", 5], "8.8.8.8", b"8888", 5, None),
        [IPv4Address("8.8.8.8")],
        ["8.8.8.8", "\ud800"],
    ):
        with pytest.raises(TypeError) as caught:
            _locate(engine, column)
        assert "8.8.8.8" not in str(caught.value)


def test_rows_are_joinable_and_of_both_sizes(engine: geolookup.Engine) -> None:
    long = pa.array(["x", "8.8.8.8", None, "2a03::1"])
    for indices in ([3], [0, 1, 2, 3, None, 1, 1], [None, None], []):
        column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.uint16()), long)
        plain = [None if at is None else long[at].as_py() for at in indices]
        assert (
            _locate(engine, column).to_pylist()
            == _locate(engine, pa.array(plain, pa.string())).to_pylist()
        )
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
    assert _locate(engine, empty).to_pylist() == [-1]
    # Answers can be stored by interval id and joined later.
    texts = ["8.8.8.8", "x", "8.8.8.9", "2a03::1", "10.0.0.1"]
    rows = _locate(engine, texts)
    known = rows.unique()
    kept = pa.table({"row": known, "city": _take(engine, known, "location.city_name").column(0)})
    joined = pa.table({"row": rows, "n": range(5)}).join(kept, "row").sort_by("n")
    wanted = columns.expected(engine, texts)["location_city_name"]
    assert joined["city"].to_pylist() == wanted


_TAKEN = ["8.8.8.8", "x", "11.0.0.1", "2a03::1", "10.0.0.1", "11.0.1.1", "2a02:1::", "9.9.9.9"]


def test_all_fields_are_those_of_lookups(state: Any, engine: geolookup.Engine) -> None:
    batch = tables.take(state, tables.locate(state, _TAKEN), at=columns.AT)
    batch.validate(full=True)
    wanted = columns.expected(engine, _TAKEN)
    of_address = ("ip", "ip_type", "error_code")
    columns.assert_equal(
        batch.to_pydict(), {name: wanted[name] for name in wanted if name not in of_address}
    )
    # Few columns of a table are taken one by one, many of them together.
    wanted = columns.expected(engine, _TAKEN)
    rows, paths = _locate(engine, _TAKEN * 3), (*_MEMBERS, "location.country_languages")
    for selection in (
        combination for n in range(1, 6) for combination in itertools.combinations(paths, n)
    ):
        result = _take(engine, rows, selection)
        result.validate(full=True)
        names = [path.replace(".", "_") for path in selection]
        assert result.to_pydict() == {name: wanted[name] * 3 for name in names}


def test_ids_of_every_holder(engine: geolookup.Engine, state: Any) -> None:
    rows = [*_locate(engine, _TAKEN).to_pylist(), -(1 << 7)]
    wanted = _take(engine, pa.array(rows), "network.asn").to_pydict()
    assert wanted["network_asn"][0] == 15169
    for holder in (
        rows,
        pa.chunked_array([rows[:1], [], rows[1:]], pa.int32()),
        pa.array(rows, pa.int8()),
        pa.array([0, *rows, 0], pa.int16()).slice(1, len(rows)),
        np.array(rows),
    ):
        assert _take(engine, holder, "network.asn").to_pydict() == wanted, type(holder)
    for none in (pa.array([None, -1, -2, -(1 << 31), -(1 << 63)]), pa.nulls(1)):
        result = _take(engine, none)
        assert all(column.null_count == len(none) for column in result.columns)
    wrong: Any
    for wrong in (["8.8.8.8"], [1.0], pa.array([True]), 5, "x"):
        with pytest.raises(TypeError):
            _take(engine, wrong)
    dataset = state_of(engine).dataset
    count = len(dataset.ipv4_starts) + len(dataset.ipv6_highs)
    for kind in (pa.int32(), pa.int64(), pa.uint32(), pa.uint64()):
        for number in (count, (1 << 31) - 1, (1 << 32) - 1, 1 << 62):
            if number < 1 << (kind.bit_width - 1):
                with pytest.raises(IndexError, match="does not exist in this dataset"):
                    tables.take(state, pa.array([0, number], kind), "network")
        last = tables.take(state, pa.array([count - 1], kind), "network")
        assert last.num_rows == 1


def test_names_order_and_types(engine: geolookup.Engine) -> None:
    asked = ["network.asn", "currency", "location.city_name", "currency.code", "network.asn"]
    assert _take(engine, [0], asked).schema.names == [
        *("network_asn", "currency_code", "currency_name", "currency_symbol", "location_city_name")
    ]
    every = [path.replace(".", "_") for path in PATHS if "." in path]
    assert _take(engine, [0]).schema.names == every
    assert _take(engine, [], "time").num_rows == 0
    assert _take(engine, [0], ()).num_columns == 0
    schema = _take(engine, [0]).schema
    text = pa.dictionary(pa.int32(), pa.string())
    special = {
        "location_country_languages": pa.list_(pa.string()),
        "location_country_neighbors": pa.list_(pa.string()),
        "location_country_area_km2": pa.float64(),
        "location_country_population": pa.int64(),
        "location_country_is_eu": pa.bool_(),
        "location_latitude": pa.float64(),
        "location_longitude": pa.float64(),
        "time_utc_offset_seconds": pa.int32(),
        "time_current_timestamp": pa.int64(),
        "time_is_dst": pa.bool_(),
        "network_asn": pa.uint32(),
    }
    assert {field.name: field.type for field in schema} == {
        name: special.get(name, text) for name in schema.names
    }


def test_unknown_paths_and_a_closed_engine(engine: geolookup.Engine, dataset_path: Any) -> None:
    paths: list[tuple[Any, str]] = [
        ("location.country_cod", "did you mean 'location.country_code'"),
        ("netwrok", "did you mean 'network'"),
        ("eror_code", "did you mean 'error_code'"),
        ("location_city_name", "did you mean 'location.city_name'"),
        ("", "such as country or asn"),
        ("location.", ""),
    ]
    for path, hint in paths:
        with pytest.raises(ValueError, match=r"^take: no field "):
            _take(engine, [0], [path])
        with pytest.raises(ValueError, match=r"^enrich: no field ") as caught:
            engine.enrich(pa.table({"ip": ["8.8.8.8"]}), ["network", path])
        assert hint in str(caught.value)
    of_address: Any
    for of_address in ("ip", "ip_type", "error_code"):
        with pytest.raises(ValueError, match=r"^take: "):
            _take(engine, [0], of_address)
    engine = geolookup.open(dataset_path)
    engine.close()
    for call in (partial(state_of, engine), partial(engine.enrich, pa.array([]))):
        with pytest.raises(geolookup.errors.ClosedError):
            call()


_MEMBERS = ("location.city_name", "location.latitude", "network.asn", "network.isp", "time.zone")
