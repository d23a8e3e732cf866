"""DuckDB: SQL functions answer as single lookups do, and relations are read as streams."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import geolookup
from tests.datasets import SMALL
from tests.skips import needs, optional
from tests.tables import columns
from tests.tables.adapters import CLEAN, DIRTY, own_dataset
from tests.tables.columns import ASNS, IPS

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = optional("duckdb")
adapter = optional("geolookup.tables.duckdb")
register = adapter.register
pytestmark = needs("duckdb")

#: The column of ``enrich`` whose values a function returns.
_FUNCTIONS = {
    "geo_country": "location_country_code",
    "geo_region": "location_region_name",
    "geo_city": "location_city_name",
    "geo_zone": "time_zone",
    "geo_currency": "currency_code",
    "geo_asn": "network_asn",
    "geo_error_code": "error_code",
}
_BY_ROW = "select {} from addresses order by row"


@pytest.fixture
def connection(engine: geolookup.Engine) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as result:
        register(result, engine)
        yield result


def values(connection: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    """Return the first column of a query's answer."""
    return [row[0] for row in connection.execute(query).fetchall()]


def table(connection: duckdb.DuckDBPyConnection, ips: Sequence[Any], kind: pa.DataType) -> None:
    """Make a table of the addresses, of DuckDB's own."""
    rows = pa.table({"row": pa.array(range(len(ips)), pa.int64()), "ip": pa.array(ips, kind)})
    connection.register("rows_of_arrow", rows)
    connection.execute("create or replace table addresses as select * from rows_of_arrow")
    connection.unregister("rows_of_arrow")


def data(engine: geolookup.Engine, ip: object, at: int) -> dict[str, Any] | None:
    """Return what ``geo`` says of an address: the data member without ip.

    A STRUCT has all its members: asn is null where the contract leaves it out.
    """
    answer: Any = engine.lookup(ip, at=at)
    actual: dict[str, Any] | None = answer["data"]
    if actual is not None:
        del actual["ip"]
        actual["network"].setdefault("asn", None)
    return actual


@pytest.mark.parametrize(
    ("kind", "ips", "asked"),
    [
        (pa.string(), [*IPS, "::ffff:8.8.8.8", "☃", ""], columns.of_texts),
        (pa.uint32(), [0x08080808, None, 0x0A000001, 0], columns.of_numbers),
        (pa.binary(), [bytes(4), b"\x08" * 4, None, b"x", bytes(16)], columns.of_bytes),
    ],
    ids=["VARCHAR", "UINTEGER", "BLOB"],
)
def test_every_type(
    connection: duckdb.DuckDBPyConnection,
    engine: geolookup.Engine,
    kind: pa.DataType,
    ips: list[Any],
    asked: columns.Asked,
) -> None:
    table(connection, ips, kind)
    result = values(connection, _BY_ROW.format(f"geo(ip, {columns.AT})"))
    assert result == [data(engine, ip, columns.AT) for ip in asked(ips)]
    wanted = columns.expected(engine, asked(ips))
    for name, column in _FUNCTIONS.items():
        assert values(connection, _BY_ROW.format(f"{name}(ip)")) == wanted[column], name


