"""Columns and tables of other libraries, by the Arrow PyCapsule interface and otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup

duckdb = pytest.importorskip("duckdb", reason="its relations are streams")
nanoarrow = pytest.importorskip("nanoarrow", reason="its arrays and streams are capsules")
pd = pytest.importorskip("pandas", reason="its Series are columns")
pl = pytest.importorskip("polars", reason="its Series are columns")

_TEXTS = ["8.8.8.8", None, "10.0.0.1", "", "2a03::1", "::ffff:11.0.0.1", "x", "fe80::1"]
_FIELDS = ["location.country_code", "network.asn", "error_code"]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        pa.array,
        lambda texts: pa.chunked_array([texts[:2], [], texts[2:]]),
        lambda texts: np.array(texts, object),
        pd.Series,
        lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
        lambda texts: pd.Series(texts, dtype="category"),
        pl.Series,
        lambda texts: pl.Series(texts, dtype=pl.Categorical),
        lambda texts: nanoarrow.Array(texts, nanoarrow.string()),
        lambda texts: nanoarrow.ArrayStream(pa.chunked_array([texts])),
    ],
)
def test_every_holder_of_a_column(engine: geolookup.Engine, make: Any) -> None:
    found = engine.locate(make(_TEXTS))
    assert found.type == pa.int32()
    assert found.null_count == 0
    assert found.to_pylist() == engine.locate(pa.array(_TEXTS)).to_pylist()


@pytest.mark.parametrize("make", [pd.Series, pl.Series, nanoarrow.c_array])
def test_every_holder_of_numbers(engine: geolookup.Engine, make: Any) -> None:
    rows = engine.locate(_TEXTS)
    plain = rows.to_pylist() if make is not nanoarrow.c_array else rows
    assert engine.take(make(plain), "network") == engine.take(rows, "network")


def test_capsules(engine: geolookup.Engine) -> None:
    data = pa.table({"n": range(8), "ip": pa.chunked_array([_TEXTS[:2], [], _TEXTS[2:]])})
    whole = engine.enrich(data, fields=_FIELDS).to_pydict()
    batch = data.combine_chunks().to_batches()[0]
    with duckdb.connect() as connection:
        connection.register("data", data)
        streams = [
            connection.sql("SELECT * FROM data"),
            nanoarrow.ArrayStream(data),
            nanoarrow.Array(batch),
        ]
        for stream in streams:
            found = engine.enrich(stream, fields=_FIELDS)
            assert isinstance(found, pa.RecordBatchReader)
            assert found.read_all().to_pydict() == whole


def test_bare_columns(engine: geolookup.Engine) -> None:
    found = engine.enrich(nanoarrow.Array(_TEXTS, nanoarrow.string()), fields=_FIELDS)
    assert found == engine.enrich(pa.array(_TEXTS), fields=_FIELDS)
    with pytest.raises(TypeError, match="read it first"):
        engine.enrich(nanoarrow.ArrayStream(pa.chunked_array([_TEXTS])), fields=_FIELDS)
