"""``geolookup report --truth``: the numbers are those of ``geolookup score``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import geolookup
from geolookup.reports.truth.section import truth_section
from tests.comparison.conftest import old_and_new
from tests.reports.shown import check_truth, of_sections

_, NEW = old_and_new()
FEED = "8.8.8.0/24,US,,Boston,\n9.9.9.0/24,CH,CH-BE,Bern,\n2a00::/32,FR,,Paris,\n"
LIST = "ip,country,city,latitude,longitude\n8.8.8.130,US,Boston,42.36,-71.06\n8.8.8.7,US,,42,-71\n"


def truth_files(folder: Path) -> dict[str, str]:
    """Write a geofeed and a list of addresses; returns their paths by name."""
    for name, text in (("feed.csv", FEED), ("list.csv", LIST)):
        (folder / name).write_text(text, encoding="utf-8")
    return {name: str(folder / name) for name in ("feed.csv", "list.csv")}


def scored_parts(found: Any) -> dict[str, Any]:
    """The parts of a score of one dataset that have a truth, as JSON has them."""
    parts = asdict(found)["datasets"][0]["parts"]
    return {name: part for name, part in parts.items() if part["score"]["of"]}


def test_the_numbers_are_those_of_score(tmp_path: Path) -> None:
    files = truth_files(tmp_path)
    for names in (["feed.csv"], ["list.csv"], ["list.csv", "feed.csv"]):
        found = geolookup.score(NEW, [files[name] for name in names])
        tables = of_sections([truth_section(found)])
        check_truth(tables, scored_parts(found))
        assert [row[0] for row in tables["Files of the truth"]] == names
