"""The section on changes since an older dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from geolookup.comparison import Comparison, Part
from geolookup.comparison.changes import (
    CLASSES_KM,
    KINDS,
    UNCHANGED,
    by_distance,
    country_flows,
)
from geolookup.comparison.gates import Verdict, metric_text
from geolookup.dataset.coverage import public_space
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars
from geolookup.reports.difference import Difference
from geolookup.reports.section import Section, Table, charts_section

_LEVELS = ("country", "region", "city")
#: So many flows between countries have a bar, and a row of the table.
_BARS, _ROWS = 12, 100
#: What is no change.
_SAME = "same place"
_RULE = (
    "A city moved if its name or its country differs, or if its region differs and both datasets "
    "have coordinates more than 100 km apart."
)
#: Cells of nothing: no share, no distance.
_ZEROS = {"0.00 %", "0.0", "0"}


def change_section(difference: Difference) -> Section:
    """Return the changes by kind, country, distance, level, source, network and field."""
    judged = difference.judged
    gates = [_gate_table(judged.gates)] if judged.gates else []
    if difference.is_none:
        note = "Nothing has changed: every address has the same answer."
        return charts_section("changes", "What has changed", note, [], first=gates)
    moved = ("Level", "moved", "stated in both", "share of these")
    sources = ("Source", "country moved", "region moved", "city moved", "km p50", "km p99", "new")
    movers = ("Network", "moved", "share of all that moved", "share of the network")
    fields = ("Field", "lost, of those before", "gained, of those now", "changed, of those in both")
    return charts_section(
        "changes",
        "What has changed",
        " ".join([*_shares(difference), *_unchanged(judged), *_own_columns(judged), _RULE]),
        list(_charts(difference)),
        [
            *_tables(judged, "Moved", moved, _moved_rows, (1, 2)),
            *_tables(judged, "Networks that moved most", movers, _mover_rows, (1,)),
            *_tables(judged, "Locations by their source in this dataset", sources, _source_rows),
        ],
        first=gates,
        details=list(_tables(judged, "Fields", fields, _field_rows)),
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


def _title(name: str, part: Part) -> str:
    return f"{wording.family(name)} {part.unit}"


def _shares(difference: Difference) -> Iterator[str]:
    """Yield by family how much has another answer, and how much was and is known."""
    for name, part in difference.judged.parts.items():
        sums = difference.by_kind(name)
        if of := sum(sums.values()):
            changed = wording.percent((of - sums[KINDS[UNCHANGED]]) / of)
            public = public_space(int(name[-1]))
            before, now = (
                wording.percent(known / public) for known in (part.coverage.old, part.coverage.new)
            )
            yield (
                f"{changed} of the known {_title(name, part)} have another answer; {before} of "
                f"public space was known before, {now} is known now."
            )


def _unchanged(judged: Comparison) -> Iterator[str]:
    """Yield sentences on what no address lost, and on the levels at which nothing moved."""
    parts = judged.parts.values()
    if not any(part.coverage.lost.count for part in parts):
        yield "No address lost its answer."
    for word, path in (("city", "location.city_name"), ("AS", "network.asn")):
        if not any(part.metrics[f"null_gained.{path}"] for part in parts):
            yield f"No address lost its {word}."
    levels = [level for level in _LEVELS if not any(part.moved[level].count for part in parts)]
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
    """Yield by family bars of kinds, of flows between countries, and of distances."""
    overlaid = difference.overlaid
    for name, part in difference.judged.parts.items():
        title = _title(name, part)
        kinds = list(difference.by_kind(name).items())
        if any(weight for kind, weight in kinds if kind != KINDS[UNCHANGED]):
            yield _bars(f"{name}-kinds", f"{title} by kind of change", "kind", part.unit, kinds)
        if part.moved["country"].count:
            flows = country_flows(overlaid.values, overlaid.changes[name])
            weights = [(f"{flow.old} → {flow.new}", flow.weight) for flow in flows]
            heading = f"{title} that changed country"
            yield _bars(f"{name}-flows", heading, "countries", part.unit, weights)
        if part.kilometres.max > CLASSES_KM[0]:
            # The first class, up to a metre, did not move; the last one has no upper end.
            ends = [_SAME, *(f"up to {km:,g} km" for km in CLASSES_KM[1:]), "farther"]
            far = list(zip(ends, by_distance(overlaid.changes[name]), strict=True))
            heading = f"{title} by the distance between both locations"
            yield _bars(f"{name}-distances", heading, "distance", part.unit, far)


def _bars(
    name: str, title: str, head: str, unit: str, weights: Sequence[tuple[str, float]]
) -> Chart:
    """Return bars of shares, and the table of their weights; zeros are left out."""
    of, same = sum(weight for _, weight in weights), (KINDS[UNCHANGED], _SAME)
    shares = [(label, weight / of) for label, weight in weights if label not in same]
    drawn = [item for item in shares if item[1]][:_BARS]
    chart = bars(name, title, "share", drawn, form=wording.percent)
    rows = [
        (label, wording.count(weight), wording.percent(weight / of))
        for label, weight in weights
        if weight
    ][:_ROWS]
    return replace(chart, head=(head, unit, "share"), rows=rows)


def _tables(
    judged: Comparison,
    caption: str,
    head: Sequence[str],
    rows_of: Callable[[Part], Iterable[Sequence[str]]],
    counts: Sequence[int] = (),
) -> Iterator[Table]:
    """Yield a table by family without rows of zeros; ``counts`` are columns too long in IPv6."""
    for name, part in judged.parts.items():
        rows = [row for row in rows_of(part) if not _ZEROS.issuperset(row[1:])]
        if rows:
            hidden = counts if name == "ipv6" else ()
            yield Table(f"{caption}: {_title(name, part)}", head, rows, saved_only=hidden)


def _moved_rows(part: Part) -> Iterator[Sequence[str]]:
    for level, moved in part.moved.items():
        if moved.count:
            counts = wording.count(moved.count), wording.count(moved.of)
            yield level, *counts, wording.percent(moved.share)


def _mover_rows(part: Part) -> Iterator[Sequence[str]]:
    for mover in part.movers:
        system = "no AS" if mover.asn is None else f"AS{mover.asn}"
        yield (
            wording.name(f"{system} {mover.asn_organization or ''}".rstrip()),
            wording.count(mover.moved.count),
            wording.percent(mover.of_all),
            wording.percent(mover.moved.share),
        )


def _source_rows(part: Part) -> Iterator[Sequence[str]]:
    for source in part.new_sources:
        yield (
            wording.name(source.source),
            *(wording.percent(source.moved[level].share) for level in _LEVELS),
            wording.kilometres(source.kilometres.p50),
            wording.kilometres(source.kilometres.p99),
            wording.percent(source.location.gained.share),
        )


def _field_rows(part: Part) -> Iterator[Sequence[str]]:
    for path in part.fields:
        kinds = ("null_gained", "null_lost", "changed")
        yield path, *(wording.percent(part.metrics[f"{kind}.{path}"]) for kind in kinds)


def _gate_table(gates: Iterable[Verdict]) -> Table:
    rows = [
        (
            gate.gate,
            ", ".join(f"{name} is {metric_text(name, it)}" for name, it in gate.measured.items()),
            "fails" if gate.failed else "passes",
        )
        for gate in gates
    ]
    return Table("Gates", ("Fails if", "measured", "verdict"), rows, words=(0, 1, 2))
