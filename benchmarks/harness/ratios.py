"""Ratios and other values with the bounds that were wanted: printed and drawn, never asserted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.harness.tables import Bound, Number, Table


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


def ratio_table(name: str, title: str, ratios: Iterable[Ratio]) -> Table:
    """Return the ratios with their bounds, and whether each was kept."""
    found = list(ratios)
    rows = [
        (each.text, Number(each.value, ",.2f", each.unit), each.bound, each.verdict)
        for each in found
    ]
    bounds = [_bound(each) for each in found]
    return Table(name, (title, "is", "wanted", ""), rows, bounds=bounds)


def _bound(ratio: Ratio) -> Bound | None:
    if ratio.wanted is None:
        return None
    return Bound(ratio.wanted, f"{ratio.bound} {ratio.verdict}")
