"""The metrics of a score, and its gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geolookup.comparison.gates import Gate, Metrics, Verdict, evaluate, read_gate
from geolookup.comparison.scoring.agreement import LEVELS, Measured
from geolookup.comparison.scoring.joint import IPV4, IPV6, PARTS
from geolookup.errors import DiffError

if TYPE_CHECKING:
    from geolookup.comparison.scoring.scoring import Scored

_KINDS = ("agree", "wrong", "null")
#: The names of all metrics, in the order of a report.
NAMES = (
    *(f"{level}_{kind}" for level in LEVELS for kind in _KINDS),
    *("km_p50", "km_p90", "within_50_km", "within_100_km", "coordinates_null"),
)
_METRICS = Metrics(NAMES, PARTS, "docs/score.md", "country_agree < 95%")


def metrics(found: Measured) -> dict[str, float | None]:
    """Return the metrics of a part by name; None where nothing can be measured."""
    values: dict[str, float | None] = {}
    for level in LEVELS:
        agreement = getattr(found, level)
        for kind in _KINDS:
            share = getattr(agreement, kind)
            values[f"{level}_{kind}"] = share.share if share.of else None
    far = found.kilometres
    values |= {"km_p50": far.p50, "km_p90": far.p90}
    values |= {"within_50_km": far.within_50, "within_100_km": far.within_100}
    if not far.of:
        values |= dict.fromkeys(("km_p50", "km_p90", "within_50_km", "within_100_km"))
    values["coordinates_null"] = far.null.share if far.null.of else None
    return values


def parse_gate(text: str) -> Gate:
    """Read a gate on a score; see ``read_gate``."""
    return read_gate(text, _METRICS)


def judge(gate: Gate, datasets: Sequence[Scored]) -> Verdict:
    """Evaluate a gate on every dataset.

    Without a part it is measured in the addresses of each family. A part where the truth states
    nothing is left out; DiffError where none is left, so that no gate passes unmeasured.
    """
    measured: Mapping[str, float] = dict(_measured(gate, datasets))
    if not measured:
        hint = "the truth states nothing that it could measure"
        if gate.part is not None and not all(gate.part in each.parts for each in datasets):
            hint = "there are no requests without --traffic"
        raise DiffError(f"nothing to measure for gate {gate.text!r}", hint)
    return evaluate(gate, measured)


def _measured(gate: Gate, datasets: Sequence[Scored]) -> Iterator[tuple[str, float]]:
    for number, each in enumerate(datasets, 1):
        before = f"{number}." if len(datasets) > 1 else ""
        for part in (IPV4, IPV6) if gate.part is None else (gate.part,):
            value = each.parts[part].metrics[gate.metric] if part in each.parts else None
            if value is not None:
                yield f"{before}{part}.{gate.metric}", value
