"""Columns of addresses: every holder, empty ones, refused types, and the fields that come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from tests.conftest import Build
from tests.corrupt import forging
from tests.damage import copied, whole
from tests.internals.contract import MAX_COLUMNS
from tests.internals.dataset import layout as fmt
from tests.internals.tables import MOST_COLUMNS
from tests.skips import needs, optional
from tests.tables import columns

nanoarrow = optional("nanoarrow")

_TEXTS = ["8.8.8.8", None, "10.0.0.1", "", "2a03::1", "::ffff:11.0.0.1", "x", "fe80::1"]
_FIELDS = ["location.country_code", "network.asn", "error_code"]


def codes(engine: geolookup.Engine, column: Any) -> list[int | None]:
    """Return the error code of each address of a column."""
    result: list[int | None] = engine.enrich(column, "error_code")["error_code"].to_pylist()
    return result


@needs("nanoarrow")
def test_nanoarrow(engine: geolookup.Engine) -> None:
    texts = nanoarrow.Array(_TEXTS, nanoarrow.string())
    assert engine.enrich(texts, _FIELDS) == engine.enrich(pa.array(_TEXTS), _FIELDS)
    data = pa.table({"n": range(8), "ip": pa.chunked_array([_TEXTS[:2], [], _TEXTS[2:]])})
    batch = data.combine_chunks().to_batches()[0]
    for stream in (nanoarrow.ArrayStream(data), nanoarrow.Array(batch)):
        reader = engine.enrich(stream, _FIELDS)
        assert isinstance(reader, pa.RecordBatchReader)
        assert reader.read_all().to_pydict() == engine.enrich(data, _FIELDS).to_pydict()


def test_nothing(engine: geolookup.Engine) -> None:
    for kind in (pa.string(), pa.uint32(), pa.binary(16), pa.null()):
        for column in (pa.array([], kind), pa.chunked_array([], kind), pa.nulls(3, kind).slice(3)):
            assert codes(engine, column) == []
        assert codes(engine, pa.nulls(2, kind)) == [10001, 10001]
    buffers = [None, pa.py_buffer(bytes(4)), pa.py_buffer(b"")]
    empty = pa.Array.from_buffers(pa.string(), 0, buffers)
    for column in (empty, pa.nulls(0, pa.string()), empty.cast(pa.large_string())):
        assert codes(engine, column) == []
    assert codes(engine, pa.array(["", "", None])) == [10001] * 3


def test_extension_types_and_text_that_is_none(engine: geolookup.Engine) -> None:
    raw = [b"8.8.8.8", b"\xff\xfe", b"8.8.8.\xb2", b"8.8.8.8\x00"]
    texts = pa.Array.from_buffers(pa.string(), 4, pa.array(raw, pa.binary()).buffers())
    table = engine.enrich(texts, ["ip", "error_code"])
    assert table["error_code"].to_pylist() == [None, 10001, 10001, 10001]
    assert table["ip"].to_pylist() == ["8.8.8.8", None, None, None]
    ids = pa.array([None, (0x2A03 << 112).to_bytes(16), (1).to_bytes(16)], pa.binary(16))
    column = pa.ExtensionArray.from_storage(pa.uuid(), ids)
    table = engine.enrich(pa.table({"ip": column}), ["ip", "error_code"], prefix="x_")
    assert table["x_ip"].to_pylist() == [None, "2a03::", None]
    assert table["x_error_code"].to_pylist() == [10001, None, 10002]
    assert table["ip"].type == pa.uuid()


def test_types_that_hold_no_addresses(engine: geolookup.Engine) -> None:
    for column in (
        pa.array([1], pa.int64()),
        pa.array([1.5]),
        *(pa.array([bytes(size)], pa.binary(size)) for size in (5, 8)),
        pa.array([["8.8.8.8"]]),
        pa.array([1], pa.int64()).dictionary_encode(),
        pa.chunked_array([], pa.int64()),
    ):
        with pytest.raises(TypeError) as caught:
            codes(engine, column)
        assert "8.8.8.8" not in str(caught.value)


def test_dictionaries_of_any_size(engine: geolookup.Engine) -> None:
    long = pa.array(["x", "8.8.8.8", None, "2a03::1"])
    for indices in ([3], [0, 1, 2, 3, None, 1, 1], [None, None], []):
        column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.uint16()), long)
        plain = [None if at is None else long[at].as_py() for at in indices]
        wanted = engine.enrich(pa.array(plain, pa.string()), _FIELDS)
        assert engine.enrich(column, _FIELDS) == wanted
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
    assert codes(engine, empty) == [10001]


def test_names_order_and_types(engine: geolookup.Engine) -> None:
    one = pa.array(["8.8.8.8"])
    asked = ["network.asn", "currency", "location.city_name", "currency.code", "network.asn"]
    assert engine.enrich(one, asked).column_names == [
        *("network_asn", "currency_code", "currency_name", "currency_symbol", "location_city_name")
    ]
    schema = engine.enrich(one, columns.EVERYTHING).schema
    assert schema.names == [path.replace(".", "_") for path in columns.EVERYTHING]
    text = pa.dictionary(pa.int32(), pa.string())
    special = {
        "ip": pa.string(),
        "ip_type": pa.dictionary(pa.int8(), pa.string()),
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
        "own_risk_score": pa.int64(),
        "own_share": pa.float64(),
        "own_is_vpn": pa.bool_(),
        "own_tags": pa.list_(pa.string()),
        "error_code": pa.int32(),
    }
    assert {field.name: field.type for field in schema} == {
        name: special.get(name, text) for name in schema.names
    }


def test_more_columns_than_a_row_major_table_has(build: Build) -> None:
    assert MAX_COLUMNS > MOST_COLUMNS
    names = [f"own.column_{number}" for number in range(MAX_COLUMNS)]
    cells = ",".join(map(str, range(MAX_COLUMNS)))
    columns = "".join(f'{name[4:]} = "integer"\n' for name in names)
    source = '[[source]]\nformat = "csv"\npath = "a.csv"\n'
    recipe = f'[dataset]\nname = "wide"\n[columns]\n{columns}{source}'
    rows = f"network,{','.join(names)}\n8.8.8.0/24,{cells}\n"
    with geolookup.open(build({"a.csv": rows}, recipe)[0]) as engine:
        row = engine.enrich(pa.array(["8.8.8.8", "9.9.9.9"]), "own").to_pylist()
    assert [*row[0].values()] == [*range(MAX_COLUMNS)]
    assert {*row[1].values()} == {None}


def test_a_link_equal_to_the_rows_of_its_table_is_refused(tmp_path: Path) -> None:
    dataset = copied(whole(), tmp_path / "copy")
    rows = forging.table(dataset, fmt.COUNTRY).num_rows
    forging.replaced(dataset, fmt.LOCATION, "country", forging.put(1, rows))
    with pytest.raises(geolookup.DatasetError, match="column country points outside"):
        geolookup.open(dataset).enrich(pa.array(["8.8.8.8"]), "location")


@pytest.mark.long
def test_more_text_than_32_bits_count(engine: geolookup.Engine) -> None:
    """Arrays whose texts lie beyond 2^31 bytes, and a column of more than that in chunks."""
    one = pa.array(["8.8.8.8" + " " * 9_993, "8.8.8.8", None, "2a03::1", "x" * 10_000])
    wide = pa.concat_arrays([one.cast(pa.large_string())] * 110_000)
    assert wide.nbytes > 1 << 31
    narrow = pa.chunked_array([pa.concat_arrays([one] * 55_000)] * 2)
    assert narrow.nbytes > 1 << 31
    few = np.array([code or 0 for code in codes(engine, one)])
    for column in (wide, narrow):
        every = engine.enrich(column, "error_code")["error_code"].fill_null(0).to_numpy()
        assert (every.reshape(-1, len(few)) == few).all()
