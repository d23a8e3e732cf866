"""The section on changes since an older dataset, and the map of moved addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison import ComparedDataset, Part
from geolookup.comparison.changes import (
    CLASSES_KM,
    by_distance,
    country_flows,
)
from geolookup.comparison.measures import Pairs
from geolookup.dataset.intervals import F64
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, histogram
from geolookup.pictures.world import Density
from geolookup.reports.difference import (
    Difference,
    coverage_table,
    field_tables,
    gate_table,
    kilometres_table,
    kind_table,
    metric_table,
    moved_tables,
    mover_tables,
    source_tables,
)
from geolookup.reports.section import Section, charts_section
from geolookup.reports.world_map import world_section

#: The flows between countries that are drawn, and those that the table lists.
_DRAWN, _LISTED = 15, 100


def change_section(difference: Difference) -> Section:
    """Return the changes by kind, level, country, distance, source, network and field."""
    judged = difference.judged
    gates = [gate_table(judged)] if judged.gates else []
    first = [kind_table(difference), coverage_table(judged), *moved_tables(judged)]
    charts = [] if difference.is_none else list(_charts(difference))
    return charts_section(
        "changes",
        "What has changed",
        _lead(difference),
        charts,
        [*mover_tables(judged), *source_tables(judged)],
        first=[*gates, *first, kilometres_table(judged)],
        details=[*field_tables(judged), metric_table(judged)],
    )


def _lead(difference: Difference) -> str:
    old, new = (_side_text(side) for side in (difference.judged.old, difference.judged.new))
    if difference.is_none:
        return f"Nothing has changed from {old} to {new}: every address has the same answer."
    return f"Changes from {old} to {new}, over all public addresses."


def _side_text(side: ComparedDataset) -> str:
    return f"{wording.name(side.name)}, generation {side.generation[:12]}"


def _charts(difference: Difference) -> Iterator[Chart]:
    for name, part in difference.judged.parts.items():
        if part.coverage.old or part.coverage.new:
            yield _flows(name, part, difference)
            yield _distances(name, part, difference)


def _flows(name: str, part: Part, difference: Difference) -> Chart:
    flows = country_flows(difference.overlaid.values, difference.overlaid.changes[name])
    chart_rows = [(f"{flow.old} → {flow.new}", flow.weight) for flow in flows[:_DRAWN]]
    title = f"{wording.family(name)} {part.unit} that changed country"
    chart = bars(f"{name}-flows", title, part.unit, chart_rows, head="From and to")
    of = part.moved["country"].count
    rows = [
        (flow.old, flow.new, wording.count(flow.weight), wording.percent(flow.weight / of))
        for flow in flows[:_LISTED]
    ]
    return replace(chart, head=("From", "To", part.unit, "of all that changed country"), rows=rows)


def _distances(name: str, part: Part, difference: Difference) -> Chart:
    sums = by_distance(difference.overlaid.changes[name])
    # The first class, up to 0.001 km, did not move: its label is 0. The last has no upper end.
    labels = ["0", *map(_short, CLASSES_KM[1:]), "more"]
    title = f"Distance between both locations of {wording.family(name)} {part.unit}"
    return histogram(
        f"{name}-distances", title, "up to km", part.unit, list(zip(labels, sums, strict=True))
    )


def _short(km: float) -> str:
    return f"{km:g}" if km < 1000 else f"{km / 1000:g}k"


def moved_section(difference: Difference) -> Section | None:
    """Return the map of what moved in country, region or city; None if nothing did."""
    densities = list(moved_densities(difference))
    if not densities:
        return None
    return world_section("moved", "Where locations moved", densities)


def moved_densities(difference: Difference) -> Iterator[Density]:
    """Yield by family how much moved to each place, and how much from each."""
    values = difference.overlaid.values
    for name, part in difference.judged.parts.items():
        moved = _moved_pairs(difference, name)
        for way, rows, places in (
            ("here", moved.new, values.new_coordinates),
            ("from here", moved.old, values.old_coordinates),
        ):
            if len(rows):
                title = f"{wording.family(name)} {part.unit} that moved {way}"
                of_density = f"{name}-moved-{way.replace(' ', '-')}"
                yield _density(of_density, title, part.unit, places, rows, moved.weight)


def _moved_pairs(difference: Difference, name: str) -> Pairs:
    changes = difference.overlaid.changes[name]
    return changes.locations.take(changes.moves.by_level["location"].moved)


def _density(
    name: str, title: str, unit: str, places: F64, rows: NDArray[np.integer], weight: F64
) -> Density:
    """Return the weights summed by row of the location table."""
    sums = np.bincount(rows, weight).astype(np.float64)
    some = np.flatnonzero(sums)
    latitudes, longitudes = places[:, some]
    return Density(name, title, unit, latitudes, longitudes, sums[some])
