"""The metrics of a comparison, and its gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from geolookup.comparison.gates import (
    KILOMETRES,
    Gate,
    Metrics,
    Verdict,
    evaluate,
    read_gate,
)
from geolookup.comparison.measures import Coverage, FieldChange, Share, share
from geolookup.comparison.values import COMPARED
from geolookup.comparison.weighted import Kilometres

if TYPE_CHECKING:
    from geolookup.comparison.compare import Comparison

#: The part that counts the requests of both families together.
ALL = "all"
_MOVED = ("location", "country", "region", "city", "asn")
_FIELD = ("null_gained", "null_lost", "changed")
_FAMILIES = ("ipv4", "ipv6")
#: The names of all metrics, in the order of a report.
NAMES = (
    *(f"{level}_moved" for level in _MOVED),
    *KILOMETRES,
    *("coverage_lost", "coverage_gained"),
    *(f"{kind}.{path}" for path in COMPARED for kind in _FIELD),
)
_METRICS = Metrics(NAMES, _FAMILIES, "docs/diff.md", "country_moved > 2%")


def metrics(
    moved: Mapping[str, Share],
    kilometres: Kilometres,
    known: Coverage,
    changes: Mapping[str, FieldChange],
) -> dict[str, float]:
    """Return the metrics of a part by name, in the order of ``NAMES``.

    ``X_moved`` is a share of the addresses with an X in both datasets, ``coverage_lost`` and
    ``coverage_gained`` of those known in OLD or in NEW. Of a field F, ``null_gained.F`` is a
    share of the addresses with an F in OLD, ``null_lost.F`` of those with one in NEW, and
    ``changed.F`` of those with one in both. A share is 0 if there are no such addresses.
    """
    found = {f"{level}_moved": moved[level].share for level in _MOVED}
    found |= {name: getattr(kilometres, name.removeprefix("km_")) for name in KILOMETRES}
    found |= {"coverage_lost": known.lost.share, "coverage_gained": known.gained.share}
    for path, each in changes.items():
        found[f"null_gained.{path}"] = share(each.null_gained, each.old).share
        found[f"null_lost.{path}"] = share(each.null_lost, each.new).share
        found[f"changed.{path}"] = share(each.changed, each.old - each.null_gained).share
    return {name: found[name] for name in NAMES}


def parse_gate(text: str) -> Gate:
    """Read a gate on a comparison; see ``read_gate``."""
    return read_gate(text, _METRICS)


def judge(gate: Gate, comparison: Comparison) -> Verdict:
    """Evaluate a gate.

    Without a family, requests are measured together; addresses, which do not add up over
    families, are measured in each family, and the gate fails if it fails in one of them.
    """
    return evaluate(gate, dict(_measured(gate, comparison)))


def _measured(gate: Gate, comparison: Comparison) -> Iterator[tuple[str, float]]:
    if gate.part is None and ALL in comparison.parts:
        yield gate.metric, comparison.parts[ALL].metrics[gate.metric]
        return
    for family in _FAMILIES:
        if gate.part in (None, family):
            yield f"{family}.{gate.metric}", comparison.parts[family].metrics[gate.metric]
