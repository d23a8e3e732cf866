"""Gates: conditions such as ``country_moved > 2%`` on metrics, which must not hold.

A metric is a share from 0 to 1, or kilometres. Each command states the names of its metrics
and of the parts that a gate may name.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from geolookup.errors import DiffError, near_match

#: The metrics in kilometres; all others are shares.
KILOMETRES = ("km_p50", "km_p90", "km_p99", "km_max")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}
_FORM = re.compile(
    r"(?P<metric>[\w.]+)\s*(?P<test>[<>]=?|==)\s*(?P<limit>\d+(?:\.\d+)?|\.\d+)\s*(?P<percent>%?)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Metrics:
    """What gates of a command may name; ``document`` lists it, ``example`` is a gate."""

    names: tuple[str, ...]
    parts: tuple[str, ...]
    document: str
    example: str


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that must not hold; without a part it applies to all addresses."""

    text: str
    part: str | None
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


def read_gate(text: str, known: Metrics) -> Gate:
    """Read ``NAME OP VALUE``; OP is > >= < <= or ==, VALUE a number or a percentage.

    Raises DiffError for a malformed gate, an unknown metric or a share above 1.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise DiffError(f"malformed gate {text!r}", f"write one like {known.example!r}")
    part, metric = _split(found["metric"], known)
    if metric not in known.names:
        hint = near_match(metric, known.names, fallback=f"{known.document} lists them")
        raise DiffError(f"no metric {metric!r} in gate {text!r}", hint)
    if found["percent"] and metric in KILOMETRES:
        problem = f"{metric} is in kilometres, in gate {text!r}"
        raise DiffError(problem, "leave out the percent sign")
    limit = float(Decimal(found["limit"]) / (100 if found["percent"] else 1))
    if limit > 1 and metric not in KILOMETRES:
        hint = "write a percentage such as 95%, or a number from 0 to 1"
        raise DiffError(f"{metric} is a share, in gate {text!r}", hint)
    return Gate(text.strip(), part, metric, found["test"], limit)


def _split(name: str, known: Metrics) -> tuple[str | None, str]:
    """Return the part that a name begins with, if any, and the metric."""
    first, dot, rest = name.partition(".")
    return (first, rest) if dot and first in known.parts else (None, name)


def evaluate(gate: Gate, measured: Mapping[str, float]) -> Verdict:
    """Return the verdict on the measured values of the gate's metric, by full name."""
    test = _OPERATORS[gate.test]
    failed = [name for name, value in measured.items() if test(value, gate.limit)]
    return Verdict(gate.text, gate.limit, dict(measured), failed)


def verdict_line(verdict: Verdict) -> str:
    """Return the measured values of a failed gate and its limit, in the unit of the metric."""
    failed = {name: verdict.measured[name] for name in verdict.failed}
    measured = ", ".join(f"{name} is {metric_text(name, each)}" for name, each in failed.items())
    limit = metric_text(verdict.failed[0], verdict.limit)
    return f"gate failed: {verdict.gate}: {measured}, the limit is {limit}"


def metric_text(name: str, value: float) -> str:
    """Return a value of a metric, by its full name or without a part, in its unit."""
    if name.rpartition(".")[2] in KILOMETRES:
        return f"{value:.6g} km"
    return f"{100 * value:.6g} %"
