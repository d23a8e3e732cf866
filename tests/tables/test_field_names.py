"""One vocabulary: every adapter has the same values for the same names of fields."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from tests.cli.program import run
from tests.skips import needs, optional
from tests.tables import columns
from tests.tables.columns import IPS

pd, pl, dask = optional("pandas"), optional("polars"), optional("dask.dataframe")
duckdb = optional("duckdb")

#: Short names, a member, a path, a group and the code of errors.
NAMES: Any = ("country", "city_name", "location.latitude", "zone", "currency", "asn", "error_code")
#: Their columns.
COLUMNS = (
    "location_country_code",
    "location_city_name",
    "location_latitude",
    "time_zone",
    "currency_code",
    "currency_name",
    "currency_symbol",
    "network_asn",
    "error_code",
)
Rows = dict[str, list[Any]]
Way = Callable[[geolookup.Engine, tuple[Any, ...]], Rows]


def _arrow(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    result: Rows = engine.enrich(pa.table({"ip": IPS}), *fields).drop_columns("ip").to_pydict()
    return result


def _reader(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    reader = engine.enrich(pa.table({"ip": IPS}).to_reader(), *fields)
    result: Rows = reader.read_all().drop_columns("ip").to_pydict()
    return result


def _of_pandas(frame: Any) -> Rows:
    return {
        name: [None if pd.isna(value) else value for value in frame[name]]
        for name in frame.columns
        if name != "ip"
    }


def _pandas(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    return _of_pandas(engine.enrich(pd.DataFrame({"ip": IPS}), *fields))


def _accessor(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    optional("geolookup.tables.pandas")  # registers Series.geo
    return _of_pandas(pd.Series(IPS).geo.lookup(*fields, engine=engine))


def _dask(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    frame = dask.from_pandas(pd.DataFrame({"ip": pd.array(IPS, "str")}), npartitions=1)
    return _of_pandas(frame.map_partitions(engine.enrich, *fields).compute(scheduler="sync"))


def _of_polars(frame: Any) -> Rows:
    rows: Rows = frame.lazy().collect().drop("ip", strict=False).to_dict(as_series=False)
    return rows


def _polars(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    return _of_polars(engine.enrich(pl.DataFrame({"ip": IPS}), *fields))


def _lazy(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    return _of_polars(engine.enrich(pl.LazyFrame({"ip": IPS}), *fields))


def _expression(engine: geolookup.Engine, fields: tuple[Any, ...]) -> Rows:
    optional("geolookup.tables.polars")  # registers Expr.geo
    answers = pl.col("ip").geo.lookup(*fields, engine=engine)
    return _of_polars(pl.LazyFrame({"ip": IPS}).select(answers).unnest("ip"))


_WAYS = [
    pytest.param(_arrow, id="Arrow"),
    pytest.param(_reader, id="reader"),
    pytest.param(_pandas, id="pandas", marks=needs("pandas")),
    pytest.param(_accessor, id="Series.geo", marks=needs("pandas")),
    pytest.param(_dask, id="Dask", marks=needs("pandas", "dask.dataframe")),
    pytest.param(_polars, id="Polars", marks=needs("polars")),
    pytest.param(_lazy, id="lazy", marks=needs("polars")),
    pytest.param(_expression, id="Expr.geo", marks=needs("polars")),
]


def expected(engine: geolookup.Engine) -> Rows:
    """Return the columns as single lookups state them."""
    every = columns.expected(engine, IPS)
    return {name: every[name] for name in COLUMNS}


@pytest.mark.parametrize("way", _WAYS)
def test_several_arguments_and_a_list(engine: geolookup.Engine, way: Way) -> None:
    wanted = expected(engine)
    assert way(engine, NAMES) == wanted
    assert way(engine, ([*NAMES],)) == wanted
    assert way(engine, (NAMES,)) == wanted


@needs("polars")
def test_a_field_of_polars_is_a_value_and_a_list_a_struct(engine: geolookup.Engine) -> None:
    optional("geolookup.tables.polars")
    frame = pl.DataFrame({"ip": IPS})
    for name in ("country", "location.country_code", "country_code"):
        value = frame.select(pl.col("ip").geo.lookup(name, engine=engine))["ip"]
        assert value.to_list() == expected(engine)["location_country_code"]
        struct = frame.select(pl.col("ip").geo.lookup([name], engine=engine))["ip"]
        assert struct.struct.fields == ["location_country_code"]


@needs("duckdb")
def test_functions_of_duckdb(engine: geolookup.Engine) -> None:
    register = optional("geolookup.tables.duckdb").register
    for fields in (NAMES, ([*NAMES],)):
        with duckdb.connect() as connection:
            register(connection, engine, *fields)
            calls = ", ".join(f"geo_{name.replace('.', '_')}(ip)" for name in NAMES)
            query = f"select {calls} from (select unnest(?) as ip)"  # noqa: S608 - our own names
            rows = connection.execute(query, [IPS]).fetchall()
        wanted = expected(engine)
        del wanted["currency_name"], wanted["currency_symbol"]  # the value of a currency: its code
        assert [list(values) for values in zip(*rows, strict=True)] == list(wanted.values())
    with duckdb.connect() as connection:
        with pytest.raises(ValueError, match="register: location is a group; name one of its"):
            register(connection, engine, "location")
        with pytest.raises(ValueError, match="register: no field 'contry'; did you mean 'country'"):
            register(connection, engine, "contry")


def _cells(rows: Rows) -> list[list[str]]:
    """Return rows as cells of a CSV."""
    cells = [["" if value is None else str(value) for value in row] for row in rows.values()]
    return [list(row) for row in zip(*cells, strict=True)]


@pytest.mark.parametrize(
    "options",
    [("--fields", ",".join(NAMES)), [word for name in NAMES for word in ("--fields", name)]],
    ids=["commas", "repeated"],
)
def test_commands(
    engine: geolookup.Engine, dataset_path: Path, tmp_path: Path, options: list[str]
) -> None:
    texts = [text or "-" for text in IPS]
    (tmp_path / "a.csv").write_text("\n".join(["ip", *texts, ""]), encoding="utf-8")
    shared = (*options, "--dataset", str(dataset_path))
    done = run("enrich", str(tmp_path / "a.csv"), "--output", str(tmp_path / "b.jsonl"), *shared)
    assert done.returncode == 0, done.stderr
    wanted = expected(engine)
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text("utf-8").splitlines()]
    assert {name: [line[name] for line in lines] for name in COLUMNS} == wanted
    done = run("lookup", "--format", "csv", *shared, text="\n".join([*texts, ""]))
    names, *rows = csv.reader(io.StringIO(done.stdout))
    assert names == list(COLUMNS)
    assert rows == _cells(wanted)


def test_messages_name_the_call(engine: geolookup.Engine, dataset_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^enrich: no field 'contry'; did you mean 'country'\?$"):
        engine.enrich(pa.table({"ip": IPS}), ["contry"])
    done = run("enrich", "-", "--output", "-", "--fields", "contry", "--dataset", str(dataset_path))
    assert done.returncode == 2
    assert "--fields: no field 'contry'; did you mean 'country'?" in done.stderr
