"""What cannot be is refused alike for tables of every library, before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from tests.skips import needs, optional
from tests.tables.columns import IPS

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
_ASN, _TIME = {"fields": "network"}, {"fields": "time"}
_REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"column": "address"}, KeyError, "no column 'address'; there are 'ip', 'network_asn', 'naive"),
    ({"at": "when"}, KeyError, "no column 'when'"),
    (_ASN, ValueError, "'network_asn' already: ask for a prefix"),
    ({"fields": "ip"}, ValueError, "'ip' already"),
    ({**_TIME, "column": "network_asn"}, TypeError, "a column of int64 holds no addresses"),
    ({**_TIME, "at": "naive"}, TypeError, "no time zone"),
    ({**_TIME, "at": "ip"}, TypeError, "at must hold"),
    ({"at": b"n"}, TypeError, "at must be"),
    ({"at": True}, TypeError, "bool"),
    ({"at": datetime(2026, 1, 1)}, TypeError, "time zone"),  # noqa: DTZ001 - what is refused
    ({"at": "ip", "fields": ["x"]}, ValueError, "no field"),
    ({"fields": "error"}, ValueError, "no field"),
    ({"on_invalid": "ignore"}, ValueError, "on_invalid"),
    ({"threads": 0}, ValueError, "at least 1"),
    ({"threads": -2}, ValueError, "at least 1"),
]


@pytest.mark.parametrize("make", _KINDS)
def test_each_wish_that_cannot_be(engine: geolookup.Engine, make: Callable[[], Any]) -> None:
    for wishes, error, text in _REFUSED:
        with pytest.raises(error, match=text):
            engine.enrich(make(), **wishes)


def test_a_name_that_columns_share(engine: geolookup.Engine) -> None:
    twice = _ROWS.append_column("ip", _ROWS["ip"])
    for data in (twice, twice.to_reader()):
        with pytest.raises(ValueError, match="more than one column 'ip'"):
            engine.enrich(data, fields="currency")
    others = _ROWS.append_column("naive", _ROWS["ip"])
    assert engine.enrich(others, fields="error_code").num_columns == 5
    assert engine.enrich(others.to_reader(), fields="error_code").read_all().num_columns == 5


@needs("pandas", "polars")
def test_of_one_library(engine: geolookup.Engine) -> None:
    frame = _ROWS.to_pandas()
    with pytest.raises(ValueError, match="more than one column 'ip'"):
        engine.enrich(pd.concat([frame["ip"], frame["ip"]], axis=1), "ip", "currency")
    with pytest.raises(geolookup.PrivateAddressError) as caught:
        engine.enrich(frame.iloc[3:], "ip", "currency", on_invalid="raise")
    assert "row 0" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="make it text"):
        engine.enrich(pl.Series([object()]))
    for column in (_ROWS["ip"], frame["ip"], pl.Series(IPS)):
        with pytest.raises(KeyError, match="no column 'when'"):
            engine.enrich(column, fields="currency", at="when")
