"""The modules that are mutated, and their mutants that may survive."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutate import cython_positions
from tests.mutate.mutant import Mutant, Position

_FOLDER = Path(__file__).resolve().parent
ROOT = _FOLDER.parent.parent
_KINDS = ("equivalent", "accepted")


@dataclass(frozen=True)
class Module:
    """Files by patterns (``!`` excludes files), and the tests that judge their mutants."""

    name: str
    files: list[str]
    tests: list[str]
    mutants: int
    environment: dict[str, str] = field(default_factory=dict)

    def paths(self, root: Path = ROOT) -> list[str]:
        """Return the files, in order."""
        excluded = {
            path for pattern in self.files if pattern[0] == "!" for path in root.glob(pattern[1:])
        }
        selection = {
            path for pattern in self.files if pattern[0] != "!" for path in root.glob(pattern)
        }
        return sorted(path.relative_to(root).as_posix() for path in selection - excluded)

    def positions(self, root: Path = ROOT) -> Iterator[Position]:
        """Yield every position that can be changed."""
        from tests.mutate import python_positions  # needs cosmic-ray

        for file in self.paths(root):
            yield from (python_positions if file.endswith(".py") else cython_positions).positions(
                root, file
            )


@dataclass(frozen=True)
class Survivor:
    """An entry of ``survivors.toml``: a mutant that may survive, its kind and the reason."""

    file: str
    function: str
    operator: str
    before: str
    after: str
    kind: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        return self.file, self.function, self.operator, self.before, self.after

    def fault(self, root: Path = ROOT) -> str | None:
        """Return the fault of the entry; None if it has none."""
        if self.kind not in _KINDS or not self.reason:
            return f"needs a reason, and a kind of {' or '.join(_KINDS)}"
        path = root / self.file
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return None if self.before in map(str.strip, lines) else "is no longer a line of the file"


def modules(path: Path = _FOLDER / "scope.toml") -> dict[str, Module]:
    """Return the modules by name."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: Module(name, **table) for name, table in tables.items()}


def survivors(path: Path = _FOLDER / "survivors.toml") -> list[Survivor]:
    """Return the list of survivors."""
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])
    return [Survivor(**table) for table in tables]


def as_entry(mutant: Mutant) -> str:
    """Return an entry of ``survivors.toml`` for a mutant, with an empty reason."""
    names = ("file", "function", "operator", "before", "after")
    lines = (f"{name} = {_quoted(value)}" for name, value in zip(names, mutant.key, strict=True))
    return "\n".join(("[[survivor]]", *lines, 'kind = "accepted"', 'reason = ""'))


def _quoted(value: str) -> str:
    if "'" not in value:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
