"""Tables of a benchmark: values that are printed as aligned columns, and ratios with goals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a table, and how it is printed."""

    value: float
    form: str = ",.0f"
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:{self.form}}{self.unit}"


Cell = str | Number


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a name and cells under a header, whose first text is the title."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __str__(self) -> str:
        """The columns, the first to the left; the others to the right, unless all is prose."""
        lines = [self.header, *([str(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.header))]
        has_numbers = any(isinstance(cell, Number) for row in self.rows for cell in row)
        align = str.rjust if has_numbers else str.ljust
        return "\n".join(
            "  ".join(
                align(cell, width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measured ratio or amount, and its goal, if there is one: printed, never asserted."""

    text: str
    value: float
    goal: float | None = None
    least: bool = False
    unit: str = "x"

    @property
    def verdict(self) -> str:
        """Whether the goal was met, in a word."""
        if self.goal is None:
            return "reported"
        holds: Callable[[float, float], bool] = operator.ge if self.least else operator.le
        return "met" if holds(self.value, self.goal) else "missed"

    @property
    def bound(self) -> str:
        """The goal in a few characters."""
        if self.goal is None:
            return ""
        return f"{'>=' if self.least else '<='} {self.goal:g}{self.unit}"


def ratio_table(title: str, ratios: Iterable[Ratio]) -> Table:
    """Return the ratios with their goals, and whether each was met."""
    rows = [
        (ratio.text, Number(ratio.value, ",.2f", ratio.unit), ratio.bound, ratio.verdict)
        for ratio in ratios
    ]
    return Table((title, "is", "wanted", "verdict"), rows)
