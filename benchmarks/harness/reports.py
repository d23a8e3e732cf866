"""What the benchmarks print and write: aligned tables, ratios with their bounds, JSON."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.processes import ROOT

#: Where results are written unless ``--json`` names a file.
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was measured, its value, and the bound it was wanted within, if there is one."""

    text: str
    value: float
    wanted: float | None
    least: bool = False
    unit: str = ""

    @property
    def verdict(self) -> str:
        """Whether the bound was kept, in a word."""
        if self.wanted is None:
            return "reported"
        kept: Callable[[float, float], bool] = operator.ge if self.least else operator.le
        return "met" if kept(self.value, self.wanted) else "missed"

    @property
    def bound(self) -> str:
        """The bound in a few characters."""
        if self.wanted is None:
            return ""
        return f"{'>=' if self.least else '<='} {self.wanted:g}{self.unit}"


def machine_line(found: Mapping[str, Any]) -> str:
    """Return the facts as one line."""
    pinned = "pinned" if found["pinned"] else "not pinned"
    return (
        f"{found['implementation']} {found['python']}, {found['system']} {found['machine']},"
        f" {found['cores']} cores, {pinned}"
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns, the first to the left and the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def as_json(result: Mapping[str, Any]) -> str:
    """Return a result as JSON text."""
    return json.dumps(result, indent=1)


def ratio_table(title: str, ratios: Iterable[Ratio]) -> str:
    """Return the ratios with their bounds, and whether each was kept."""
    rows = [
        (each.text, f"{each.value:,.2f}{each.unit}", each.bound, each.verdict) for each in ratios
    ]
    return table((title, "is", "wanted", ""), rows)


def tell(text: str, result: Mapping[str, Any], target: Path | None) -> None:
    """Print the tables and the machine; also write the result as JSON where a file is named."""
    print(text)
    print(machine_line(result["machine"]))
    if target is not None:
        write(result, target)


def write(result: Mapping[str, Any], target: Path) -> None:
    """Write a result as JSON; the folder is made if it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(as_json(result) + "\n", encoding="utf-8")
