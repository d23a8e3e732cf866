"""docs/fleet.md has the figures that its arithmetic gives."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from tests.docs import fleet_figures

PAGE = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")


def test_the_tables_are_the_computed_ones() -> None:
    for table in fleet_figures.TABLES:
        assert f"\n{fleet_figures.markdown(table())}\n\n" in PAGE, table.__name__
    assert len(re.findall(r"^\|[ -|]*---", PAGE, re.MULTILINE)) == len(fleet_figures.TABLES)
    for mean, share, least in ((1, 0.5, 1), (1, 0.9, 2), (10, 0.99, 18)):
        assert fleet_figures.quantile(mean, share) == least  # as in tables of the distribution
