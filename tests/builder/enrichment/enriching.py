"""What the enrichment tests share: builds with an ``[enrich]`` table, and what they count."""

from __future__ import annotations

from pathlib import Path

from geolookup_builder.report import Filled

from tests.builder.building import known, recipe
from tests.conftest import build_at

STATIONS = "code,latitude,longitude\nUSCA0746,37.39,-122.08\nGMXX0007,52.52,13.41\n"
ALL = "time_zone = true\nregion_code = true\n[enrich.weather]\nstations = 'stations.csv'\n"


def enriched(
    folder: Path, enrich: str, header: str, *rows: str, stations: str = STATIONS
) -> tuple[list[dict[str, object]], dict[str, Filled]]:
    """Build rows (8.8.n.0/24 in order) with an ``[enrich]`` table; the answers and the counts."""
    lines = [f"8.8.{number}.0/24,{row}\n" for number, row in enumerate(rows)]
    files: dict[str, str | bytes] = {
        "a.csv": f"network,{header}\n" + "".join(lines),
        "stations.csv": stations,
    }
    text = recipe("path = 'a.csv'") + f"[enrich]\n{enrich}"
    dataset, report = build_at(folder, files, text)
    return known(dataset, *(f"8.8.{n}.1" for n in range(len(rows)))), report.enriched
