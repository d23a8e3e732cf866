"""``enrich`` with every library: names, kinds, threads, and refused arguments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.errors import ClosedError
from tests.skips import needs, optional
from tests.tables import columns
from tests.tables.columns import IPS

_TEXTS = ["8.8.8.8", None, "10.0.0.1", "2a03::1", "x"]
_FIELDS = ["location.country_code", "network.asn", "error_code"]


@pytest.fixture
def data() -> pa.Table:
    return pa.table(
        {"n": range(5), "ip": pa.chunked_array([_TEXTS[:2], [], _TEXTS[2:]])},
        metadata={"made": "by hand"},
    )


def test_kinds_stay(engine: geolookup.Engine, data: pa.Table) -> None:
    """What they hold is in the cases of the adapters."""
    before = data.to_pydict()
    for value in (data, data.combine_chunks().to_batches()[0], data.to_reader(), data.to_reader(1)):
        table = engine.enrich(value, _FIELDS)
        assert type(table) is type(value)
        assert table.schema.metadata == {b"made": b"by hand"}
        assert _read(table).column("n").to_pylist() == before["n"]
    assert data.to_pydict() == before
    for column in (data["ip"], pa.array(_TEXTS)):
        table = engine.enrich(column, _FIELDS)
        assert isinstance(table, pa.Table)
        assert table.to_pydict() == engine.enrich(data, _FIELDS).drop(["n", "ip"]).to_pydict()


def test_default_fields_no_rows_and_no_table(engine: geolookup.Engine, data: pa.Table) -> None:
    names = engine.enrich(data).column_names
    assert names == ["n", "ip", *(path.replace(".", "_") for path in columns.DEFAULT)]
    assert engine.enrich(data, "ip", prefix="x_").column_names == ["n", "ip", "x_ip"]
    assert engine.enrich(data, []) == data
    assert engine.enrich(data.to_reader(), []).read_all() == data
    wrong: Any
    for wrong in (["8.8.8.8"], "8.8.8.8", None, 5, {"ip": ["8.8.8.8"]}, object()):
        with pytest.raises(TypeError, match="is not a table"):
            engine.enrich(wrong)
    whole = engine.enrich(data)
    empty = data.schema.empty_table()
    for value in (empty, pa.Table.from_batches([], data.schema), data.slice(5)):
        table = engine.enrich(value)
        assert table.schema == whole.schema
        assert table.num_rows == 0
        assert table.schema.metadata == data.schema.metadata
        assert engine.enrich(value.to_reader()).read_all().schema == whole.schema
    batch = pa.RecordBatch.from_pylist([], data.schema)
    assert engine.enrich(batch).schema == whole.schema
    some = pa.table({"ip": ["8.8.8.8"], "at": [5]})
    empty = engine.enrich(some.slice(1), time_column="at")
    assert empty.schema == engine.enrich(some, time_column="at").schema


def _read(data: Any) -> pa.Table:
    return data.read_all() if isinstance(data, pa.RecordBatchReader) else data


def test_refusing(engine: geolookup.Engine) -> None:
    cases: list[tuple[list[str | None], type[Exception], int]] = [
        (["8.8.8.8", "2a03::1", "10.0.0.1", "x"], geolookup.PrivateAddressError, 2),
        (["8.8.8.8", "x"], geolookup.InvalidAddressError, 1),
        ([None], geolookup.InvalidAddressError, 0),
        ([*["8.8.8.8"] * 100_000, "::1", None], geolookup.PrivateAddressError, 100_000),
    ]
    for texts, error, row in cases:
        data = pa.Table.from_batches(pa.table({"ip": pa.array(texts)}).to_batches(30_000))
        for threads in (1, 3):
            options: Any = {"on_invalid": "raise", "threads": threads}
            for value in (data, data.to_reader(30_000)):
                with pytest.raises(error) as caught:
                    _read(engine.enrich(value, "ip_type", **options))
                assert f"in row {row}, counted from 0" in caught.value.__notes__
            assert engine.enrich(data.slice(0, row), "ip_type", **options).num_rows == row


pd, pl = optional("pandas"), optional("polars")
_ROWS = pa.table(
    {"ip": IPS, "network_asn": range(len(IPS)), "naive": pa.nulls(len(IPS), pa.timestamp("us"))}
)
_KINDS = [
    pytest.param(lambda: _ROWS, id="table"),
    pytest.param(_ROWS.to_reader, id="stream"),
    pytest.param(_ROWS.schema.empty_table, id="no rows"),
    pytest.param(lambda: pa.Table.from_batches([], _ROWS.schema), id="no batches"),
    pytest.param(_ROWS.to_pandas, id="pandas", marks=needs("pandas")),
    pytest.param(lambda: pl.from_arrow(_ROWS), id="polars", marks=needs("polars")),
    pytest.param(lambda: pl.from_arrow(_ROWS).lazy(), id="lazy", marks=needs("polars")),
]
_REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("time", {"column": "address"}, KeyError, "no column 'address'; name another by column=; k"),
    ("time", {"column": "ips"}, KeyError, "no column 'ips'; did you mean column='ip'"),
    ("time", {"time_column": "when"}, KeyError, "name another by time_column=; "),
    ("network", {}, ValueError, "column 'network_asn' exists already; pass a prefix"),
    ("ip", {}, ValueError, "column 'ip' exists already"),
    ("time", {"column": "network_asn"}, TypeError, "a column of int64 holds no addresses"),
    ("time", {"time_column": "naive"}, TypeError, "no time zone"),
    (
        "time",
        {"time_column": "ip"},
        TypeError,
        "a column of times must .*; convert it: .* of Polars",
    ),
    ("time", {"time_column": "network_asn", "at": 0}, ValueError, "pass one of them"),
    ("time", {"at": "naive"}, TypeError, "time_column names a column of instants"),
    ("time", {"at": b"n"}, TypeError, "at must be"),
    ("time", {"at": True}, TypeError, "bool"),
    ("time", {"at": datetime(2026, 1, 1)}, TypeError, "time zone"),  # noqa: DTZ001 - is refused
    ("x", {"time_column": "ip"}, ValueError, "no field"),
    ("netwrok", {}, ValueError, "^enrich: no field 'netwrok'; did you mean 'network'"),
    ("", {}, ValueError, "such as country or asn"),
    ("time.zone", {"on_invalid": "ignore"}, ValueError, "on_invalid"),
    ("time.zone", {"threads": 0}, ValueError, "pass 1 or more"),
    ("time.zone", {"threads": -2}, ValueError, "pass 1 or more"),
]


@pytest.mark.parametrize("make", _KINDS)
def test_each_wish_that_cannot_be(engine: geolookup.Engine, make: Callable[[], Any]) -> None:
    for field, options, error, text in _REFUSED:
        with pytest.raises(error, match=text):
            engine.enrich(make(), [field], **options)


def test_a_closed_engine(dataset_path: Path) -> None:
    engine = geolookup.open(dataset_path)
    engine.close()
    with pytest.raises(ClosedError):
        engine.enrich(pa.array([]))


def test_a_name_that_columns_share(engine: geolookup.Engine) -> None:
    twice = _ROWS.append_column("ip", _ROWS["ip"])
    for data in (twice, twice.to_reader()):
        with pytest.raises(ValueError, match="several columns are named 'ip'"):
            engine.enrich(data, "currency")
    others = _ROWS.append_column("naive", _ROWS["ip"])
    assert engine.enrich(others, "error_code").num_columns == 5
    assert engine.enrich(others.to_reader(), "error_code").read_all().num_columns == 5


@needs("pandas", "polars")
def test_of_one_library(engine: geolookup.Engine) -> None:
    frame = _ROWS.to_pandas()
    with pytest.raises(ValueError, match="several columns are named 'ip'"):
        engine.enrich(pd.concat([frame["ip"], frame["ip"]], axis=1), "currency")
    with pytest.raises(geolookup.PrivateAddressError) as caught:
        engine.enrich(frame.iloc[3:], "currency", on_invalid="raise")
    assert "row 0" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="convert it to text"):
        engine.enrich(pl.Series([object()]))
    for column in (_ROWS["ip"], frame["ip"], pl.Series(IPS)):
        with pytest.raises(KeyError, match="no column 'when'"):
            engine.enrich(column, "currency", time_column="when")
