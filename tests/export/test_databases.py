"""Databases that are exported find the range of an address by an index, in their own engine."""

from __future__ import annotations

import ast
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import geolookup
from geolookup.export.clickhouse import _cells
from geolookup.export.ranges import DEFAULT, fields_of
from tests.conftest import Build
from tests.export.postgresql_server import has_ip4r, psql
from tests.export.reading import Row, expected
from tests.skips import needs, optional

pytestmark = pytest.mark.long
#: Ranges whose ends are looked up.
_RANGES = 60
#: Besides the default fields, a list and a Boolean.
_PATHS = (
    *(field.path for field in DEFAULT),
    "location.country_languages",
    "location.country_is_eu",
)


def probes(rows: list[Row]) -> list[tuple[str, tuple[Any, ...] | None]]:
    """Return addresses at and beside the ends of some ranges, with the values of their range."""
    rng = random.Random(16)
    selection = rng.sample(range(len(rows)), min(_RANGES, len(rows)))
    actual: list[tuple[str, tuple[Any, ...] | None]] = []
    for family, first, last, values in (rows[item] for item in sorted(selection)):
        actual += [(_text(family, item), values) for item in {first, last}]
    # Between ranges, and in each family after all of them.
    actual += [(text, None) for text in ("0.0.0.1", "255.255.255.255", "::", "ffff::", "10.0.0.1")]
    return actual


def _text(family: int, value: int) -> str:
    return str(ip_address(value.to_bytes(4 if family == 4 else 16, "big")))


_FROM = "from geolookup"
_SQLITE = """
select location.*, network.*
from (select * from {table} where first <= :ip order by first desc limit 1) as range
join location on location.id = range.location
join network on network.id = range.network
where range.last >= :ip
"""


def _sqlite_key(ip: str) -> tuple[str, Any]:
    address = ip_address(ip)
    return f"ipv{address.version}", int(address) if address.version == 4 else address.packed


def test_sqlite(hostile: geolookup.Engine, sample: geolookup.Engine, tmp_path: Path) -> None:
    for engine in (hostile, sample):
        engine.export(tmp_path / "a.db", "sqlite", force=True)
        with closing(sqlite3.connect(tmp_path / "a.db")) as database:
            database.row_factory = sqlite3.Row
            assert database.execute("pragma integrity_check").fetchone()[0] == "ok"
            stated = tuple(database.execute("select * from dataset").fetchone())
            assert stated == (engine.metadata.name, engine.generation)
            for ip, values in probes(expected(engine)):
                table, key = _sqlite_key(ip)
                row = database.execute(_SQLITE.format(table=table), {"ip": key}).fetchone()
                assert (row and tuple(row[entry.name] for entry in DEFAULT)) == values


def test_sqlite_searches_by_the_key(wide: geolookup.Engine, tmp_path: Path) -> None:
    wide.export(tmp_path / "a.db", "sqlite")
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        for table, key in (("ipv4", 1 << 28), ("ipv6", ip_address("2a00::1:0:0:0:0").packed)):
            query = f"explain query plan {_SQLITE.format(table=table)}"
            plan = [row[3] for row in database.execute(query, {"ip": key})]
            assert any(step.startswith(f"SEARCH {table} USING ") for step in plan)
            assert not any("SCAN" in step and "range" not in step for step in plan)
            assert not any("TEMP B-TREE" in step for step in plan)


def _scans(plan: Any) -> Iterator[dict[str, Any]]:
    for step in plan:
        if step["type"] == "TABLE_SCAN":
            yield step
        yield from _scans(step.get("children", []))


def _groups(database: Any, query: str, key: Any) -> tuple[int, int]:
    """Return how many row groups a query reads, and how many there are."""
    explain = f"explain (analyze, format json) {query}"
    plan = json.loads(database.execute(explain, [key]).fetchall()[0][1])
    (scan,) = _scans(plan["operator"])
    return scan["row_groups_scanned"], scan["total_row_groups_to_scan"]


