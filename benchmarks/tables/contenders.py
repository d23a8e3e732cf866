"""Who adds columns to a table of addresses, and how each does it.

Strategy: a contender is opened on the files; of a table in memory it gives a
callable that makes the new columns. Its preparation (its own form of the table) is not timed;
reading the text of the addresses is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.harness import workload
from benchmarks.peers.libraries import Files
from benchmarks.tables import answers
from benchmarks.tables.answers import ADDRESS, ANSWER

Run = Callable[[], object]
Opened = Callable[[pa.Table], Run]
Opening = Callable[[Files], Opened]
ONE = ("location.country_code",)
#: The fields of the MMDB: all return the same.
TEN = (
    *("location.continent_code", "location.country_code", "location.country_name"),
    *("location.region_code", "location.region_name", "location.city_name"),
    *("location.postal_code", "location.latitude", "location.longitude", "time.zone"),
)


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of the table; ``share`` of the addresses is timed.

    ``values`` reads the result for comparison.
    """

    name: str
    fields: str
    family: int
    open: Opening
    values: Callable[[Any], answers.Values]
    threads: int = 1
    share: float = 1.0

    @property
    def key(self) -> str:
        """The name of its work."""
        threads = "" if self.threads == 1 else f", {self.threads} threads"
        return f"{self.name}: IPv{self.family}, {self.fields}{threads}"


def ours(fields: tuple[str, ...], threads: int = 1) -> Opening:
    """``Engine.enrich``."""

    def open_files(files: Files) -> Opened:
        import geolookup

        engine = geolookup.open(files.dataset)
        return lambda data: partial(engine.enrich, data, fields, threads=threads)

    return open_files


def maxminddb_polars(*, whole_record: bool) -> Opening:
    """One path, or the record with the ten values as a struct."""

    def open_files(files: Files) -> Opened:
        import maxminddb_polars as mmdb
        import polars as pl

        column = (
            mmdb.lookup(pl.col("ip"), files.mmdb, dtype=_record(pl))
            if whole_record
            else mmdb.lookup_path(
                pl.col("ip"), files.mmdb, ["country", "iso_code"], dtype=pl.String
            )
        )
        return lambda data: partial(pl.DataFrame(data).with_columns, column.alias(ANSWER))

    return open_files


def _record(pl: Any) -> Any:
    """Return the type of the ten values in MaxMind's members."""
    text = pl.String
    names = pl.Struct({"names": pl.Struct({"en": text})})
    region = pl.Struct({"iso_code": text, "names": pl.Struct({"en": text})})
    location = {"latitude": pl.Float64, "longitude": pl.Float64, "time_zone": text}
    return pl.Struct(
        {
            "city": names,
            "continent": pl.Struct({"code": text}),
            "country": region,
            "location": pl.Struct(location),
            "postal": pl.Struct({"code": text}),
            "subdivisions": pl.List(region),
        }
    )


def polars_iptools(files: Files) -> Opened:
    """Its one struct of twelve; it wants two files by name, and has the same for both."""
    folder = files.mmdb.parent / "iptools"
    folder.mkdir(exist_ok=True)
    for name in ("GeoLite2-City.mmdb", "GeoLite2-ASN.mmdb"):
        if not (folder / name).exists():
            (folder / name).symlink_to(files.mmdb)
    os.environ["MAXMIND_MMDB_DIR"] = str(folder)
    import polars as pl
    import polars_iptools

    column = polars_iptools.geoip.full(pl.col(ADDRESS)).alias(ANSWER)
    return lambda data: partial(pl.DataFrame(data).with_columns, column)


def maxminddb_loop(files: Files) -> Opened:
    """Look every text up in Python, and make a column of the country codes."""
    import maxminddb

    reader = maxminddb.open_database(files.mmdb, maxminddb.MODE_MMAP_EXT)

    def run(data: pa.Table) -> object:
        records = map(reader.get, data[ADDRESS].to_pylist())
        codes = [row.get("country", {}).get("iso_code") if row else None for row in records]  # type: ignore[union-attr]
        return data.append_column(ANSWER, pa.array(codes, pa.string()))

    return lambda data: partial(run, data)


def duckdb_join(files: Files) -> Opened:
    """An ASOF join with the table of ranges; the text becomes a number in SQL."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.register("starts", _ranges(files.dataset))
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

    def prepare(data: pa.Table) -> Run:
        connection.register("addresses", data)
        return lambda: connection.sql(query).to_arrow_table()

    return prepare


def _ranges(dataset: Path) -> pa.Table:
    import geolookup
    from geolookup import tables

    rows = workload.table(dataset, 4)
    with geolookup.open(dataset) as engine:
        codes = tables.take(engine.snapshot(), range(len(rows)), ONE).column(0).dictionary_decode()
    return pa.table({"start": rows["start"].cast(pa.uint64()), "country_code": codes})


OWN, ONE_FIELD, TEN_FIELDS = "geolookup", "one field", "ten fields"
_ONE, _TEN = partial(answers.fields, paths=ONE), partial(answers.fields, paths=TEN)
_CODES, _RECORDS = answers.countries, answers.city_records
_polars_one, _polars_ten = maxminddb_polars(whole_record=False), maxminddb_polars(whole_record=True)
CONTENDERS = (
    Contender(OWN, ONE_FIELD, 4, ours(ONE), _ONE),
    Contender(OWN, TEN_FIELDS, 4, ours(TEN), _TEN),
    Contender(OWN, ONE_FIELD, 6, ours(ONE), _ONE),
    Contender(OWN, ONE_FIELD, 4, ours(ONE, 2), _ONE, 2),
    Contender(OWN, TEN_FIELDS, 4, ours(TEN, 2), _TEN, 2),
    Contender("maxminddb-polars", ONE_FIELD, 4, _polars_one, _CODES, share=0.3),
    Contender("maxminddb-polars", TEN_FIELDS, 4, _polars_ten, _RECORDS, share=0.05),
    Contender("maxminddb-polars", ONE_FIELD, 6, _polars_one, _CODES, share=0.3),
    Contender("polars-iptools", TEN_FIELDS, 4, polars_iptools, answers.iptools_records, share=0.2),
    Contender("maxminddb, loop", ONE_FIELD, 4, maxminddb_loop, _CODES, share=0.1),
    Contender("DuckDB, ASOF join", ONE_FIELD, 4, duckdb_join, _CODES, share=0.3),
)
BY_KEY = {contender.key: contender for contender in CONTENDERS}
