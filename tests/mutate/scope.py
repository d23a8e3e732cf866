"""The modules that are mutated, and the mutants of them that may survive."""

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
    """Files, given by patterns (``!`` leaves files out), and what judges their mutants."""

    name: str
    files: list[str]
    tests: list[str]
    mutants: int
    environment: dict[str, str] = field(default_factory=dict)

    def paths(self, root: Path = ROOT) -> list[str]:
        """Return the files, in order."""
        left = {
            path for pattern in self.files if pattern[0] == "!" for path in root.glob(pattern[1:])
        }
        chosen = {
            path for pattern in self.files if pattern[0] != "!" for path in root.glob(pattern)
        }
        return sorted(path.relative_to(root).as_posix() for path in chosen - left)

    def positions(self, root: Path = ROOT) -> Iterator[Position]:
        """Yield every place that can be changed."""
        from tests.mutate import python_positions  # needs cosmic-ray

        for file in self.paths(root):
            yield from (python_positions if file.endswith(".py") else cython_positions).positions(
                root, file
            )


@dataclass(frozen=True)
class Survivor:
    """An entry of the list: a mutant that may survive, of which kind it is, and why."""

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
        """Return what is wrong with the entry."""
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
    """Return the lines of an entry for the list, without its reason."""
    words = ("file", "function", "operator", "before", "after")
    lines = (f"{word} = {_quoted(value)}" for word, value in zip(words, mutant.key, strict=True))
    return "\n".join(("[[survivor]]", *lines, 'kind = "accepted"', 'reason = ""'))


def _quoted(value: str) -> str:
    if "'" not in value:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
