"""Gates: conditions such as ``country_moved > 2%`` on metrics. A gate fails if its condition holds.

A metric is a share from 0 to 1, or kilometres. Each command states the names of its metrics
and of the parts that a gate may name: ``diff_metrics`` has the names for comparisons.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from geolookup.comparison.measures import Coverage, FieldSums, Kilometres, Share, share
from geolookup.comparison.values import COMPARED
from geolookup.contract.fields import NAMES as FIELD_NAMES
from geolookup.contract.fields import OWN
from geolookup.contract.schema import CONTRACT
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
#: "ipv4.km_p50 >= 12.5", "country_moved>2%"
_FORM = re.compile(
    r"(?P<metric>[\w.]+)\s*(?P<test>[<>]=?|==)\s*(?P<limit>\d+(?:\.\d+)?|\.\d+)\s*(?P<percent>%?)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics and parts that gates of a command may name.

    ``document`` is the page that lists them, ``example`` a gate.
    """

    names: tuple[str, ...]
    parts: tuple[str, ...]
    document: str
    example: str

    def gates(self, texts: str | Iterable[str]) -> list[Gate]:
        """Read one gate or several; see ``read_gate``."""
        return [read_gate(text, self) for text in ([texts] if isinstance(texts, str) else texts)]


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


class GateResult:
    """A result with ``gates``, the verdicts of its gates."""

    __slots__ = ()
    gates: Sequence[Verdict]

    @property
    def failed(self) -> list[Verdict]:
        """The verdicts of the gates that fail."""
        return [verdict for verdict in self.gates if verdict.failed]


def read_gate(text: str, metrics: Metrics) -> Gate:
    """Read ``NAME OP VALUE``; OP is > >= < <= or ==, VALUE a number or a percentage.

    Raises DiffError for a malformed gate, an unknown metric or a share above 1.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise DiffError(f"malformed gate {text!r}", f"write one like {metrics.example!r}")
    part, metric = _split(match["metric"], metrics)
    if metric not in metrics.names:
        hint = near_match(metric, metrics.names, fallback=f"{metrics.document} lists them")
        raise DiffError(f"no metric {metric!r} in gate {text!r}", hint)
    if match["percent"] and metric in KILOMETRES:
        problem = f"{metric} is in kilometres, in gate {text!r}"
        raise DiffError(problem, "leave out the percent sign")
    # In decimals: 2.2% is 0.022, and not 2.2 / 100 = 0.022000000000000002.
    limit = float(Decimal(match["limit"]) / (100 if match["percent"] else 1))
    if limit > 1 and metric not in KILOMETRES:
        hint = "write a percentage such as 95%, or a number from 0 to 1"
        raise DiffError(f"{metric} is a share, in gate {text!r}", hint)
    return Gate(text.strip(), part, metric, match["test"], limit)


def _split(name: str, metrics: Metrics) -> tuple[str | None, str]:
    """Return the part that a name begins with, if any, and the metric, its field by its path."""
    # "ipv4.city_moved" has the part ipv4; "changed.city", changed.location.city_name, has none.
    first, _, metric = name.partition(".")
    part = first if metric and first in metrics.parts else None
    kind, _, field = (metric if part else name).partition(".")
    return part, f"{kind}.{FIELD_NAMES.get(field, field)}" if field else kind


def evaluate(gate: Gate, values: Mapping[str, float]) -> Verdict:
    """Return the verdict on the measured values of the gate's metric, by full name."""
    test = _OPERATORS[gate.test]
    failed = [name for name, value in values.items() if test(value, gate.limit)]
    return Verdict(gate.text, gate.limit, dict(values), failed)


def verdict_line(verdict: Verdict) -> str:
    """Return the measured values of a failed gate and its limit, in the unit of the metric."""
    limit = metric_text(verdict.failed[0], verdict.limit)
    return f"gate failed: {verdict.gate}: {measured_text(verdict)}, the limit is {limit}"


