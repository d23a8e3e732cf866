"""The steps of a contributor who adds a field: one entry, the generator, a build of the kernel.

The tree is copied, and ``network.is_anycast``, a Boolean, gets an entry. A dataset with that column
is compiled; both kernels, all commands and all exports then have it, with no other edit.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pyarrow.parquet as parquet
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
RECIPE = '[dataset]\nname = "a"\n[[source]]\nformat = "csv"\npath = "{}.csv"\n'
ADDRESSES = ("1.1.1.1", "9.9.9.9", "5.5.5.5", "6.6.6.6", "2606:4700::1")
ANYCAST = [True, False, None, None, True]
#: The files that the generator writes.
WRITTEN = {
    *("docs/reference/contract.md", "docs/reference/format.md", "docs/data/recipe.md"),
    *("docs/envelope.schema.json", "benchmarks/contenders/table.py"),
    *("geolookup/contract/types.py", "geolookup/kernel/python_answer.py"),
}


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
        built = python(
            *(copy, "-m", "geolookup", "build", f"{name}.toml", "--output", name),
            *("--max-nulled", "25%"),
        )
        assert "1 is_anycast" in built
        assert "IPv6: is_anycast" in built
    return copy


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
import json, geolookup, pyarrow
from geolookup.compat.geoip2 import Reader

engine, ips = geolookup.open(), {addresses!r}
path = "network.is_anycast"
print(json.dumps({{
    "kernel": engine.kernel,
    "json": json.loads(engine.lookup_json(ips[0])),
    "dict": [engine.lookup(ip)["data"]["network"]["is_anycast"] for ip in ips],
    "get": [engine.get(ip, path) for ip in ips],
    "answer": [engine.answer(ip).network.is_anycast for ip in ips],
    "arrow": engine.enrich(pyarrow.array(ips), path)["network_is_anycast"].to_pylist(),
    "where": [str(network) for network in engine.prefixes(where={{"is_anycast": True}})],
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
    for name in ("dict", "get", "answer", "arrow"):
        assert result.pop(name) == ANYCAST, name
    (info,) = result.pop("fields")
    assert info["type"] == "boolean"
    assert result == {
        "where": ["1.1.1.0/24", "2606:4700::/32"],
        "geoip2": [True, False],
    }


def test_commands_and_exports_have_the_field(tree: Path, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        return python(tree, "-m", "geolookup", *words)

    assert run("prefixes", "network.is_anycast=false").split() == ["9.9.9.0/24"]
    changed = [line.split() for line in run("diff", "old", "new").splitlines()]
    assert ["network.is_anycast", "0", "0", "256"] in changed
    for kind in ("csv", "jsonl"):
        run("export", "new", "--format", kind, "--output", str(tmp_path / kind))
        assert "network_is_anycast" in (tmp_path / kind).read_text(encoding="utf-8")
    cells = [line.rpartition(",")[2] for line in (tmp_path / "csv").read_text("utf-8").splitlines()]
    assert cells == ["network_is_anycast", "true", "", "", "false", "true"]
    run("export", "new", "--format", "parquet", "--output", str(tmp_path / "parquet"))
    table = parquet.read_table(tmp_path / "parquet" / "ipv4")
    assert table["network_is_anycast"].to_pylist() == [True, None, None, False]
