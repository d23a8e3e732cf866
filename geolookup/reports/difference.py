"""A dataset compared with an older one: read once for tables, charts and maps, and the tables.

Families are side by side where they have the same measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from geolookup.comparison.changes import KINDS, UNCHANGED, Mover, by_kind, kinds
from geolookup.comparison.gates import Verdict, metric_text
from geolookup.comparison.measures import FieldChange, Share, SourceChange, share
from geolookup.comparison.overlay import FAMILIES
from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.coverage import public_space
from geolookup.dataset.runs import run_starts
from geolookup.pictures import colours, wording
from geolookup.pictures.address_space import FIRST, SPECIAL, UNKNOWN, View
from geolookup.reports.section import Table, counts_to_hide, without_zeros

LEVELS = ("country", "region", "city")
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
        """Whether every address has the same answer in both, own columns included."""
        same = all(bool((kind == UNCHANGED).all()) for kind in self.kinds.values())
        return same and not any(map(changed_columns, self.judged.parts.values()))


def changed_columns(part: Part) -> dict[str, FieldChange]:
    """Return the own columns that changed, by path."""
    return {
        path: change
        for path, change in part.fields.items()
        if path.startswith(OWN_PREFIX)
        and (change.null_gained or change.null_lost or change.changed)
    }


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
    ]
    return _by_family("By kind of change", "Kind", difference.judged, rows)


def moved_tables(result: Comparison) -> Iterator[Table]:
    """Yield by family and level how much moved, of what both datasets state; none if nothing."""
    for name, part in result.parts.items():
        rows = [
            (
                level,
                wording.count(share_.count),
                wording.count(share_.of),
                wording.percent(share_.share),
            )
            for level, share_ in part.moved.items()
            if share_.count
        ]
        head = ("Level", "moved", "stated in both", "share of these")
        if rows:
            caption = f"Moved, in {wording.family(name)} {part.unit}"
            yield Table(caption, head, rows, saved_only=counts_to_hide(int(name[-1]), 1, 2))


def coverage_table(result: Comparison) -> Table:
    """Return how much is known in each dataset, and how much of it is lost or gained."""
    coverages = {name: part.coverage for name, part in result.parts.items()}
    known = {name: public_space(int(name[-1])) for name in coverages}
    shares = {
        "known in the older dataset, of public space": [
            share(coverage.old, known[name]) for name, coverage in coverages.items()
        ],
        "known in this dataset, of public space": [
            share(coverage.new, known[name]) for name, coverage in coverages.items()
        ],
        "lost, of the older dataset": [coverage.lost for coverage in coverages.values()],
        "gained, of this dataset": [coverage.gained for coverage in coverages.values()],
    }
    rows = [
        (label, *(text for share_ in by_family for text in _share(share_)))
        for label, by_family in shares.items()
    ]
    return _by_family("Coverage", "Dataset", result, rows)


def _by_family(
    caption: str, first: str, result: Comparison, rows: Sequence[Sequence[str]]
) -> Table:
    """Return a table with a count and a share of each family, without zeros."""
    heads = [
        head
        for name, part in result.parts.items()
        for head in (f"{wording.family(name)} {part.unit}", f"share of {wording.family(name)}")
    ]
    # Column 3 has the counts of IPv6.
    return without_zeros(Table(caption, (first, *heads), rows, saved_only=counts_to_hide(6, 3)))


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
        yield without_zeros(Table("Distance", head, rows, saved_only=(1,)))


def mover_tables(result: Comparison) -> Iterator[Table]:
    """Yield the networks with the most addresses whose location moved, by family."""
    head = ("Network", "moved", "of all that moved", "of the network")
    for name, part in result.parts.items():
        if part.movers:
            caption = (
                f"Networks with the most {wording.family(name)} {part.unit} whose location moved"
            )
            rows = [_mover(mover) for mover in part.movers]
            yield Table(caption, head, rows, saved_only=counts_to_hide(int(name[-1]), 1))


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
            caption = f"{wording.family(name)} locations by their source in {role}"
            table = without_zeros(Table(caption, (*head, last), rows))
            if table.rows:
                yield table


def _source(source: SourceChange, last: str) -> tuple[str, ...]:
    return (
        wording.name(source.source),
        *(wording.percent(source.moved[level].share) for level in LEVELS),
        wording.kilometres(source.kilometres.p50),
        wording.kilometres(source.kilometres.p99),
        wording.percent(getattr(source.location, last).share),
    )


def field_tables(difference: Difference) -> Iterator[Table]:
    """Yield the fields that changed, by family; shares are of what either dataset knows."""
    kinds = ("became unknown", "became known", "other value")
    of_family = kind_sums(difference)
    for name, part in difference.judged.parts.items():
        of = sum(of_family[name].values())
        head = ("Field", *(head for kind in kinds for head in (f"{part.unit}: {kind}", kind)))
        rows = [
            (path, *(
                text
                for count in (field.null_gained, field.null_lost, field.changed)
                for text in _share(share(count, of))
            ))
            for path, field in part.fields.items()
            if not path.startswith(OWN_PREFIX)
        ]  # fmt: skip
        caption = f"Fields of {wording.family(name)} {part.unit}"
        table = without_zeros(Table(caption, head, rows, saved_only=(1, 3, 5)))
        if table.rows:
            yield table


def own_tables(difference: Difference) -> Iterator[Table]:
    """Yield the own columns that changed, by family; special-purpose space counts too."""
    for name, part in difference.judged.parts.items():
        kinds = ("in either dataset", "became unknown", "became known", "other value")
        rows = [
            (path, *map(wording.count, (
                change.old + change.null_lost,
                change.null_gained, change.null_lost, change.changed,
            )))
            for path, change in changed_columns(part).items()
        ]  # fmt: skip
        caption = f"Own columns of {wording.family(name)} {part.unit}"
        table = without_zeros(Table(caption, ("Column", *kinds), rows))
        if table.rows:
            yield table


def metric_table(result: Comparison) -> Table:
    """Return all metrics by the name that a gate gives them."""
    parts = result.parts
    rows = [
        (name, *(metric_text(name, part.metrics[name]) for part in parts.values()))
        for name in parts["ipv4"].metrics
    ]
    return Table("Metrics that gates may name", ("Metric", *map(wording.family, parts)), rows)
