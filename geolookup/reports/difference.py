"""A dataset compared with an older one: read once for tables, charts and maps, and the tables.

Families are side by side where they have the same measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison import Comparison, Overlaid, measure, read
from geolookup.comparison.changes import KINDS, UNCHANGED, Mover, by_kind, kinds
from geolookup.comparison.gates import DIFF_METRICS, Verdict, metric_text
from geolookup.comparison.measures import Share, SourceChange, share
from geolookup.comparison.overlay import FAMILIES
from geolookup.pictures import colours, wording
from geolookup.pictures.address_map import changes
from geolookup.pictures.address_space import FIRST, SPECIAL, UNKNOWN, View
from geolookup.reports.section import Table

_LEVELS = ("country", "region", "city")
QUANTILES = ("p50", "p90", "p99", "max")
_NOTE = (
    "What has changed since the older dataset. Each address has the first kind of the list that "
    "applies to it. Addresses that neither dataset knows are unknown."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two datasets laid over each other, their measures, and the kind of each change."""

    overlaid: Overlaid
    judged: Comparison
    kinds: Mapping[int, NDArray[np.uint8]]  # by family, of its answers

    @property
    def is_none(self) -> bool:
        """Whether every address has the same answer in both."""
        return all(bool((kind == UNCHANGED).all()) for kind in self.kinds.values())


def difference(
    old: str | PathLike[str], new: str | PathLike[str], fail_if: Iterable[str] = ()
) -> Difference:
    """Compare two datasets or stores, with the gates and the errors of ``geolookup.diff``."""
    gates = DIFF_METRICS.gates(fail_if)
    overlaid = read(old, new)
    by_family = {f: kinds(overlaid.values, overlaid.changes[f"ipv{f}"]) for f in FAMILIES}
    return Difference(overlaid, measure(overlaid, gates), by_family)


def change_view(difference: Difference, family: int) -> View:
    """Return the kind of change of each address of a family, for its map."""
    joint = difference.overlaid.joints[family]
    values = np.where(joint.special, np.uint32(SPECIAL), np.uint32(UNKNOWN))
    # Positions of labels: special space, the unknown, then the kinds.
    values[joint.reached] = difference.kinds[family] + len(FIRST)
    begins = changes(values)
    palette = (colours.SPECIAL, colours.UNKNOWN, *colours.CATEGORIES[:UNCHANGED], colours.OTHER)
    starts, labels = joint.starts[begins], (*FIRST, *KINDS)
    return View("change", "Change", _NOTE, starts, values[begins], labels, palette)


def gate_table(result: Comparison) -> Table:
    """Return the gates, their measures and their verdicts."""
    rows = [_gate(gate) for gate in result.gates]
    return Table("Gates", ("Fails if", "measured", "verdict"), rows, words=(0, 1, 2))


def _gate(verdict: Verdict) -> tuple[str, ...]:
    metrics = (f"{name} is {metric_text(name, value)}" for name, value in verdict.measured.items())
    return verdict.gate, ", ".join(metrics), "fails" if verdict.failed else "passes"


def kind_sums(difference: Difference) -> dict[str, dict[str, float]]:
    """Return by part the weight of each kind; the kinds of a family are all it knows."""
    changes = difference.overlaid.changes
    # "ipv4" -> 4
    return {
        name: by_kind(difference.kinds[int(name[-1])], changes[name])
        for name in difference.judged.parts
    }


def kind_table(difference: Difference) -> Table:
    """Return the addresses by the kind of their change, without kinds that none has."""
    sums = [*kind_sums(difference).values()]
    rows = [
        (
            kind,
            *(
                text
                for by_kind_ in sums
                for text in _share(share(by_kind_[kind], sum(by_kind_.values())))
            ),
        )
        for kind in sums[0]
        if any(by_kind_[kind] for by_kind_ in sums)
    ]
    return Table("By kind of change", ("Kind", *_family_heads(difference.judged)), rows)


def moved_tables(result: Comparison) -> Iterator[Table]:
    """Yield by family and level how much moved, of what both datasets state; none if nothing."""
    for name, part in result.parts.items():
        if not any(share_.count for share_ in part.moved.values()):
            continue
        rows = [
            (
                level,
                wording.count(share_.count),
                wording.count(share_.of),
                wording.percent(share_.share),
            )
            for level, share_ in part.moved.items()
        ]
        head = ("Level", "moved", "stated in both", "share")
        yield Table(f"Moved, in {wording.family(name)} {part.unit}", head, rows)