def test_enumerations_constants_and_types(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("create type known as enum ('8.8.8.8', '9.9.9.9', 'x')")
    query = "select geo_asn(ip::known) from (values ('8.8.8.8'), (null), ('x'), ('9.9.9.9')) t(ip)"
    assert values(connection, query) == [15169, None, None, 19281]
    assert values(connection, "select geo_asn('8.8.8.8') from range(5000)") == [15169] * 5000
    assert values(connection, "select geo_asn(i::varchar) from range(9) t(i) where i > 9") == []
    assert values(connection, "select geo(null::varchar) is null") == [True]
    assert values(connection, "select geo_error_code(null::varchar)") == [10001]
    query = "select geo(ip).location.country_code, geo_asn(ip), geo_error_code(ip)"
    query += ", geo(ip).network.asn, geo(ip).location.latitude, geo(ip).location.country_languages"
    query += ", geo(ip).time.is_dst"
    actual = connection.sql(f"{query} from (select '' as ip)").types
    wanted = ["VARCHAR", "UINTEGER", "INTEGER", "UINTEGER", "DOUBLE", "VARCHAR[]", "BOOLEAN"]
    assert [str(kind) for kind in actual] == wanted


def test_own_columns_and_clean(connection: duckdb.DuckDBPyConnection) -> None:
    with geolookup.open(own_dataset()) as engine:
        register(connection, engine, ["asn", "own.site_id"], clean=True)
        query = "select geo_asn(?), geo_own_site_id(?)"
        for dirty, ip in zip(DIRTY, CLEAN, strict=True):
            wanted = engine.get(ip, ["asn", "own.site_id"])
            assert connection.execute(query, [dirty, dirty]).fetchall() == [wanted], dirty


def test_clauses_and_threads(connection: duckdb.DuckDBPyConnection) -> None:
    table(connection, IPS, pa.string())
    assert values(connection, "select row from addresses where geo_city(ip) = 'Lyon'") == [1]
    connection.execute("set threads = 4")
    table(connection, IPS * 1_000, pa.string())
    query = "select count(*) from addresses where geo_asn(ip) is distinct from (case row % 7"
    cases = " ".join(f"when {at} then {asn or 'null'}" for at, asn in enumerate(ASNS))
    assert values(connection, f"{query} {cases} end)") == [0]

    def count(_: int) -> list[Any]:
        with connection.cursor() as cursor:
            return values(cursor, "select count(*) from addresses where geo(ip).network.asn = 3215")

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(count, range(3))) == [[1_000]] * 3


def test_instants_and_now(
    connection: duckdb.DuckDBPyConnection, engine: geolookup.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(connection, IPS, pa.string())
    stamps = "select geo(ip, to_timestamp(row * 1e7)).time from addresses order by row"
    result = values(connection, stamps)
    for row, ip in enumerate(IPS):
        answer = data(engine, ip, row * 10**7)
        assert result[row] == (answer and answer["time"])
    unknown = values(connection, "select geo('8.8.8.8', null::timestamptz)")[0]
    assert set(unknown["time"].values()) == {None}
    assert unknown["location"]["city_name"] == "Mountain View"
    query = "select geo('8.8.8.8').time.current_timestamp"
    for now in (1_795_132_800, 1_795_132_801):  # the cache of the first second is too old
        monkeypatch.setattr(time, "time", lambda now=now: now + 0.9)
        assert values(connection, query) == [now]
    monkeypatch.undo()
    query = "select geo('8.8.8.8', now()).time.current_timestamp = floor(epoch(now()))::bigint"
    assert values(connection, query) == [True]


def test_registered_again_it_answers_from_the_other_engine(
    connection: duckdb.DuckDBPyConnection, engine: geolookup.Engine, sample: geolookup.Engine
) -> None:
    query = "select geo_city('8.8.4.4'), geo('8.8.4.4').currency.code"
    assert connection.execute(query).fetchall() == [(None, "USD")]
    register(connection, sample)
    city = sample.get("8.8.4.4", "location.city_name")
    assert city is not None
    assert connection.execute(query).fetchall() == [(city, "USD")]
    register(connection, engine, prefix="ours")
    query = "select ours_city('8.8.4.4') is null, geo_city('8.8.4.4') is null, ours('') is null"
    assert connection.execute(query).fetchall() == [(True, False, True)]


def test_errors_say_what_to_do(connection: duckdb.DuckDBPyConnection) -> None:
    def refused(query: str, match: str) -> None:
        with pytest.raises(duckdb.InvalidInputException, match=match):
            connection.execute(query).fetchall()

    refused("select geo(5)", "a column of int32 holds no addresses; their type is text, uint32")
    refused("select geo('8.8.8.8', timestamp '2026-01-01')", "no time zone")
    refused("select geo('8.8.8.8', 0, 0)", "3 arguments; pass an address")
    engine = geolookup.open(SMALL)
    for name, problem in (
        ("location", "location is a group; name one of its"),
        ("own", "the dataset has no own columns"),
        ("contry", "no field 'contry'; did you mean 'country'"),
    ):
        with pytest.raises(ValueError, match=f"register: {problem}"):
            register(connection, engine, name)
    register(connection, engine)
    engine.close()
    refused("select geo_asn('8.8.8.8')", "closed")
