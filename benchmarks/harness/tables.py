"""Tables of a benchmark: values that are printed as aligned columns, and drawn as bars."""

from __future__ import annotations

from collections.abc import Sequence
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
class Bound:
    """A value that a row was wanted to keep, and in words whether it did."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a name and cells under a header, whose first text is the title.

    Where ``unit`` is given, all numbers are of it: their bars have one scale. Otherwise each column
    has its own. Rows whose names begin with ``ours`` measure geolookup. ``bounds`` has a value
    for each row, or none at all.
    """

    name: str  # of its files
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    unit: str = ""
    ours: str | tuple[str, ...] = ""
    bounds: Sequence[Bound | None] = ()

    @property
    def has_numbers(self) -> bool:
        """Whether there is anything to draw."""
        return any(isinstance(cell, Number) for row in self.rows for cell in row)

    def __str__(self) -> str:
        """The columns, the first to the left; the others to the right, unless all is prose."""
        lines = [self.header, *([str(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.header))]
        align = str.rjust if self.has_numbers else str.ljust
        return "\n".join(
            "  ".join(
                align(cell, width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )
