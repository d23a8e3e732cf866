"""Interval ids: public, joinable, the same whatever holds the addresses."""

from __future__ import annotations

import random
from ipaddress import IPv4Address
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import tables
from geolookup.contract.address import embedded_ipv4, parse
from tests.near_addresses import near_addresses
from tests.tables import columns
from tests.tiers import scaled

_TEXTS = ["8.8.8.8", None, "10.0.0.1", "", "2a03::1", "::ffff:11.0.0.1", "x", "fe80::1"]


def test_numbers_are_those_of_intervals(state: Any, engine: geolookup.Engine) -> None:
    texts = near_addresses(random.Random(3), engine._open_state().dataset)
    drawn = [next(texts).encode("utf-8", "replace").decode() for _ in range(scaled(2_000, 10_000))]
    failed = {10001: -1, 10002: -2}
    codes = [engine.lookup(text)["error_code"] for text in drawn]
    assert {*codes} == {None, *failed}
    assert tables.locate(state, drawn).to_pylist() == [
        _interval(engine, text) if code is None else failed[code]
        for text, code in zip(drawn, codes, strict=True)
    ]


def _interval(engine: geolookup.Engine, text: str) -> int:
    state: Any = engine._open_state()
    family, value = parse(text)
    carried = value if family == 4 else embedded_ipv4(value)
    if carried is not None:
        return int(state.interval_ipv4(carried))
    return len(state.dataset.ipv4_starts) + int(state.interval_ipv6(value))


def test_nothing(engine: geolookup.Engine) -> None:
    assert engine.locate([]).to_pylist() == []
    for kind in (pa.string(), pa.uint32(), pa.binary(16), pa.null()):
        for column in (pa.array([], kind), pa.chunked_array([], kind), pa.nulls(3, kind).slice(3)):
            assert engine.locate(column).to_pylist() == []
        assert engine.locate(pa.nulls(2, kind)).to_pylist() == [-1, -1]
    buffers = [None, pa.py_buffer(bytes(4)), pa.py_buffer(b"")]
    empty = pa.Array.from_buffers(pa.string(), 0, buffers)
    for column in (empty, pa.nulls(0, pa.string()), empty.cast(pa.large_string())):
        assert engine.locate(column).to_pylist() == []
    assert engine.locate(pa.array(["", "", None])).to_pylist() == [-1, -1, -1]


def test_extension_types_and_text_that_is_none(engine: geolookup.Engine) -> None:
    raw = [b"8.8.8.8", b"\xff\xfe", b"8.8.8.\xb2", b"8.8.8.8\x00"]
    texts = pa.Array.from_buffers(pa.string(), 4, pa.array(raw, pa.binary()).buffers())
    found = engine.enrich(texts, fields=["ip", "error_code"])
    assert found["error_code"].to_pylist() == [None, 10001, 10001, 10001]
    assert found["ip"].to_pylist() == ["8.8.8.8", None, None, None]
    ids = pa.array([None, (0x2A03 << 112).to_bytes(16), (1).to_bytes(16)], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), ids)
    assert engine.locate(column).to_pylist() == engine.locate([None, "2a03::", "::1"]).to_pylist()
    found = engine.enrich(pa.table({"ip": column}), fields="ip", prefix="x_")
    assert found["x_ip"].to_pylist() == [None, "2a03::", None]
    assert found["ip"].type == pa.uuid()


def test_what_is_no_column_of_addresses(engine: geolookup.Engine) -> None:
    column: Any
    for column in (
        pa.array([1], pa.int64()),
        pa.array([1.5]),
        pa.array([b"12345"], pa.binary(5)),
        pa.array([{"ip": "8.8.8.8"}]),
        pa.array([1], pa.int64()).dictionary_encode(),
        pa.chunked_array([], pa.int64()),
        *([1, 2], ["8.8.8.8", 5], "8.8.8.8", b"8888", 5, None),
        [IPv4Address("8.8.8.8")],
        ["8.8.8.8", "\ud800"],
    ):
        with pytest.raises(TypeError) as caught:
            engine.locate(column)
        assert "8.8.8.8" not in str(caught.value)


def test_rows_are_joinable_and_of_both_sizes(engine: geolookup.Engine) -> None:
    long = pa.array(["x", "8.8.8.8", None, "2a03::1"])
    for indices in ([3], [0, 1, 2, 3, None, 1, 1], [None, None], []):
        column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.uint16()), long)
        plain = [None if at is None else long[at].as_py() for at in indices]
        assert (
            engine.locate(column).to_pylist()
            == engine.locate(pa.array(plain, pa.string())).to_pylist()
        )
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
    assert engine.locate(empty).to_pylist() == [-1]
    # What is known of a row can be kept by its number and joined later.
    texts = ["8.8.8.8", "x", "8.8.8.9", "2a03::1", "10.0.0.1"]
    rows = engine.locate(texts)
    known = rows.unique()
    kept = pa.table({"row": known, "city": engine.take(known, "location.city_name").column(0)})
    joined = pa.table({"row": rows, "n": range(5)}).join(kept, "row").sort_by("n")
    wanted = columns.expected(engine, texts)["location_city_name"]
    assert joined["city"].to_pylist() == wanted
