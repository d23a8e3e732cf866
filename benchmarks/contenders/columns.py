"""How each library adds columns to a table of addresses.

An opened contender turns an Arrow table into a callable that returns the table with new columns.
Its own form of the table is made beforehand; reading the text of the addresses is timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from benchmarks.contenders.answers import ADDRESS, ANSWER, COUNTRY
from benchmarks.contenders.opening import THREADS, Files, Opened, Opening


def _once(call: Callable[[], object]) -> Callable[[], Iterable[object]]:
    return lambda: (call(),)


def own(fields: tuple[str, ...]) -> Opening:
    """``Engine.enrich``."""

    def open_files(files: Files) -> Opened:
        import geolookup

        engine, threads = geolookup.open(files.dataset), int(os.environ[THREADS])
        return lambda data: _once(lambda: engine.enrich(data, fields, threads=threads))

    return open_files


def _polars(expression: Callable[[Any, Files], Any]) -> Opening:
    def open_files(files: Files) -> Opened:
        os.environ["POLARS_MAX_THREADS"] = os.environ[THREADS]
        import polars as pl

        column = expression(pl, files).alias(ANSWER)

        def prepare(data: pa.Table) -> Callable[[], Iterable[object]]:
            frame = pl.DataFrame(data)
            return _once(lambda: frame.with_columns(column))

        return prepare

    return open_files


def maxminddb_polars(*, whole_record: bool) -> Opening:
    """One path, or the record with the city's values as a struct."""

    def expression(pl: Any, files: Files) -> Any:
        import maxminddb_polars as mmdb

        if whole_record:
            return mmdb.lookup(pl.col(ADDRESS), files.mmdb, dtype=_record(pl))
        path = ["country", "iso_code"]
        return mmdb.lookup_path(pl.col(ADDRESS), files.mmdb, path, dtype=pl.String)

    return _polars(expression)


def _record(pl: Any) -> Any:
    """Return the type of a city's values in MaxMind's members."""
    text = pl.String
    names = pl.Struct({"names": pl.Struct({"en": text})})
    region = pl.Struct({"iso_code": text, "names": pl.Struct({"en": text})})
    location = {"latitude": pl.Float64, "longitude": pl.Float64, "time_zone": text}
    return pl.Struct(
        {
            "city": names,
            "continent": pl.Struct({"code": text, "names": pl.Struct({"en": text})}),
            "country": region,
            "location": pl.Struct(location),
            "postal": pl.Struct({"code": text}),
            "subdivisions": pl.List(region),
        }
    )


def polars_maxminddb() -> Opening:
    """The name of the country; it has no code, and ends the process for an unknown address."""

    def expression(pl: Any, files: Files) -> Any:
        from polars_maxminddb import ip_lookup_country

        return ip_lookup_country(pl.col(ADDRESS), str(files.mmdb))

    return _polars(expression)


def polars_iptools() -> Opening:
    """Its one struct of twelve; it wants two files by name, and has the same for both."""

    def expression(pl: Any, files: Files) -> Any:
        folder = files.mmdb.parent / "iptools"
        folder.mkdir(exist_ok=True)
        for name in ("GeoLite2-City.mmdb", "GeoLite2-ASN.mmdb"):
            if not (folder / name).exists():
                (folder / name).symlink_to(files.mmdb)
        os.environ["MAXMIND_MMDB_DIR"] = str(folder)
        import polars_iptools as tools

        return tools.geoip.full(pl.col(ADDRESS))

    return _polars(expression)


def maxminddb_loop(files: Files) -> Opened:
    """Look every text up in Python, and make a column of the country codes."""
    import maxminddb

    reader = maxminddb.open_database(files.mmdb, maxminddb.MODE_MMAP_EXT)

    def run(data: pa.Table) -> object:
        records: Iterable[Any] = map(reader.get, data[ADDRESS].to_pylist())
        codes = [row.get("country", {}).get("iso_code") if row else None for row in records]
        return data.append_column(ANSWER, pa.array(codes, pa.string()))

    return lambda data: _once(lambda: run(data))


def duckdb_join(files: Files) -> Opened:
    """An ASOF join with the table of ranges; the text becomes a number in SQL."""
    import duckdb

    connection = duckdb.connect(config={"threads": int(os.environ[THREADS])})
    connection.register("starts", _ranges(files))
    connection.execute("CREATE TABLE ranges AS SELECT * FROM starts ORDER BY start")
    number = " + ".join(
        f"split_part(ip, '.', {at})::UBIGINT * {1 << shift}"
        for at, shift in zip((1, 2, 3, 4), (24, 16, 8, 0), strict=True)
    )
    query = f"""
        SELECT a.ip, r.country_code AS {ANSWER}
        FROM (SELECT ip, {number} AS value FROM addresses) a
        ASOF LEFT JOIN ranges r ON a.value >= r.start
    """  # noqa: S608 - our own numbers

    def prepare(data: pa.Table) -> Callable[[], Iterable[object]]:
        connection.register("addresses", data)
        return _once(lambda: connection.sql(query).to_arrow_table())

    return prepare


def _ranges(files: Files) -> pa.Table:
    """Return where the IPv4 intervals begin, and their countries."""
    import geolookup
    from benchmarks.harness import workload

    starts = workload.table(files.dataset, 4)["start"]
    with geolookup.open(files.dataset) as engine:
        codes = engine.enrich(pa.table({ADDRESS: starts}), [COUNTRY]).column(1)
    # The dataset says nothing about private addresses, as its intervals do.
    return pa.table({"start": starts.cast(pa.uint64()), "country_code": codes.cast(pa.string())})
