"""The steps of a contributor who adds a field: one entry, the generator, a build of the kernel.

The tree is copied, and ``network.is_anycast``, a Boolean, gets an entry. A dataset with that column
is compiled; both kernels, all commands and all exports then have it, with no other edit.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT
from tests.envelopes import closed

pytestmark = pytest.mark.long

ENTRY = """\
    _network("is_anycast", BOOLEAN, "whether several places announce the network", True,
        other_names="anycast", maxmind="traits.is_anycast"),
"""
RANGES = """\
network,country_code,city_name,asn,is_anycast
1.1.1.0/24,AU,Sydney,13335,{sydney}
5.5.5.0/24,DE,Berlin,6805,
6.6.6.0/24,US,,,perhaps
9.9.9.0/24,US,,19281,0
2606:4700::/32,US,,13335,TRUE
"""
RECIPE = '[dataset]\nname = "a"\nexplain = "full"\n[[source]]\nformat = "csv"\npath = "{}.csv"\n'
ADDRESSES = ("1.1.1.1", "9.9.9.9", "5.5.5.5", "6.6.6.6", "2606:4700::1")
ANYCAST = [True, False, None, None, True]
#: The files that the generator writes.
WRITTEN = {
    *(
        "docs/reference/contract.md",
        "docs/reference/format.md",
        "docs/data/recipe.md",
    ),
    *("docs/envelope.schema.json", "benchmarks/peers/contenders.py"),
    *("geolookup/contract/types.py", "geolookup/kernel/python_answer.py"),
}
Run = Callable[..., str]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the field, its kernel, and the datasets ``new`` and ``old``."""
    copy = tmp_path_factory.mktemp("field") / "tree"
    unwanted = shutil.ignore_patterns(".*", "tests", "build", "__pycache__", "*.so", "*.c")
    shutil.copytree(ROOT, copy, ignore=unwanted)
    entries = copy / "geolookup" / "contract" / "fields.py"
    text = entries.read_text(encoding="utf-8")
    before, end, after = text.partition(")\n# fmt: on\n")
    entries.write_text(before + ENTRY + end + after, encoding="utf-8")
    written = python(copy, "-m", "docs.fields").split()
    assert set(written) == WRITTEN
    assert python(copy, "-m", "docs.fields", "--check") == ""
    python(copy, "setup.py", "build_ext", "--inplace")
    for name, sydney in (("new", "yes"), ("old", "no")):
        (copy / f"{name}.csv").write_text(RANGES.format(sydney=sydney), encoding="utf-8")
        (copy / f"{name}.toml").write_text(RECIPE.format(name), encoding="utf-8")
        built = python(copy, "-m", "geolookup", "build", f"{name}.toml", "--output", name)
        assert "1 is_anycast" in built
        assert "addresses with is_anycast" in built
    return copy


@pytest.fixture(params=["compiled", "python"])
def run(tree: Path, request: pytest.FixtureRequest) -> Run:
    """Run a command of geolookup in the tree, with one kernel; return its output."""
    return lambda *words: python(tree, "-m", "geolookup", *words, kernel=request.param)


def python(tree: Path, *words: str, kernel: str = "") -> str:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(tree), str(tree / "builder"))),
        "GEOLOOKUP_KERNEL": kernel,
        "GEOLOOKUP_DATASET": str(tree / "new"),
    }
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout or done.stderr


CALLS = """
import json, geolookup, pandas
from geolookup import tables
from geolookup.compat.geoip2 import Reader

engine, ips = geolookup.open(), {addresses!r}
path = "network.is_anycast"
added = engine.enrich(pandas.DataFrame({{"ip": ips}}))["network_is_anycast"]
state = engine.snapshot()
ids = tables.locate(state, ips)
print(json.dumps({{
    "kernel": engine.kernel,
    "json": json.loads(engine.lookup_json(ips[0])),
    "dict": [engine.lookup(ip)["data"]["network"]["is_anycast"] for ip in ips],
    "get": [engine.get(ip, path) for ip in ips],
    "get_many": [values[0] for values in engine.get_many(ips, [path, "network"])],
    "answer": [engine.answer(ip).network.is_anycast for ip in ips],
    "take": tables.take(state, ids, path)["network_is_anycast"].to_pylist(),
    "groups": tables.take(state, ids, ["network"])["network_is_anycast"].to_pylist(),
    "pandas": [None if pandas.isna(value) else bool(value) for value in added],
    "where": [str(network) for network in engine.prefixes(where={{"is_anycast": True}})],
    "explain": engine.explain(ips[0])["layers"]["is_anycast"]["values"],
    "fields": [info._asdict() for info in geolookup.fields() if info.path == path],
    "geoip2": [Reader().enterprise(ip).traits.is_anycast for ip in ips[:2]],
}}))
"""