def measured_text(verdict: Verdict) -> str:
    """Return the measured values that fail a gate; all if none does."""
    names = verdict.failed or verdict.measured
    return ", ".join(f"{name} is {metric_text(name, verdict.measured[name])}" for name in names)


def metric_text(name: str, value: float) -> str:
    """Return a value of a metric, by its full name or without a part, in its unit."""
    # "ipv4.km_max" is in kilometres, "changed.own.km_max" is a share.
    if name.rpartition(".")[2] in KILOMETRES and f".{OWN}." not in name:
        return f"{value:.6g} km"
    return f"{100 * value:.6g} %"


#: The part that counts the requests of both families together.
ALL = "all"
_MOVED = ("location", "country", "region", "city", "asn")
_FIELD = ("null_gained", "null_lost", "changed")
_FAMILIES = ("ipv4", "ipv6")
_COVERAGE = ("coverage_lost", "coverage_gained")
#: The limits of ``default_gates``, above the ordinary change of a month.
_MOST_COVERAGE_LOST, _MOST_NULL_GAINED = "5%", "10%"


def diff_metrics(own: Iterable[str] = ()) -> Metrics:
    """Return the metrics of comparisons; ``own`` are paths of own columns."""
    moved = (f"{level}_moved" for level in _MOVED)
    of_fields = (f"{kind}.{path}" for path in (*COMPARED, *own) for kind in _FIELD)
    names = (*moved, *KILOMETRES, *_COVERAGE, *of_fields)
    return Metrics(names, _FAMILIES, "docs/data/compare.md", "country_moved > 2%")


def default_gates(own: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the gates of an update whose recipe states none; ``own`` are paths of own columns.

    They find a column that got lost: only fields that sources state have one, since the facts of
    countries change with a version of geolookup.
    """
    paths = *(field.path for field in CONTRACT.by_source_column.values()), *own
    lost = (f"null_gained.{path} > {_MOST_NULL_GAINED}" for path in paths)
    return (f"coverage_lost > {_MOST_COVERAGE_LOST}", *lost)


def change_metrics(
    moved: Mapping[str, Share],
    kilometres: Kilometres,
    coverage: Coverage,
    fields: Mapping[str, FieldSums],
) -> dict[str, float]:
    """Return the metrics of a part by name, own columns last.

    ``X_moved`` is a share of the addresses with an X in both datasets, ``coverage_lost`` and
    ``coverage_gained`` of those known in OLD or in NEW. Of a field F, ``null_gained.F`` is a
    share of the addresses with an F in OLD, ``null_lost.F`` of those with one in NEW, and
    ``changed.F`` of those with one in both. A share is 0 if there are no such addresses.
    """
    values = {f"{level}_moved": moved[level].share for level in _MOVED}
    values |= {name: getattr(kilometres, name.removeprefix("km_")) for name in KILOMETRES}
    values |= {"coverage_lost": coverage.lost.share, "coverage_gained": coverage.gained.share}
    for path, sums in fields.items():
        values[f"null_gained.{path}"] = share(sums.null_gained, sums.old).share
        values[f"null_lost.{path}"] = share(sums.null_lost, sums.new).share
        values[f"changed.{path}"] = share(sums.changed, sums.both).share
    return values


def gate_values(gate: Gate, parts: Mapping[str, Mapping[str, float | None]]) -> dict[str, float]:
    """Return the values of a gate's metric by full name, from the metrics of each part.

    Without a part, requests are measured together; addresses do not add up over families and are
    measured in each family, so the gate fails if it fails in one of them. A part that has nothing
    to measure is left out.
    """
    if gate.part is None and ALL in parts:
        values = {gate.metric: parts[ALL].get(gate.metric)}
    else:
        names = _FAMILIES if gate.part is None else (gate.part,)
        values = {f"{name}.{gate.metric}": parts.get(name, {}).get(gate.metric) for name in names}
    return {name: value for name, value in values.items() if value is not None}
