"""Ratios and other values with the bounds that were wanted: printed and drawn, never asserted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.harness.tables import Bound, Number, Table


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measured ratio, its value, and its goal, if there is one."""

    text: str
    value: float
    goal: float | None
    least: bool = False
    unit: str = ""

    @property
    def verdict(self) -> str:
        """Whether the bound was kept, in a word."""
        if self.goal is None:
            return "reported"
        holds: Callable[[float, float], bool] = operator.ge if self.least else operator.le
        return "met" if holds(self.value, self.goal) else "missed"

    @property
    def bound(self) -> str:
        """The bound in a few characters."""
        if self.goal is None:
            return ""
        return f"{'>=' if self.least else '<='} {self.goal:g}{self.unit}"


def ratio_table(name: str, title: str, ratios: Iterable[Ratio]) -> Table:
    """Return the ratios with their bounds, and whether each was kept."""
    items = list(ratios)
    rows = [
        (ratio.text, Number(ratio.value, ",.2f", ratio.unit), ratio.bound, ratio.verdict)
        for ratio in items
    ]
    bounds = [_bound(ratio) for ratio in items]
    return Table(name, (title, "is", "wanted", ""), rows, bounds=bounds)


def _bound(ratio: Ratio) -> Bound | None:
    if ratio.goal is None:
        return None
    return Bound(ratio.goal, f"{ratio.bound} {ratio.verdict}")