@needs("duckdb")
def test_duckdb_reads_one_row_group(wide: geolookup.Engine, tmp_path: Path) -> None:
    wide.export(tmp_path / "a.db", "duckdb")
    with closing(optional("duckdb").connect(tmp_path / "a.db", read_only=True)) as database:
        # Without the cast DuckDB compares as double.
        for family, number, key in (
            (4, "uinteger", 0x10000000 + (135_000 << 8)),
            (6, "uhugeint", (0x2A00 << 112) + (135_000 << 64)),
        ):
            query = f"from ipv{family} where first <= $1::{number} and last >= $1::{number}"
            assert _groups(database, query, key) == (1, 2)
            (row,) = database.execute(query, [key]).fetchall()
            assert row[0] == key


@needs("duckdb")
def test_duckdb_joins_addresses(sample: geolookup.Engine, tmp_path: Path) -> None:
    sample.export(tmp_path / "a.db", "duckdb")
    result = probes(expected(sample))
    with closing(optional("duckdb").connect(tmp_path / "a.db", read_only=True)) as database:
        for family, kind in ((4, "uinteger"), (6, "uhugeint")):
            wanted = {
                int(ip_address(ip)): values
                for ip, values in result
                if ip_address(ip).version == family
            }
            database.execute(f"create or replace temp table asked (ip {kind})")
            database.executemany("insert into asked values (?)", [[item] for item in wanted])
            names = ", ".join(f"case when ip <= last then {entry.name} end" for entry in DEFAULT)
            query = f"from asked asof left join ipv{family} on ip >= first select ip, {names}"
            nothing = (None,) * len(DEFAULT)
            rows = {row[0]: row[1:] for row in database.execute(query).fetchall()}
            assert rows == {ip: values or nothing for ip, values in wanted.items()}


def test_parquet_readers_skip_row_groups(wide: geolookup.Engine, tmp_path: Path) -> None:
    wide.export(tmp_path / "a", "parquet")
    for family in (4, 6):
        file = parquet.ParquetFile(tmp_path / "a" / f"ipv{family}" / "part-00000.parquet")
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        bounds = [
            (group.column(0).statistics.min, group.column(1).statistics.max) for group in groups
        ]
        assert len(bounds) > 1
        assert all(one[1] < other[0] for one, other in pairwise(bounds))
        about = json.loads(file.schema_arrow.metadata[b"geolookup"])
        assert about["generation"] == wide.generation


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
    fields = fields_of(_PATHS)
    for engine in (hostile, sample):  # the second replaces the first
        engine.export(tmp_path / "a.sql", "postgresql", ranges=form, fields=_PATHS, force=True)
        psql(postgresql, "-f", str(tmp_path / "a.sql"))
        result = probes(expected(engine, _PATHS))
        names = ", ".join(f"'{item.name}', {item.name}" for item in fields)
        start = f"select json_build_array((select json_build_object({names}) {_FROM} where "
        query = ";\n".join(f"{start}{where.format(ip=ip)}))" for ip, _ in result)
        rows = [json.loads(line)[0] for line in _lines(psql(postgresql, text=query.encode()))]
        values = [row and tuple(row[field.name] for field in fields) for row in rows]
        assert values == [item[1] for item in result]
    about = psql(postgresql, "-c", "select obj_description('geolookup'::regclass)")
    assert json.loads(about)["generation"] == sample.generation


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def test_postgresql_replaces_nul(postgresql: dict[str, str], build: Build, tmp_path: Path) -> None:
    rows = '{"network": "8.0.0.0/8", "isp": "a\\u0000b"}\n'
    recipe = '[dataset]\nname = "t"\n[[source]]\nformat = "jsonl"\npath = "a.jsonl"\n'
    dataset, _ = build({"a.jsonl": rows}, recipe)
    with geolookup.open(dataset) as engine:
        engine.export(tmp_path / "a.sql", "postgresql")
    psql(postgresql, "-f", str(tmp_path / "a.sql"))
    assert _lines(psql(postgresql, "-c", "select network_isp from geolookup")) == ["a\ufffdb"]


