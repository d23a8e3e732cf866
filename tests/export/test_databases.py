"""Databases that are exported find the range of an address by an index, in their own engine."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.export.postgresql_server import has_ip4r, psql
from tests.export.reading import address_text, expected, of_sqlite
from tests.internals.contract import Field
from tests.internals.export import fields_of
from tests.internals.kernel import state_of
from tests.skips import needs, optional

pytestmark = pytest.mark.long
#: Ranges whose ends are looked up.
_RANGES = 60
_FROM = "from geolookup"


def paths_of(engine: geolookup.Engine) -> list[str]:
    """The default fields, own columns too, a list and a Boolean of the contract."""
    fields = fields_of(None, state_of(engine).dataset.schema)
    return [*(field.path for field in fields), "country_languages", "country_is_eu"]


def fields_read(engine: geolookup.Engine) -> tuple[Field, ...]:
    return fields_of(paths_of(engine), state_of(engine).dataset.schema)


def probes(engine: geolookup.Engine) -> dict[str, tuple[Any, ...] | None]:
    """Return the values of some ranges by their ends, and None for addresses without a row."""
    rows = expected(engine, paths_of(engine))
    selection = random.Random(16).sample(range(len(rows)), min(_RANGES, len(rows)))
    actual: dict[str, Any] = dict.fromkeys(("0.0.0.1", "255.255.255.255", "::", "ffff::", "fe80::"))
    for family, first, last, values in (rows[item] for item in sorted(selection)):
        ends = address_text(family, first), address_text(family, last)
        actual |= dict.fromkeys(ends, tuple(values))
    return actual


_SQLITE = """
select {columns} from
(select * from {table} where first <= :ip order by first desc limit 1) as range
{joins} where range.last >= :ip
"""


def _sqlite_query(database: sqlite3.Connection, engine: geolookup.Engine, table: str) -> str:
    columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
    # After first and last: the numbers of rows, by table.
    joins = "\n".join(f"join {name} on {name}.id = range.{name}" for name in columns[2:])
    names = ", ".join(field.name for field in fields_read(engine))
    return _SQLITE.format(columns=names, table=table, joins=joins)


def test_sqlite(hostile: geolookup.Engine, sample: geolookup.Engine, tmp_path: Path) -> None:
    for engine in (hostile, sample):
        engine.export(tmp_path / "a.db", "sqlite", fields=paths_of(engine), force=True)
        with closing(sqlite3.connect(tmp_path / "a.db")) as database:
            assert database.execute("pragma integrity_check").fetchone()[0] == "ok"
            stated = database.execute("select * from dataset").fetchone()
            assert stated == (engine.metadata.name, engine.generation)
            for ip, values in probes(engine).items():
                family = ip_address(ip).version
                key = int(ip_address(ip)) if family == 4 else ip_address(ip).packed
                query = _sqlite_query(database, engine, f"ipv{family}")
                row = database.execute(query, {"ip": key}).fetchone()
                pairs = zip(row or (), fields_read(engine), strict=False)
                assert (row and tuple(of_sqlite(*pair) for pair in pairs)) == values, ip


@needs("duckdb")
def test_duckdb_joins_addresses(hostile: geolookup.Engine, tmp_path: Path) -> None:
    fields = fields_read(hostile)
    hostile.export(tmp_path / "a.db", "duckdb", fields=paths_of(hostile))
    wanted = {
        ip_address(ip): values or (None,) * len(fields) for ip, values in probes(hostile).items()
    }
    with closing(optional("duckdb").connect(tmp_path / "a.db", read_only=True)) as database:
        for family, kind in ((4, "uinteger"), (6, "uhugeint")):
            of_family = {int(ip): values for ip, values in wanted.items() if ip.version == family}
            database.execute(f"create or replace temp table asked (ip {kind})")
            database.executemany("insert into asked values (?)", [[item] for item in of_family])
            names = ", ".join(f"case when ip <= last then {field.name} end" for field in fields)
            query = f"from asked asof left join ipv{family} on ip >= first select ip, {names}"
            assert {row[0]: row[1:] for row in database.execute(query).fetchall()} == of_family


@pytest.mark.parametrize("form", ["cidr", "range", "ip4r"])
def test_postgresql(
    form: str,
    postgresql: dict[str, str],
    hostile: geolookup.Engine,
    sample: geolookup.Engine,
    tmp_path: Path,
) -> None:
    if form == "ip4r" and not has_ip4r():
        pytest.skip("no extension ip4r")
    where = {
        "cidr": "network >>= inet '{ip}'",
        "range": "first <= inet '{ip}' and last >= inet '{ip}' order by first desc limit 1",
        "ip4r": "range >>= ipaddress '{ip}'",
    }[form]
    for engine in (hostile, sample):  # the second replaces the first
        paths, wanted = paths_of(engine), probes(engine)
        engine.export(tmp_path / "a.sql", "postgresql", ranges=form, fields=paths, force=True)
        psql(postgresql, "-f", str(tmp_path / "a.sql"))
        names = ", ".join(field.name for field in fields_read(engine))
        start = f"select json_build_array((select json_build_array({names}) {_FROM} where "
        query = ";\n".join(f"{start}{where.format(ip=ip)}))" for ip in wanted)
        rows = [json.loads(line)[0] for line in _lines(psql(postgresql, text=query.encode()))]
        assert [row and tuple(row) for row in rows] == [*wanted.values()]
    about = psql(postgresql, "-c", "select obj_description('geolookup'::regclass)")
    assert json.loads(about)["generation"] == sample.generation


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


@needs("chdb")
def test_clickhouse(
    hostile: geolookup.Engine,
    sample: geolookup.Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chdb = optional("chdb.session")
    monkeypatch.chdir(tmp_path)  # it reads only files of the current folder
    session = chdb.Session(str(tmp_path / "session"))
    try:
        session.query("create database geo engine = Atomic")
        session.query("use geo")
        for at, engine in enumerate((hostile, sample)):
            output = tmp_path / f"it's {at}"
            engine.export(output, "clickhouse", fields=paths_of(engine), folder=str(output))
            session.query((output / "dictionary.sql").read_text(encoding="utf-8"))
            _compare(session, engine)
        kind = session.query("select type from system.dictionaries", "TSVRaw")
        assert "Trie" in str(kind)
    finally:
        session.close()


def _compare(session: Any, engine: geolookup.Engine) -> None:
    fields = fields_read(engine)
    names = ", ".join(f"'{field.name}'" for field in fields)
    for ip, values in probes(engine).items():
        key = f"tuple(IPv6StringToNum('{ip}'))"
        query = f"select dictHas('geolookup', {key}), dictGet('geolookup', ({names}), {key})"
        known, got = json.loads(str(session.query(query, "JSONCompactEachRow")))
        assert bool(known) == (values is not None)
        pairs = zip(values or [None] * len(fields), fields, strict=True)
        assert list(got.values()) == [_without_null(*pair) for pair in pairs], ip


def _without_null(value: Any, field: Field) -> Any:
    """Return the value of an attribute, never null."""
    if value is not None:
        return value
    unknown = {"string": "", "bool": False, "list<item: string>": [], "double": None}
    return unknown.get(field.type, 0)
