"""Gates: what a metric must not be, such as ``country_moved > 2%``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from geolookup.comparison.comparison import ALL, Comparison
from geolookup.comparison.metrics import KILOMETRES, NAMES
from geolookup.errors import DiffError, near_match

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


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that fails a comparison; without a family it is about all addresses."""

    text: str
    family: str | None
    metric: str
    test: str
    limit: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate measured, by full name of the metric, and which of these fail."""

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
        hint = near_match(metric, NAMES, otherwise="docs/diff.md lists them")
        raise DiffError(f"no metric {metric!r} in gate {text!r}; {hint}")
    if percent and metric in KILOMETRES:
        raise DiffError(f"{metric} is in kilometres, in gate {text!r}; leave out the percent sign")
    limit = float(Decimal(found["limit"]) / (100 if percent else 1))
    return Gate(text.strip(), found["family"], metric, found["test"], limit)


def judge(gate: Gate, comparison: Comparison) -> Verdict:
    """Measure a gate.

    Without a family it is measured on all requests together; of addresses,
    which do not add up over families, on each family, and fails if one does.
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
