"""The tables of what has changed: families side by side where they have the same measures."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.comparison import Judged
from geolookup.comparison.changes import Mover, by_kind
from geolookup.comparison.gates import Verdict, metric_text
from geolookup.comparison.measures import Share, SourceChange, share
from geolookup.pictures import texts
from geolookup.reports.changes.difference import Difference
from geolookup.reports.table import Table

_LEVELS = ("country", "region", "city")
QUANTILES = ("p50", "p90", "p99", "max")


def gate_table(found: Judged) -> Table:
    """Return the gates, what they measured and their verdicts."""
    rows = [_gate(each) for each in found.gates]
    return Table("Gates", ("Fails if", "measured", "verdict"), rows, words=(0, 1, 2))


def _gate(verdict: Verdict) -> tuple[str, ...]:
    measured = (f"{name} is {metric_text(name, each)}" for name, each in verdict.measured.items())
    return verdict.gate, ", ".join(measured), "fails" if verdict.failed else "passes"


def kind_table(difference: Difference) -> Table:
    """Return the addresses by the kind of their change; the kinds of a family are all it knows."""
    parts, changes = difference.judged.parts, difference.overlaid.changes
    sums = [by_kind(difference.kinds[int(name[-1])], changes[name]) for name in parts]
    rows = [
        (kind, *(text for each in sums for text in _share(share(each[kind], sum(each.values())))))
        for kind in sums[0]
    ]
    return Table("By kind of change", ("Kind", *_family_heads(difference.judged)), rows)


def moved_tables(found: Judged) -> Iterator[Table]:
    """Yield by family and level how much moved, of what both datasets state."""
    for name, part in found.parts.items():
        rows = [
            (level, texts.count(each.count), texts.count(each.of), texts.percent(each.share))
            for level, each in part.moved.items()
        ]
        head = ("Level", "moved", "stated in both", "share")
        yield Table(f"Moved, in {texts.family(name)} {part.unit}", head, rows)


def coverage_table(found: Judged) -> Table:
    """Return how much is known in each dataset, and how much of it is lost or gained."""
    known = [part.coverage for part in found.parts.values()]
    rows = (
        (
            "known in the older dataset",
            *(text for each in known for text in (texts.count(each.old), "")),
        ),
        (
            "known in this dataset",
            *(text for each in known for text in (texts.count(each.new), "")),
        ),
        ("lost, of the older dataset", *(text for each in known for text in _share(each.lost))),
        ("gained, of this dataset", *(text for each in known for text in _share(each.gained))),
    )
    return Table("Coverage", ("Dataset", *_family_heads(found)), rows)


def _family_heads(found: Judged) -> Iterator[str]:
    for name, part in found.parts.items():
        yield from (f"{texts.family(name)} {part.unit}", "share")


def _share(found: Share) -> tuple[str, str]:
    return texts.count(found.count), texts.percent(found.share)


def kilometres_table(found: Judged) -> Table:
    """Return the quantiles of the distance between both locations."""
    rows = [
        (
            f"{texts.family(name)} {part.unit}",
            texts.count(part.kilometres.of),
            *(texts.kilometres(getattr(part.kilometres, each)) for each in QUANTILES),
        )
        for name, part in found.parts.items()
    ]
    head = ("Kilometres between both locations", "with coordinates in both", *QUANTILES)
    return Table("Distance", head, rows)


def mover_tables(found: Judged) -> Iterator[Table]:
    """Yield the networks with the most addresses whose location moved, by family."""
    head = ("Network", "moved", "of all that moved", "of the network")
    for name, part in found.parts.items():
        if part.movers:
            caption = (
                f"Networks with the most {texts.family(name)} {part.unit} whose location moved"
            )
            yield Table(caption, head, [_mover(each) for each in part.movers])


def _mover(each: Mover) -> tuple[str, ...]:
    system = "no AS" if each.asn is None else f"AS{each.asn}"
    return (
        texts.name(f"{system} {each.asn_organization or ''}".rstrip()),
        texts.count(each.moved.count),
        texts.percent(each.of_all),
        texts.percent(each.moved.share),
    )


def source_tables(found: Judged) -> Iterator[Table]:
    """Yield what moved of the locations that each source decided, by family and dataset."""
    head = ("Source", "country moved", "region moved", "city moved", "km p50", "km p99")
    for name, part in found.parts.items():
        for role, last, sources in (
            ("the older dataset", "lost", part.old_sources),
            ("this dataset", "gained", part.new_sources),
        ):
            rows = [_source(each, last) for each in sources]
            if rows:
                caption = f"{texts.family(name)} locations by their source in {role}"
                yield Table(caption, (*head, last), rows)


def _source(each: SourceChange, last: str) -> tuple[str, ...]:
    return (
        texts.name(each.source),
        *(texts.percent(each.moved[level].share) for level in _LEVELS),
        texts.kilometres(each.kilometres.p50),
        texts.kilometres(each.kilometres.p99),
        texts.percent(getattr(each.location, last).share),
    )


def field_tables(found: Judged) -> Iterator[Table]:
    """Yield the fields that changed, by family."""
    head = ("Field", "became unknown", "became known", "other value")
    for name, part in found.parts.items():
        counts = {
            path: (each.null_gained, each.null_lost, each.changed)
            for path, each in part.fields.items()
        }
        rows = [(path, *map(texts.count, each)) for path, each in counts.items() if any(each)]
        if rows:
            yield Table(f"Fields of {texts.family(name)} {part.unit}", head, rows)


def metric_table(found: Judged) -> Table:
    """Return all metrics by the name that a gate gives them."""
    parts = found.parts
    rows = [
        (name, *(metric_text(name, part.metrics[name]) for part in parts.values()))
        for name in parts["ipv4"].metrics
    ]
    return Table("Metrics that gates may name", ("Metric", *map(texts.family, parts)), rows)
