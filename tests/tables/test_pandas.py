"""pandas: the answers of single lookups, and an unchanged frame."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.errors import InvalidAddressError
from tests.skips import needs, optional
from tests.tables import columns
from tests.tables.adapters import of_pandas
from tests.tables.columns import IPS

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas")
adapter = optional("geolookup.tables.pandas")
pandas_testing = optional("pandas.testing")
pytestmark = needs("pandas")

#: Objects of a column, and strings among them; only ``ipaddress`` and texts are addresses.
_OBJECTS: list[Any] = [
    None,
    float("nan"),
    pd.NA,
    pd.NaT,
    Decimal("nan"),
    0x08080808,
    b"8.8.8.8",
    True,
]
_OBJECTS += ["8.8.8.8", "x", ip_address("8.8.8.8"), ip_address("2a00:1::9"), "10.0.0.1"]


def assert_answers(
    frame: pd.DataFrame, engine: geolookup.Engine, asked: Iterable[object], at: Any = columns.AT
) -> None:
    columns.assert_equal(of_pandas(frame), columns.expected(engine, list(asked), at))


def values(series: pd.Series) -> list[Any]:
    return of_pandas(series.to_frame("values"))["values"]


def test_every_dtype(engine: geolookup.Engine) -> None:
    arrow = pd.ArrowDtype
    numbers, few = [0x08080808, None, 0x0A000001, 0x09090909], [0x08080808, 0x0A000001]
    packed = [None if number is None else number.to_bytes(4) for number in numbers]
    columns_of: list[tuple[list[Any], Any, list[Any]]] = [
        *((IPS, kind, IPS) for kind in (object, "string[python]", "string[pyarrow]", "category")),
        *((IPS, kind, IPS) for kind in (None, arrow(pa.string()), arrow(pa.large_string()))),
        (IPS, arrow(pa.dictionary(pa.int32(), pa.string())), IPS),
        *((numbers, kind, columns.of_numbers(numbers)) for kind in ("UInt32", arrow(pa.uint32()))),
        (packed, arrow(pa.binary()), columns.of_numbers(numbers)),
        (few, "uint32", columns.of_numbers(few)),
        *((["8.8.8.8", "\ud800"], kind, ["8.8.8.8", None]) for kind in (object, "string[python]")),
        *(([None, None], kind, [None, None]) for kind in (None, "category")),
        ([float("nan")] * 2, None, [None, None]),
        *((_OBJECTS, kind, _OBJECTS) for kind in (object, "category")),
        *(([], kind, []) for kind in (object, "str")),
    ]
    for values_of, kind, asked in columns_of:
        series = pd.Series(values_of, dtype=kind)
        frame = pd.DataFrame({"at": range(len(series)), "ip": series})
        table = engine.enrich(frame, columns.EVERYTHING, prefix="of_", at=columns.AT)
        pandas_testing.assert_frame_equal(table[["at", "ip"]], frame)
        new = table.drop(columns=["at", "ip"]).rename(columns=lambda name: name.removeprefix("of_"))
        assert_answers(new, engine, asked)


def test_dtypes_and_categories_of_what_is_made(engine: geolookup.Engine) -> None:
    made = engine.enrich(pd.Series(IPS), columns.EVERYTHING).dtypes.astype(str)
    assert set(made[["network_asn"]]) == {"UInt32"}
    assert set(made[["time_utc_offset_seconds", "error_code"]]) == {"Int32"}
    assert set(made[["time_current_timestamp", "location_country_population"]]) == {"Int64"}
    assert set(made[["time_is_dst", "location_country_is_eu"]]) == {"boolean"}
    assert set(made[["location_latitude", "location_country_area_km2"]]) == {"float64"}
    assert set(made[["location_country_languages", "location_country_neighbors"]]) == {"object"}
    assert set(made[["ip_type", "location_country_code", "network_isp"]]) == {"category"}
    assert made["ip"] == str(pd.Series(["a"]).dtype if pd.__version__ >= "3" else "object")
    actual = engine.enrich(pd.Series(IPS), "location.city_name")["location_city_name"]
    assert sorted(actual.cat.categories) == sorted({"Mountain View", "Lyon", "Zürich"})
    assert actual.value_counts().to_dict() == {"Mountain View": 2, "Lyon": 1, "Zürich": 1}


def test_the_frame_stays_as_it_was(engine: geolookup.Engine) -> None:
    moment = pd.Timestamp("2026-01-01", tz="Europe/Berlin")
    frame = pd.DataFrame(
        {
            "ip": pd.Series(IPS, dtype=object),
            "object": [object() for _ in IPS],
            "when": [moment] * len(IPS),
            "span": pd.interval_range(0, len(IPS)),
            "part": pd.Series(list("abcabca"), dtype="category"),
            "count": pd.Series([1, None] * 3 + [2], dtype="Int8"),
            "complex": [1j] * len(IPS),
        },
    )
    frame.index = pd.MultiIndex.from_tuples([(1, "a")] * 3 + [(2, "b")] * 4, names=["one", None])
    frame.columns.name = "kind"
    frame.attrs["origin"] = "test"
    before = frame.copy()
    table = engine.enrich(frame, "network.asn")
    pandas_testing.assert_frame_equal(frame, before)
    assert list(table.columns) == [*frame.columns, "network_asn"]
    pandas_testing.assert_frame_equal(table[list(frame.columns)], before, check_names=False)
    assert table.index.equals(frame.index)
    assert table.index.names == ["one", None]
    assert table.attrs == {"origin": "test"}
    assert values(table["network_asn"]) == [15169, 3215, None, None, None, 19281, 15169]
    table["count"] = 0
    pandas_testing.assert_frame_equal(frame, before)


def test_indexes_and_columns_of_several_levels(engine: geolookup.Engine) -> None:
    frame = pd.DataFrame({("net", "ip"): IPS, ("net", "at"): [0] * len(IPS)})
    frame.columns.names = ["group", "member"]
    label: Any = ("net", "ip")
    table = engine.enrich(frame, "network.asn", column=label)
    assert table.columns.tolist() == [("net", "ip"), ("net", "at"), ("network_asn", "")]
    assert table.columns.names == ["group", "member"]
    assert values(table["network_asn"])[:2] == [15169, 3215]
    series = pd.Series(IPS, index=[5, 5, 1, 1, 5, 0, 0], name="ip")
    asn = engine.enrich(series, "network.asn")["network_asn"]
    wanted = pd.Series([15169, 3215, None, None, None, 19281, 15169], series.index, "UInt32")
    pandas_testing.assert_series_equal(asn, wanted, check_names=False)
    pandas_testing.assert_series_equal(
        engine.enrich(series.to_frame(), "network.asn")["network_asn"], asn
    )
    series = pd.Series(IPS, index=list("abcdefg"))
    table = series.geo.lookup(columns.EVERYTHING, engine=engine, at=columns.AT, threads=1)
    assert table.index.equals(series.index)
    assert_answers(table, engine, IPS)
    named = series.geo.lookup("network.asn", engine=engine, prefix="src_")
    assert (type(named), named.name) == (pd.Series, "src_network_asn")
    assert named.index.equals(series.index)
    assert values(named) == [15169, 3215, None, None, None, 19281, 15169]
    listed = series.geo.lookup(["asn"], engine=engine)
    assert listed.columns.tolist() == ["network_asn"]
    with pytest.raises(InvalidAddressError):
        series.geo.lookup(engine=engine, on_invalid="raise")
    with pytest.raises(
        ValueError, match=r"^geo\.lookup: no field 'contry'; did you mean 'country'"
    ):
        series.geo.lookup("contry", engine=engine)
    assert isinstance(series.geo, adapter.GeoAccessor)
    organizations = pd.Series(["8.8.8.8"]).geo.lookup("network.asn_organization")
    assert values(organizations) == [geolookup.get("8.8.8.8", "asn_organization")]