def test_postgresql_uses_the_index(
    postgresql: dict[str, str], wide: geolookup.Engine, tmp_path: Path
) -> None:
    queries = {
        "cidr": "select * from geolookup where network >>= inet '16.0.5.1'",
        "range": (
            "select * from geolookup where first <= inet '16.0.5.1' order by first desc limit 1"
        ),
        "ip4r": "select * from geolookup where range >>= ipaddress '16.0.5.1'",
    }
    for form, query in queries.items():
        wide.export(tmp_path / "a.sql", "postgresql", ranges=form, within="16.0.0.0/10", force=True)
        psql(postgresql, "-f", str(tmp_path / "a.sql"))
        assert "Index" in (plan := psql(postgresql, "-c", f"explain {query}"))
        assert "geolookup_address" in plan


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
            engine.export(output, "clickhouse", fields=_PATHS, folder=str(output))
            session.query((output / "dictionary.sql").read_text(encoding="utf-8"))
            _compare(session, probes(expected(engine, _PATHS)))
        kind = session.query("select type from system.dictionaries", "TSVRaw")
        assert "Trie" in str(kind)
    finally:
        session.close()


def _compare(session: Any, rows: list[tuple[str, Any]]) -> None:
    fields = fields_of(_PATHS)
    names = ", ".join(f"'{field.name}'" for field in fields)
    for ip, values in rows:
        key = f"tuple(IPv6StringToNum('{ip}'))"
        query = f"select dictHas('geolookup', {key}), dictGet('geolookup', ({names}), {key})"
        known, got = json.loads(str(session.query(query, "JSONCompactEachRow")))
        assert bool(known) == (values is not None)
        pairs = zip(values or [None] * len(fields), fields, strict=True)
        assert list(got.values()) == [_without_null(*pair) for pair in pairs]


def _without_null(value: Any, field: Any) -> Any:
    if value is not None:
        return value
    unknown = {"string": "", "bool": False, "list<item: string>": [], "double": None}
    return unknown.get(field.type, 0)


#: Texts that end a cell, a line, a text or a list somewhere.
_ENDING = ["a\tb", "c\nd\r", "e'f\\", "\\t]", "g,h", ""]


def _clickhouse_lines() -> str:
    """Rows with a text, a list and a text: the lists of ``_ENDING``, its reverse, and none."""
    lists = [_ENDING, _ENDING[::-1], []]
    columns = [pa.array(["\t", "\\", "x"]), pa.array(lists, pa.list_(pa.string()))]
    return b"\n".join(_cells([], [*columns, columns[0]]).to_pylist()).decode()


def test_lists_of_clickhouse_hold_any_text() -> None:
    """Read by the rules of its format TabSeparated: Python reads the same escapes."""
    rows = [line.split("\t") for line in _clickhouse_lines().split("\n")]
    assert [len(row) for row in rows] == [3, 3, 3]
    assert [ast.literal_eval(row[1]) for row in rows] == [_ENDING, _ENDING[::-1], []]
    assert not any("\r" in cell for row in rows for cell in row)


@needs("chdb")
def test_clickhouse_reads_lists_of_any_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chdb = optional("chdb")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text(_clickhouse_lines() + "\n", encoding="utf-8", newline="")
    query = "select * from file('a.tsv', TabSeparated, 'a String, b Array(String), c String')"
    rows = [json.loads(row) for row in str(chdb.query(query, "JSONCompactEachRow")).splitlines()]
    assert sorted(rows) == sorted(
        [["\t", _ENDING, "\t"], ["\\", _ENDING[::-1], "\\"], ["x", [], "x"]]
    )