def coverage_table(result: Comparison) -> Table:
    """Return how much is known in each dataset, and how much of it is lost or gained."""
    coverages = [part.coverage for part in result.parts.values()]
    rows = (
        (
            "known in the older dataset",
            *(text for coverage in coverages for text in (wording.count(coverage.old), "")),
        ),
        (
            "known in this dataset",
            *(text for coverage in coverages for text in (wording.count(coverage.new), "")),
        ),
        (
            "lost, of the older dataset",
            *(text for coverage in coverages for text in _share(coverage.lost)),
        ),
        (
            "gained, of this dataset",
            *(text for coverage in coverages for text in _share(coverage.gained)),
        ),
    )
    return Table("Coverage", ("Dataset", *_family_heads(result)), rows)


def _family_heads(result: Comparison) -> Iterator[str]:
    for name, part in result.parts.items():
        yield from (f"{wording.family(name)} {part.unit}", "share")


def _share(share: Share) -> tuple[str, str]:
    return wording.count(share.count), wording.percent(share.share)


def kilometres_tables(result: Comparison) -> Iterator[Table]:
    """Yield the quantiles of the distance between both locations, if any has one."""
    rows = [
        (
            f"{wording.family(name)} {part.unit}",
            wording.count(part.kilometres.of),
            *(wording.kilometres(getattr(part.kilometres, quantile)) for quantile in QUANTILES),
        )
        for name, part in result.parts.items()
        if part.kilometres.max
    ]
    if rows:
        head = ("Kilometres between both locations", "with coordinates in both", *QUANTILES)
        yield Table("Distance", head, rows)


def mover_tables(result: Comparison) -> Iterator[Table]:
    """Yield the networks with the most addresses whose location moved, by family."""
    head = ("Network", "moved", "of all that moved", "of the network")
    for name, part in result.parts.items():
        if part.movers:
            caption = (
                f"Networks with the most {wording.family(name)} {part.unit} whose location moved"
            )
            yield Table(caption, head, [_mover(mover) for mover in part.movers])


def _mover(mover: Mover) -> tuple[str, ...]:
    system = "no AS" if mover.asn is None else f"AS{mover.asn}"
    return (
        wording.name(f"{system} {mover.asn_organization or ''}".rstrip()),
        wording.count(mover.moved.count),
        wording.percent(mover.of_all),
        wording.percent(mover.moved.share),
    )


def source_tables(result: Comparison) -> Iterator[Table]:
    """Yield what moved of the locations that each source decided, by family and dataset."""
    head = ("Source", "country moved", "region moved", "city moved", "km p50", "km p99")
    for name, part in result.parts.items():
        for role, last, sources in (
            ("the older dataset", "lost", part.old_sources),
            ("this dataset", "gained", part.new_sources),
        ):
            rows = [_source(source, last) for source in sources]
            if rows:
                caption = f"{wording.family(name)} locations by their source in {role}"
                yield Table(caption, (*head, last), rows)


def _source(source: SourceChange, last: str) -> tuple[str, ...]:
    return (
        wording.name(source.source),
        *(wording.percent(source.moved[level].share) for level in _LEVELS),
        wording.kilometres(source.kilometres.p50),
        wording.kilometres(source.kilometres.p99),
        wording.percent(getattr(source.location, last).share),
    )


def field_tables(result: Comparison) -> Iterator[Table]:
    """Yield the fields that changed, by family."""
    head = ("Field", "became unknown", "became known", "other value")
    for name, part in result.parts.items():
        counts = {
            path: (field.null_gained, field.null_lost, field.changed)
            for path, field in part.fields.items()
        }
        rows = [(path, *map(wording.count, count)) for path, count in counts.items() if any(count)]
        if rows:
            yield Table(f"Fields of {wording.family(name)} {part.unit}", head, rows)


def metric_table(result: Comparison) -> Table:
    """Return all metrics by the name that a gate gives them."""
    parts = result.parts
    rows = [
        (name, *(metric_text(name, part.metrics[name]) for part in parts.values()))
        for name in parts["ipv4"].metrics
    ]
    return Table("Metrics that gates may name", ("Metric", *map(wording.family, parts)), rows)
