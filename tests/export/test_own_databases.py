"""Own columns and private networks in databases, looked up by their own engines."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.export.ranges import fields_of
from tests.export.own_rows import address, own_rows
from tests.export.postgresql_server import has_ip4r, psql
from tests.own_sources import own_dataset
from tests.skips import needs, optional

pytestmark = pytest.mark.long
_PATHS = ("country", "city", "asn", "own")


@pytest.fixture(scope="module")
def own() -> Iterator[geolookup.Engine]:
    with geolookup.open(own_dataset()) as engine:
        yield engine


def probes(engine: geolookup.Engine) -> dict[str, tuple[Any, ...] | None]:
    """Return the values of a row by addresses: its ends, and None for addresses without a row."""
    fields = fields_of(_PATHS, engine.snapshot().dataset.schema)
    probes: dict[str, Any] = dict.fromkeys(("0.0.0.1", "11.0.0.0", "::", "fe80::1", "ffff::"))
    for family, first, last, values in own_rows(engine, fields):
        probes |= dict.fromkeys((address(family, first), address(family, last)), values)
    return probes


def names(engine: geolookup.Engine) -> list[str]:
    return [field.name for field in fields_of(_PATHS, engine.snapshot().dataset.schema)]


def test_sqlite(own: geolookup.Engine, tmp_path: Path) -> None:
    own.export(tmp_path / "a.db", "sqlite", fields=_PATHS)
    tables = ("location", "network", "own")
    joins = " ".join(f"join {table} on {table}.id = range.{table}" for table in tables)
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        for ip, values in probes(own).items():
            family = ip_address(ip).version
            key = int(ip_address(ip)) if family == 4 else ip_address(ip).packed
            query = (
                f"select {', '.join(names(own))}"  # noqa: S608
                f" from (select * from ipv{family} where first <= ? order by first desc limit 1)"
                f" as range {joins} where range.last >= ?"
            )
            row = database.execute(query, (key, key)).fetchone()
            assert (row and _of_sqlite(own, row)) == values, ip


def _of_sqlite(engine: geolookup.Engine, row: tuple[Any, ...]) -> tuple[Any, ...]:
    fields = fields_of(_PATHS, engine.snapshot().dataset.schema)
    read: dict[str, Callable[[Any], Any]] = {"bool": bool, "list<item: string>": json.loads}
    return tuple(
        value if value is None or field.type not in read else read[field.type](value)
        for value, field in zip(row, fields, strict=True)
    )


@needs("duckdb")
def test_duckdb(own: geolookup.Engine, tmp_path: Path) -> None:
    own.export(tmp_path / "a.db", "duckdb", fields=_PATHS)
    with closing(optional("duckdb").connect(tmp_path / "a.db", read_only=True)) as database:
        for ip, values in probes(own).items():
            family = ip_address(ip).version
            number = "uinteger" if family == 4 else "uhugeint"
            where = f"first <= $1::{number} and last >= $1::{number}"
            query = f"from ipv{family} select {', '.join(names(own))} where {where}"
            row = database.execute(query, [int(ip_address(ip))]).fetchone()
            assert row == values, ip


@pytest.mark.parametrize("form", ["cidr", "range", "ip4r"])
def test_postgresql(
    form: str, postgresql: dict[str, str], own: geolookup.Engine, tmp_path: Path
) -> None:
    if form == "ip4r" and not has_ip4r():
        pytest.skip("no extension ip4r")
    where = {
        "cidr": "network >>= inet '{ip}'",
        "range": "first <= inet '{ip}' and last >= inet '{ip}'",
        "ip4r": "range >>= ipaddress '{ip}'",
    }[form]
    own.export(tmp_path / "a.sql", ranges=form, fields=_PATHS)
    psql(postgresql, "-f", str(tmp_path / "a.sql"))
    wanted = probes(own)
    columns = ", ".join(names(own))
    row = f"select json_build_array((select json_build_array({columns}) from geolookup"  # noqa: S608
    query = ";\n".join(f"{row} where {where.format(ip=ip)}))" for ip in wanted)
    lines = psql(postgresql, text=query.encode()).rstrip("\n").split("\n")
    rows = [json.loads(line)[0] for line in lines]
    assert [row and tuple(row) for row in rows] == [*wanted.values()]


@needs("chdb")
def test_clickhouse(own: geolookup.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it reads only files of the current folder
    session = optional("chdb.session").Session(str(tmp_path / "session"))
    try:
        session.query("create database geo engine = Atomic")
        session.query("use geo")
        output = tmp_path / "own"
        own.export(output, "clickhouse", fields=_PATHS, folder=str(output))
        session.query((output / "dictionary.sql").read_text(encoding="utf-8"))
        quoted = ", ".join(f"'{name}'" for name in names(own))
        for ip, values in probes(own).items():
            key = f"tuple(IPv6StringToNum('{ip}'))"
            query = f"select dictHas('geolookup', {key}), dictGet('geolookup', ({quoted}), {key})"
            known, got = json.loads(str(session.query(query, "JSONCompactEachRow")))
            assert bool(known) == (values is not None), ip
            assert [*got.values()] == _without_null(own, values), ip
    finally:
        session.close()


def _without_null(engine: geolookup.Engine, values: tuple[Any, ...] | None) -> list[Any]:
    """Return the values of attributes, none of them null; 64-bit integers are texts in JSON."""
    fields = fields_of(_PATHS, engine.snapshot().dataset.schema)
    unknown = {"string": "", "bool": False, "list<item: string>": [], "double": None}
    return [
        unknown.get(field.type, 0) if value is None else value
        for value, field in zip(values or [None] * len(fields), fields, strict=True)
    ]
