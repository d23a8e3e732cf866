"""Interval ids to columns."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from geolookup import tables
from geolookup.contract.fields import PATHS
from tests.tables import columns

_TEXTS = ["8.8.8.8", "x", "11.0.0.1", "2a03::1", "10.0.0.1", "11.0.1.1", "2a02:1::", "9.9.9.9"]


def test_all_fields_are_those_of_lookups(state: Any, engine: geolookup.Engine) -> None:
    batch = tables.take(state, tables.locate(state, _TEXTS), None, columns.AT)
    batch.validate(full=True)
    wanted = columns.expected(engine, _TEXTS)
    of_address = ("ip", "ip_type", "error_code")
    columns.assert_equal(
        batch.to_pydict(), {name: wanted[name] for name in wanted if name not in of_address}
    )
    # Few columns of a table are taken one by one, many of them together.
    wanted = columns.expected(engine, _TEXTS)
    rows, paths = engine.locate(_TEXTS * 3), (*_MEMBERS, "location.country_languages")
    for chosen in (each for n in range(1, 6) for each in itertools.combinations(paths, n)):
        found = engine.take(rows, chosen)
        found.validate(full=True)
        names = [path.replace(".", "_") for path in chosen]
        assert found.to_pydict() == {name: wanted[name] * 3 for name in names}


def test_ids_of_every_holder(engine: geolookup.Engine, state: Any) -> None:
    rows = [*engine.locate(_TEXTS).to_pylist(), -(1 << 7)]
    wanted = engine.take(pa.array(rows), "network.asn").to_pydict()
    assert wanted["network_asn"][0] == 15169
    for holder in (
        rows,
        pa.chunked_array([rows[:1], [], rows[1:]], pa.int32()),
        pa.array(rows, pa.int8()),
        pa.array([0, *rows, 0], pa.int16()).slice(1, len(rows)),
        np.array(rows),
    ):
        assert engine.take(holder, "network.asn").to_pydict() == wanted, type(holder)
    for none in (pa.array([None, -1, -2, -(1 << 31), -(1 << 63)]), pa.nulls(1)):
        found = engine.take(none)
        assert all(column.null_count == len(none) for column in found.columns)
    wrong: Any
    for wrong in (["8.8.8.8"], [1.0], pa.array([True]), 5, "x"):
        with pytest.raises(TypeError):
            engine.take(wrong)
    dataset = engine._open_state().dataset
    count = len(dataset.ipv4_starts) + len(dataset.ipv6_highs)
    for kind in (pa.int32(), pa.int64(), pa.uint32(), pa.uint64()):
        for number in (count, (1 << 31) - 1, (1 << 32) - 1, 1 << 62):
            if number < 1 << (kind.bit_width - 1):
                with pytest.raises(IndexError, match="does not exist in this dataset"):
                    tables.take(state, pa.array([0, number], kind), "network", None)
        last = tables.take(state, pa.array([count - 1], kind), "network", None)
        assert last.num_rows == 1


def test_names_order_and_types(engine: geolookup.Engine) -> None:
    asked = ["network.asn", "currency", "location.city_name", "currency.code", "network.asn"]
    assert engine.take([0], asked).schema.names == [
        *("network_asn", "currency_code", "currency_name", "currency_symbol", "location_city_name")
    ]
    every = [path.replace(".", "_") for path in PATHS if "." in path]
    assert engine.take([0]).schema.names == every
    assert engine.take([], "time").num_rows == 0
    assert engine.take([0], ()).num_columns == 0
    schema = engine.take([0]).schema
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
        ("", "such as location.country_code"),
        (5, "such as location.country_code"),
        ("location.", ""),
    ]
    for path, hint in paths:
        with pytest.raises(ValueError, match="no field or group") as caught:
            engine.take([0], [path])
        assert hint in str(caught.value)
        with pytest.raises(ValueError, match="no field or group"):
            engine.enrich(pa.table({"ip": ["8.8.8.8"]}), fields=["network", path])
    of_address: Any
    for of_address in ("ip", "ip_type", "error_code"):
        with pytest.raises(ValueError, match="use enrich"):
            engine.take([0], of_address)
    engine = geolookup.open(dataset_path)
    engine.close()
    for call in (engine.locate, engine.take, engine.enrich):
        with pytest.raises(geolookup.ClosedError):
            call(pa.array([]))


_MEMBERS = ("location.city_name", "location.latitude", "network.asn", "network.isp", "time.zone")
