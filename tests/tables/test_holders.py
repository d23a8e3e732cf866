"""Columns and tables of other libraries: what holds them, ``clean=True``, other processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from tests.skips import needs, optional
from tests.tables import columns

duckdb, nanoarrow = optional("duckdb"), optional("nanoarrow")
pd, pl = optional("pandas"), optional("polars")

_TEXTS = ["8.8.8.8", None, "10.0.0.1", "", "2a03::1", "::ffff:11.0.0.1", "x", "fe80::1"]
_FIELDS = ["location.country_code", "network.asn", "error_code"]


def check_columns(engine: geolookup.Engine, *holders: Any) -> None:
    wanted = engine.locate(pa.array(_TEXTS)).to_pylist()
    for column in holders:
        found = engine.locate(column)
        assert found.type == pa.int32()
        assert found.null_count == 0
        assert found.to_pylist() == wanted, type(column)


def check_numbers(engine: geolookup.Engine, make: Any) -> None:
    rows = engine.locate(_TEXTS)
    plain = rows.to_pylist() if make is not nanoarrow.c_array else rows
    assert engine.take(make(plain), "network") == engine.take(rows, "network")


def test_sequences_and_arrays(engine: geolookup.Engine) -> None:
    chunked = pa.chunked_array([_TEXTS[:2], [], _TEXTS[2:]])
    check_columns(engine, _TEXTS, tuple(_TEXTS), pa.array(_TEXTS), chunked, np.array(_TEXTS, "O"))


@needs("pandas")
def test_pandas(engine: geolookup.Engine) -> None:
    kinds = (None, "string[pyarrow]", "category")
    check_columns(engine, *(pd.Series(_TEXTS, dtype=kind) for kind in kinds))
    check_numbers(engine, pd.Series)


@needs("polars")
def test_polars(engine: geolookup.Engine) -> None:
    check_columns(engine, pl.Series(_TEXTS), pl.Series(_TEXTS, dtype=pl.Categorical))
    check_numbers(engine, pl.Series)


@needs("nanoarrow")
def test_nanoarrow(engine: geolookup.Engine) -> None:
    texts = nanoarrow.Array(_TEXTS, nanoarrow.string())
    check_columns(engine, texts, nanoarrow.ArrayStream(pa.chunked_array([_TEXTS])))
    check_numbers(engine, nanoarrow.c_array)
    found = engine.enrich(texts, fields=_FIELDS)
    assert found == engine.enrich(pa.array(_TEXTS), fields=_FIELDS)
    with pytest.raises(TypeError, match="read it first"):
        engine.enrich(nanoarrow.ArrayStream(pa.chunked_array([_TEXTS])), fields=_FIELDS)
    data = _data()
    for stream in (
        nanoarrow.ArrayStream(data),
        nanoarrow.Array(data.combine_chunks().to_batches()[0]),
    ):
        check_stream(engine, stream)


@needs("duckdb")
def test_duckdb(engine: geolookup.Engine) -> None:
    with duckdb.connect() as connection:
        connection.register("data", _data())
        check_stream(engine, connection.sql("SELECT * FROM data"))


def _data() -> pa.Table:
    return pa.table({"n": range(8), "ip": pa.chunked_array([_TEXTS[:2], [], _TEXTS[2:]])})


def check_stream(engine: geolookup.Engine, stream: Any) -> None:
    found = engine.enrich(stream, fields=_FIELDS)
    assert isinstance(found, pa.RecordBatchReader)
    assert found.read_all().to_pydict() == engine.enrich(_data(), fields=_FIELDS).to_pydict()


DIRTY = ["8.8.8.8:53", " [2001:4860:4860::8888]:443", "10.0.0.1, 8.8.8.8", "nonsense", None]
_CLEAN_ASNS = [15169, 15169, 15169, None, None]


@needs("pandas")
def test_cleaned_by_pandas(sample: geolookup.Engine) -> None:
    optional("geolookup.tables.pandas")  # registers Series.geo
    for column in (pd.Series(DIRTY), pd.Series(DIRTY, dtype="category"), pd.Series([*DIRTY, 1])):
        dirty = column.geo.enrich("network.asn", engine=sample)
        cleaned = column.geo.enrich("network.asn", engine=sample, clean=True)
        assert dirty["network_asn"].isna().all()
        found = [None if pd.isna(each) else int(each) for each in cleaned["network_asn"]]
        assert found[:5] == _CLEAN_ASNS


@needs("polars")
def test_cleaned_by_polars(sample: geolookup.Engine) -> None:
    optional("geolookup.tables.polars")  # registers Expr.geo
    frame = pl.DataFrame({"ip": DIRTY, "at": [0] * 5})
    for at in (0, pl.col("at")):
        made = frame.select(
            pl.col("ip").geo.lookup("network.asn", engine=sample, at=at, clean=True)
        )
        assert made["ip"].to_list() == _CLEAN_ASNS
    lazy = sample.enrich(frame.lazy(), fields="network.asn", clean=True).collect()
    assert lazy["network_asn"].to_list() == _CLEAN_ASNS


@needs("duckdb")
def test_cleaned_by_duckdb(sample: geolookup.Engine) -> None:
    with optional("duckdb").connect() as connection:
        optional("geolookup.tables.duckdb").register(connection, sample, clean=True)
        rows = connection.execute("select geo_asn(unnest(?))", [DIRTY]).fetchall()
    assert [row[0] for row in rows] == _CLEAN_ASNS


dask = optional("dask.dataframe")


@needs("pandas", "dask.dataframe")
def test_dask(engine: geolookup.Engine) -> None:
    addresses = ["8.8.8.8", "2a02:1::1", None, "10.0.0.1", "x", "11.0.1.9", "11.0.0.7"] * 30
    data = pd.DataFrame({"ip": pd.array(addresses, "str")})
    frame = dask.from_pandas(data, npartitions=4)
    fields = ["location.city_name", "location.country_code", "network.asn", "error_code"]
    plan, wanted = (
        frame.map_partitions(engine.enrich, "ip", fields),
        columns.expected(engine, addresses),
    )
    for scheduler in ("threads", "processes"):
        found = plan.compute(scheduler=scheduler, num_workers=1 if scheduler == "processes" else 2)
        for name in (each.replace(".", "_") for each in fields):
            values = [None if pd.isna(each) else each for each in found[name]]
            assert values == wanted[name], (scheduler, name)
