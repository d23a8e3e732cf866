"""Polars: the answers of single lookups, however a query is run."""

from __future__ import annotations

import pickle
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import geolookup
from geolookup.errors import InvalidAddressError
from tests.skips import needs, optional
from tests.tables import columns
from tests.tables.columns import ASNS, IPS

if TYPE_CHECKING:
    import polars as pl

    from geolookup.tables.polars import GeoNamespace
else:
    pl = optional("polars")
    optional("geolookup.tables.polars")  # registers Expr.geo
pytestmark = needs("polars")


def geo(expression: pl.Expr) -> GeoNamespace:
    """Return the namespace; it is unknown to type checkers."""
    actual: GeoNamespace = expression.geo  # type: ignore[attr-defined]
    return actual


@pytest.mark.parametrize(
    ("kind", "drawn", "asked"),
    [
        pytest.param(pl.String(), IPS, columns.of_texts, id="String"),
        pytest.param(pl.Categorical(), IPS, columns.of_texts, id="Categorical"),
        pytest.param(
            pl.Enum(["8.8.8.8", "x"]), ["x", None, "8.8.8.8"], columns.of_texts, id="Enum"
        ),
        pytest.param(pl.UInt32(), [0x08080808, None, 0], columns.of_numbers, id="UInt32"),
        pytest.param(pl.Binary(), [b"\x08" * 4, None, b""], columns.of_bytes, id="Binary"),
    ],
)
def test_every_type(
    engine: geolookup.Engine, kind: pl.DataType, drawn: list[Any], asked: columns.Asked
) -> None:
    options: Any = {"column": "address", "at": columns.AT}
    for values in (drawn, []):
        frame = pl.DataFrame({"address": pl.Series(values, dtype=kind), "row": range(len(values))})
        result = engine.enrich(frame, columns.EVERYTHING, **options)
        assert result.select(frame.columns).equals(frame)
        wanted = columns.expected(engine, asked(values))
        columns.assert_equal(result.drop(frame.columns).to_dict(as_series=False), wanted)
        plan: Any = engine.enrich(frame.lazy(), columns.EVERYTHING, **options)
        assert isinstance(plan, pl.LazyFrame)
        assert plan.collect_schema() == result.schema
        assert plan.collect().equals(result)


def test_types_and_no_field(engine: geolookup.Engine) -> None:
    frame = pl.DataFrame({"ip": IPS})
    assert engine.enrich(frame, []).equals(frame)
    assert engine.enrich(frame.lazy(), []).collect().equals(frame)
    schema = engine.enrich(frame.lazy()).collect_schema()
    assert schema["location_country_code"] == pl.String
    assert schema["location_country_languages"] == pl.List(pl.String)
    assert schema["network_asn"] == pl.UInt32
    assert set(schema.dtypes()).isdisjoint({pl.Categorical(), pl.Object()})


def test_a_group_and_several_paths_are_structs(engine: geolookup.Engine) -> None:
    frame = pl.DataFrame({"ip": IPS})
    group = frame.select(geo(pl.col("ip")).lookup("currency", engine=engine))["geo"]
    assert group.struct.fields == ["currency_code", "currency_name", "currency_symbol"]
    one = frame.select(geo(pl.col("ip")).lookup(["asn"], engine=engine))["geo"]
    assert one.struct.fields == ["network_asn"]
    asn = geo(pl.col("ip")).lookup("asn", engine=engine)
    assert frame.select(asn).to_dict(as_series=False) == {"network_asn": ASNS}
    grouped = frame.group_by(pl.col("ip").is_null(), maintain_order=True).agg(asn)
    assert grouped["network_asn"].to_list() == [ASNS[:2] + ASNS[3:], [None]]
    two = geo(pl.col("ip")).lookup("network.asn", "location.city_name", engine=engine)
    assert frame.select(two).unnest("geo")["network_asn"].to_list() == ASNS
    assert frame.select(two.struct.field("location_city_name"))["location_city_name"][0] is not None
    result = pl.select(geo(pl.lit("8.8.8.8")).lookup("network.asn_organization")).item()
    assert result == geolookup.get("8.8.8.8", "asn_organization")


def test_literals_stand_for_all_rows(engine: geolookup.Engine) -> None:
    seconds = [7, None, 0, 5, 6, 8, -1]
    frame = pl.DataFrame({"ip": IPS, "when": seconds})

    def stamps(rows: pl.DataFrame, ip: pl.Expr, at: object) -> list[int | None]:
        expression = geo(ip).lookup("time.current_timestamp", engine=engine, at=at)
        return rows.with_columns(found=expression)["found"].to_list()

    assert stamps(frame, pl.col("ip"), pl.lit(7)) == [None if a is None else 7 for a in ASNS]
    assert stamps(frame, pl.lit("8.8.8.8"), pl.col("when")) == seconds
    assert stamps(frame.clear(), pl.col("ip"), pl.lit(7)) == []


def test_a_plan_can_be_sent(engine: geolookup.Engine) -> None:
    plan = pl.LazyFrame({"ip": IPS}).select(geo(pl.col("ip")).lookup("network.asn", engine=engine))
    for again in (
        pickle.loads(pickle.dumps(plan)),  # noqa: S301 - our own
        pl.LazyFrame.deserialize(BytesIO(plan.serialize())),
    ):
        assert again.collect()["network_asn"].to_list() == ASNS


def test_plans_say_what_to_do_and_raise_when_collected(
    engine: geolookup.Engine, dataset_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"location\.contry_code"):
        geo(pl.col("ip")).lookup(["location.contry_code"], engine=engine)
    with pytest.raises(TypeError, match="aware datetime"):
        geo(pl.col("ip")).lookup("time", engine=engine, at=datetime(2026, 1, 1))  # noqa: DTZ001
    plan = engine.enrich(pl.LazyFrame({"ip": IPS}), "currency", on_invalid="raise")
    how: Any
    for how in ("in-memory", "streaming"):
        with pytest.raises(pl.exceptions.ComputeError, match=InvalidAddressError.message):
            plan.collect(engine=how)
    closed = geolookup.open(dataset_path)
    plan = pl.LazyFrame({"ip": IPS}).select(geo(pl.col("ip")).lookup("network", engine=closed))
    closed.close()
    with pytest.raises(pl.exceptions.ComputeError, match="closed"):
        plan.collect()
