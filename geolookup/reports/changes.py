"""A dataset compared with an older one: the view of its map, and the section on changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison import (
    Comparison,
    Overlaid,
    Part,
    gates_between,
    lay_over,
    measure,
    open_dataset,
)
from geolookup.comparison.changes import (
    KINDS,
    UNCHANGED,
    country_flows,
    kinds,
)
from geolookup.comparison.gates import measured_text
from geolookup.comparison.joint_intervals import FAMILIES
from geolookup.comparison.measures import Coverage, SourceChange
from geolookup.dataset.coverage import public_space
from geolookup.dataset.runs import run_starts
from geolookup.pictures import colours, wording
from geolookup.pictures.address_space import FIRST, SPECIAL, UNKNOWN, View
from geolookup.pictures.charts import Chart
from geolookup.reports.section import Section, Table, charts_section, ranking

_LEVELS = ("country", "region", "city")
#: The most flows between countries in the table of values.
_FLOWS = 100
#: Of the kinds of change, each unlike the grey of the unchanged: dark red is lost.
_COLOURS = [colours.CATEGORIES[number] for number in (7, 6, 1, 0, 5, 3, 9)]
_MAP_NOTE = (
    "What has changed since the older dataset: of several kinds in one pixel, the first of the "
    "list. Addresses that neither dataset knows are unknown."
)
_METHOD = (
    "A city moved if its name or its country differs, or if its region differs and both datasets "
    "have coordinates more than 100 km apart. The shares of moved locations are of those that both "
    "datasets state, by the source that decides in this dataset."
)
_MOVED = ("Source", "country moved", "region moved", "city moved", "km p50", "km p99", "new")
_FIELDS = ("Field", "lost, of those before", "gained, of those now", "changed, of those in both")


@dataclass(frozen=True, slots=True)
class Difference:
    """Two datasets laid over each other, their measures, and the kind of each change."""

    overlaid: Overlaid
    judged: Comparison
    kinds: Mapping[int, NDArray[np.uint8]]  # by family, of its answers

    def by_kind(self, name: str) -> dict[str, float]:
        """Return the weight of each kind in a part; they sum to all that either dataset knows."""
        weights = self.overlaid.changes[name].answers.weight
        sums = np.bincount(self.kinds[int(name[-1])], weights, len(KINDS))  # "ipv4" -> 4
        return dict(zip(KINDS, sums.tolist(), strict=True))


def difference(
    old: str | PathLike[str], new: str | PathLike[str], fail_if: Iterable[str] = ()
) -> Difference:
    """Compare two datasets or stores, with the gates and the errors of ``geolookup.diff``."""
    before, after = open_dataset(old), open_dataset(new)
    gates = gates_between(before, after, fail_if)
    overlaid = lay_over(before, after)
    by_family = {f: kinds(overlaid.values, overlaid.changes[f"ipv{f}"]) for f in FAMILIES}
    return Difference(overlaid, measure(overlaid, gates), by_family)


def change_view(difference: Difference, family: int) -> View:
    """Return the kind of change of each address of a family, for its map."""
    joint = difference.overlaid.joints[family]
    values = np.where(joint.special, np.uint32(SPECIAL), np.uint32(UNKNOWN))
    # Positions of labels: special space, the unknown, then the kinds.
    values[joint.reached] = difference.kinds[family] + len(FIRST)
    begins = run_starts(values)
    palette = (colours.SPECIAL, colours.UNKNOWN, *_COLOURS, colours.OTHER)
    starts, labels = joint.starts[begins], (*FIRST, *KINDS)
    rare = len(FIRST) + UNCHANGED
    return View("change", "Change", _MAP_NOTE, starts, values[begins], labels, palette, rare)


def change_section(difference: Difference) -> Section:
    """Return the changes by kind, country, distance, network, source and field."""
    judged = difference.judged
    gates = [
        f"Gate {gate.gate} {'fails' if gate.failed else 'passes'}: {measured_text(gate)}."
        for gate in judged.gates
    ]
    own = () if judged.columns is None else judged.columns.sentences()
    note = " ".join([*gates, *own])
    parts = judged.parts.items()
    moved = [_moved_table(name, part) for name, part in parts if part.moved["location"].count]
    return charts_section(
        "changes",
        "What has changed",
        note,
        [chart for name, part in parts for chart in _charts(difference, name, part)],
        moved,
        details=[_field_table(name, part) for name, part in parts],
        method=_METHOD,
    )


def change_sentences(difference: Difference) -> Iterator[str]:
    """Yield by family how much has another answer, and how much was and is known."""
    for name, part in difference.judged.parts.items():
        sums = difference.by_kind(name)
        if of := sum(sums.values()):
            changed = wording.percent((of - sums[KINDS[UNCHANGED]]) / of)
            public = public_space(int(name[-1]))
            sides = part.coverage.old, part.coverage.new
            before, now = (wording.percent(known / public) for known in sides)
            yield f"{changed} of the known {wording.unit(name, part.unit)} have another answer."
            if before != now:
                yield f"{before} of public space was known before, {now} is known now."


def _charts(difference: Difference, name: str, part: Part) -> Iterator[Chart]:
    """Yield bars of kinds, flows between countries and networks of a family."""
    overlaid, title, unit = difference.overlaid, wording.unit(name, part.unit), part.unit
    sums = difference.by_kind(name)
    known = sum(sums.values())
    # The last kind did not change.
    changed = list(sums.items())[:UNCHANGED]
    heads = ("kind", unit, "share")
    yield ranking(f"{name}-kinds", f"{title} by kind of change", heads, changed, known)
    if part.moved["country"].count:
        flows = country_flows(overlaid.values, overlaid.changes[name])
        rows = [(f"{old} → {new}", weight) for old, new, weight in flows]
        moved, heading = sum(weight for _, weight in rows), f"{title} that changed country"
        heads = ("countries", unit, "share")
        yield ranking(f"{name}-flows", heading, heads, rows[:_FLOWS], moved)
    yield from _movers(name, part)


def _movers(name: str, part: Part) -> Iterator[Chart]:
    rows = [
        (mover.label, mover.moved.count, wording.percent(mover.moved.share))
        for mover in part.movers
    ]
    if rows:
        heads = ("network", part.unit, "share of all that moved", "share of the network")
        title, moved = (
            f"Networks that moved most: {wording.unit(name, part.unit)}",
            part.moved["location"],
        )
        yield ranking(f"{name}-movers", title, heads, rows, moved.count)


def _moved_table(name: str, part: Part) -> Table:
    """Return the shares of moved locations: of all, then of each source."""
    sides: list[tuple[str, Part | SourceChange, Coverage]] = [("all", part, part.coverage)]
    sides += [(wording.name(of.source), of, of.location) for of in part.new_sources]
    rows = [
        (
            label,
            *(wording.percent(of.moved[level].share) for level in _LEVELS),
            *map("{:,.1f}".format, (of.kilometres.p50, of.kilometres.p99)),
            wording.percent(known.gained.share),
        )
        for label, of, known in sides
    ]
    return Table(f"Locations by their source: {wording.unit(name, part.unit)}", _MOVED, rows)


def _field_table(name: str, part: Part) -> Table:
    metrics = ("null_gained", "null_lost", "changed")
    shares = {path: [part.metrics[f"{of}.{path}"] for of in metrics] for path in part.fields}
    rows = [
        (wording.field_name(path), *map(wording.percent, line))
        for path, line in shares.items()
        if any(line)
    ]
    return Table(f"Fields: {wording.unit(name, part.unit)}", _FIELDS, rows)