@pytest.mark.parametrize("kernel", ["compiled", "python"])
def test_every_call_has_the_field(tree: Path, kernel: str) -> None:
    result = json.loads(python(tree, "-c", CALLS.format(addresses=ADDRESSES), kernel=kernel))
    assert result.pop("kernel") == kernel
    schema = json.loads((tree / "docs" / "envelope.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(closed(schema)).validate(result["json"])
    assert list(result.pop("json")["data"]["network"].items())[-1] == ("is_anycast", True)
    for name in ("dict", "get", "get_many", "answer", "take", "groups", "pandas"):
        assert result.pop(name) == ANYCAST, name
    (info,) = result.pop("fields")
    assert info["type"] == "boolean"
    assert result == {
        "where": ["1.1.1.0/24", "2606:4700::/32"],
        "explain": {"is_anycast": True},
        "geoip2": [True, False],
    }


def test_every_command_has_the_field(tree: Path, run: Run, tmp_path: Path) -> None:
    assert json.loads(run("lookup", "9.9.9.9"))["data"]["network"]["is_anycast"] is False
    assert (
        run("lookup", "9.9.9.9", "--fields", "network.is_anycast", "--format", "csv").splitlines()[
            -1
        ]
        == "false"
    )
    assert "network.is_anycast" in run("fields")
    assert "network.is_anycast" in run("info")
    assert run("prefixes", "network.is_anycast=false").split() == ["9.9.9.0/24"]
    assert "  is_anycast       yes" in run("explain", "1.1.1.1")
    changed = [line.split() for line in run("diff", "old", "new").splitlines()]
    assert ["network.is_anycast", "0", "0", "256"] in changed
    assert "country agree  100.00 %" in run("score", "new", "--truth", "old.csv")
    run("verify", "new", "--deep")
    run("report", "new", "--output", str(tmp_path / "report.html"))
    assert "is_anycast" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "in.csv").write_text("ip\n" + "\n".join(ADDRESSES), encoding="utf-8")
    run("enrich", str(tmp_path / "in.csv"), "--output", str(tmp_path / "out.csv"))
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        cells = [row["network_is_anycast"] for row in csv.DictReader(file)]
    assert cells == ["true", "false", "", "", "true"]


def exported(path: Path) -> Any:
    """Return the values of a file for Sydney, Dallas and Berlin, or its text."""
    if path.suffix == ".mmdb":
        maxminddb = pytest.importorskip("maxminddb")
        with maxminddb.open_database(path) as reader:
            return [reader.get(ip) for ip in ADDRESSES[:3]]
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as database:
            return {row[0] for row in database.execute("select network_is_anycast from network")}
    if path.suffix == ".duckdb":
        with pytest.importorskip("duckdb").connect(str(path), read_only=True) as database:
            rows = database.execute("select network_is_anycast from ipv4").fetchall()
            return {value for (value,) in rows}
    return path.read_text(encoding="utf-8")


def test_every_export_has_the_field(tree: Path, run: Run, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")

    def export(kind: str, name: str, *options: str) -> Path:
        run("export", "new", "--format", kind, "--output", str(tmp_path / name), *options)
        return tmp_path / name

    rows = [json.loads(line) for line in exported(export("jsonl", "a.jsonl")).splitlines()]
    assert [row["network_is_anycast"] for row in rows] == [True, None, None, False, True]
    cells = [line.rpartition(",")[2] for line in exported(export("csv", "a.csv")).splitlines()]
    assert cells == ["network_is_anycast", "true", "", "", "false", "true"]
    table = pq.read_table(export("parquet", "parquet") / "ipv4")
    assert table["network_is_anycast"].to_pylist() == [True, None, None, False]
    assert exported(export("sqlite", "a.sqlite")) == {1, 0, None}
    assert exported(export("duckdb", "a.duckdb")) == {True, False, None}
    assert "network_is_anycast boolean" in exported(export("postgresql", "a.sql"))
    dictionary = export("clickhouse", "clickhouse") / "dictionary.sql"
    assert "network_is_anycast Bool" in exported(dictionary)
    flat = exported(export("mmdb", "flat.mmdb"))
    assert [record.get("is_anycast") for record in flat] == ANYCAST[:3]
    nested = exported(export("mmdb", "nested.mmdb", "--schema", "enterprise"))
    assert [record["traits"].get("is_anycast") for record in nested] == [True, None, None]
