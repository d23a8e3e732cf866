"""Metrics of a comparison, shares from 0 to 1 and kilometres, and gates on them.

A gate is a condition such as ``country_moved > 2%`` that must not hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from geolookup.comparison.measures import Coverage, FieldChange, Share, share
from geolookup.comparison.values import COMPARED
from geolookup.comparison.weighted import Kilometres
from geolookup.errors import DiffError, near_match

if TYPE_CHECKING:
    from geolookup.comparison.compare import Comparison

#: The part that counts the requests of both families together.
ALL = "all"
_MOVED = ("location", "country", "region", "city", "asn")
KILOMETRES = ("km_p50", "km_p90", "km_p99", "km_max")
_FIELD = ("null_gained", "null_lost", "changed")
#: The names of all metrics, in the order of a report.
NAMES = (
    *(f"{level}_moved" for level in _MOVED),
    *KILOMETRES,
    *("coverage_lost", "coverage_gained"),
    *(f"{kind}.{path}" for path in COMPARED for kind in _FIELD),
)
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}
_FAMILIES = ("ipv4", "ipv6")
_FORM = re.compile(
    r"(?:(?P<family>ipv4|ipv6)\.)?(?P<metric>[\w.]+)\s*(?P<test>[<>]=?|==)"
    r"\s*(?P<limit>\d+(?:\.\d+)?|\.\d+)\s*(?P<percent>%?)",
    re.ASCII,
)


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


def metric_of(name: str) -> str:
    """Return a metric's name without its family."""
    for family in ("ipv4.", "ipv6."):
        name = name.removeprefix(family)
    return name


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that must not hold; without a family it applies to all addresses."""

    text: str
    family: str | None
    metric: str
    test: str
    limit: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The measured values of a gate by full name of the metric, and the names that fail."""

    gate: str
    limit: float
    measured: dict[str, float]
    failed: list[str]


def parse_gate(text: str) -> Gate:
    """Read ``NAME OP VALUE``; OP is > >= < <= or ==, VALUE a number or a percentage.

    Raises DiffError for a malformed gate or an unknown metric.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise DiffError(f"malformed gate {text!r}; write one like 'country_moved > 2%'")
    metric, percent = found["metric"], found["percent"]
    if metric not in NAMES:
        hint = near_match(metric, NAMES, fallback="docs/diff.md lists them")
        raise DiffError(f"no metric {metric!r} in gate {text!r}; {hint}")
    if percent and metric in KILOMETRES:
        raise DiffError(f"{metric} is in kilometres, in gate {text!r}; leave out the percent sign")
    limit = float(Decimal(found["limit"]) / (100 if percent else 1))
    return Gate(text.strip(), found["family"], metric, found["test"], limit)


def judge(gate: Gate, comparison: Comparison) -> Verdict:
    """Evaluate a gate.

    Without a family, requests are measured together; addresses, which do not add up over
    families, are measured in each family, and the gate fails if it fails in one of them.
    """
    test = _OPERATORS[gate.test]
    measured = dict(_measured(gate, comparison))
    failed = [name for name, value in measured.items() if test(value, gate.limit)]
    return Verdict(gate.text, gate.limit, measured, failed)


def _measured(gate: Gate, comparison: Comparison) -> Iterator[tuple[str, float]]:
    if gate.family is None and ALL in comparison.parts:
        yield gate.metric, comparison.parts[ALL].metrics[gate.metric]
        return
    for family in _FAMILIES:
        if gate.family in (None, family):
            yield f"{family}.{gate.metric}", comparison.parts[family].metrics[gate.metric]
