"""docs/fleet.md has the figures that its arithmetic gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

from tests.conftest import ROOT
from tests.docs import fleet_figures
from tests.docs.fleet_figures import Row

PAGE = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", fleet_figures.TABLES, ids=lambda table: table.__name__)
def test_a_table_of_the_page_is_the_computed_one(table: Callable[[], Iterable[Row]]) -> None:
    assert f"\n{fleet_figures.markdown(table())}\n\n" in PAGE


def test_the_page_has_no_other_table() -> None:
    assert len(re.findall(r"^\|[ -|]*---", PAGE, re.MULTILINE)) == len(fleet_figures.TABLES)


@pytest.mark.parametrize(("mean", "share", "least"), [(1, 0.5, 1), (1, 0.9, 2), (10, 0.99, 18)])
def test_the_quantiles_are_those_of_the_distribution(mean: float, share: float, least: int) -> None:
    assert fleet_figures.quantile(mean, share) == least  # as in tables of the distribution
