"""The section on changes since an older dataset, and the map of moved addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison import Comparison, Part
from geolookup.comparison.changes import (
    CLASSES_KM,
    KINDS,
    UNCHANGED,
    by_distance,
    country_flows,
)
from geolookup.comparison.measures import Pairs
from geolookup.dataset.intervals import F64
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, histogram
from geolookup.pictures.world import Density
from geolookup.reports.difference import (
    LEVELS,
    Difference,
    coverage_table,
    field_tables,
    gate_table,
    kilometres_tables,
    kind_sums,
    kind_table,
    metric_table,
    moved_tables,
    mover_tables,
    own_tables,
    source_tables,
)
from geolookup.reports.section import Section, charts_section, counts_to_hide
from geolookup.reports.world_map import world_section

#: The flows between countries that are drawn, and those that the table lists.
_DRAWN, _LISTED = 15, 100


def change_section(difference: Difference) -> Section:
    """Return the changes by kind, level, country, distance, source, network and field."""
    judged = difference.judged
    tables = [kind_table(difference), coverage_table(judged), *moved_tables(judged)]
    tables += [*kilometres_tables(judged), *mover_tables(judged)]
    if not difference.is_none:
        tables += source_tables(judged)
    return charts_section(
        "changes",
        "What has changed",
        _note(difference),
        list(_charts(difference)),
        tables,
        first=[gate_table(judged)] if judged.gates else [],
        details=[*field_tables(difference), *own_tables(difference), metric_table(judged)],
    )


def from_to(difference: Difference) -> str:
    """Return the title of a page: both datasets by name, and by date or generation."""
    sides = difference.overlaid.old, difference.overlaid.new
    metadata = [side.manifest.metadata() for side in sides]
    dates = [max((source.date or "" for source in one.sources), default="") for one in metadata]
    # Equal dates tell nothing: the generations differ.
    if not all(dates) or dates[0] == dates[1]:
        dates = [f"generation {one.generation[:12]}" for one in metadata]
    old, new = (
        f"{wording.name(one.name)}, {date}" for one, date in zip(metadata, dates, strict=True)
    )
    return f"From {old} to {new}"


def _note(difference: Difference) -> str:
    """Return how much has another answer, and what no address lost."""
    if difference.is_none:
        return "Nothing has changed: every address has the same answer."
    unmoved = _unmoved(difference.judged.parts.values())
    own = _own_columns(difference.judged)
    return " ".join([*_changed_shares(difference), *_nothing_lost(difference), *unmoved, *own])


def _changed_shares(difference: Difference) -> Iterator[str]:
    for name, sums in kind_sums(difference).items():
        changed, of = sum(sums.values()) - sums[KINDS[UNCHANGED]], sum(sums.values())
        if of:
            unit = difference.judged.parts[name].unit
            yield (
                f"{wording.percent(changed / of)} of the known {wording.family(name)} {unit} "
                "have another answer."
            )


def _nothing_lost(difference: Difference) -> Iterator[str]:
    parts = difference.judged.parts.values()
    if not any(part.coverage.lost.count for part in parts):
        yield "No address lost its answer."
    for word, path in (("city", "location.city_name"), ("AS", "network.asn")):
        if not any(part.fields[path].null_gained for part in parts):
            yield f"No address lost its {word}."


def _unmoved(parts: Collection[Part]) -> Iterator[str]:
    """Yield a sentence on the levels at which nothing moved."""
    levels = [level for level in LEVELS if not any(part.moved[level].count for part in parts)]
    if levels:
        yield f"No location moved to another {' or '.join(levels)}."


def _own_columns(judged: Comparison) -> Iterator[str]:
    """Yield a sentence on each kind of change of own columns."""
    changes = judged.columns
    if changes is not None:
        for paths, word in ((changes.added, "added"), (changes.removed, "removed")):
            if paths:
                yield f"Own columns {word}: {', '.join(paths)}."
        for path, (before, after) in changes.retyped.items():
            yield f"The type of {path} was {before} and is {after}."


def _charts(difference: Difference) -> Iterator[Chart]:
    for name, sums in kind_sums(difference).items():
        changed = {kind: weight for kind, weight in sums.items() if kind != KINDS[UNCHANGED]}
        part, of = difference.judged.parts[name], sum(sums.values())
        if any(changed.values()):
            yield _kinds(name, part.unit, {k: w / of for k, w in changed.items() if w})
    for name, part in difference.judged.parts.items():
        if part.moved["country"].count:
            yield _flows(name, part, difference)
        if part.kilometres.max > CLASSES_KM[0]:
            yield _distances(name, part, difference)


def _kinds(name: str, unit: str, shares: Mapping[str, float]) -> Chart:
    total = wording.percent(sum(shares.values()))
    title = f"{total} of the known {wording.family(name)} {unit} changed"
    head = f"share of known {unit}"
    values = list(shares.items())
    return bars(f"{name}-kinds", title, head, values, form=wording.percent, head="kind")


def _flows(name: str, part: Part, difference: Difference) -> Chart:
    flows = country_flows(difference.overlaid.values, difference.overlaid.changes[name])
    of = part.moved["country"].count
    drawn = [(f"{flow.old} → {flow.new}", flow.weight / of) for flow in flows[:_DRAWN]]
    title = f"{wording.family(name)} {part.unit} that changed country"
    chart = bars(f"{name}-flows", title, "share", drawn, form=wording.percent)
    rows = [
        (flow.old, flow.new, wording.count(flow.weight), wording.percent(flow.weight / of))
        for flow in flows[:_LISTED]
    ]
    head = ("From", "To", part.unit, "share")
    return replace(chart, head=head, rows=rows, saved_only=counts_to_hide(int(name[-1]), 2))


def _distances(name: str, part: Part, difference: Difference) -> Chart:
    sums = by_distance(difference.overlaid.changes[name])
    # The first class, up to 0.001 km, did not move: its label is 0. The last has no upper end.
    labels = ["0", *map(_short, CLASSES_KM[1:]), "more"]
    shares = [weight / sum(sums) for weight in sums]
    title = f"Distance between both locations of {wording.family(name)} {part.unit}"
    values = list(zip(labels, shares, strict=True))
    chart = histogram(f"{name}-distances", title, "up to km", "share", values)
    rows = [
        (label, wording.count(weight), wording.percent(share))
        for (label, share), weight in zip(values, sums, strict=True)
    ]
    head = ("up to km", part.unit, "share")
    return replace(chart, head=head, rows=rows, saved_only=counts_to_hide(int(name[-1]), 1))


def _short(km: float) -> str:
    return f"{km:g}" if km < 1000 else f"{km / 1000:g}k"


def moved_section(difference: Difference) -> Section | None:
    """Return the map of what moved in country, region or city; None if no place is known."""
    densities = list(moved_densities(difference))
    if not any(np.isfinite(density.latitudes).any() for density in densities):
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
