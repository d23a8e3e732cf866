"""The metrics that gates can name: shares from 0 to 1, and kilometres."""

from __future__ import annotations

from collections.abc import Mapping

from geolookup.comparison.kilometres import Kilometres
from geolookup.comparison.measures import Coverage, FieldChange, Share, share
from geolookup.comparison.values import COMPARED

_MOVED = ("location", "country", "region", "city", "asn")
KILOMETRES = ("km_p50", "km_p90", "km_p99", "km_max")
_FIELD = ("null_gained", "null_lost", "changed")
#: Every name, in the order in which they are told.
NAMES = (
    *(f"{level}_moved" for level in _MOVED),
    *KILOMETRES,
    *("coverage_lost", "coverage_gained"),
    *(f"{kind}.{path}" for path in COMPARED for kind in _FIELD),
)


def metrics(
    moved: Mapping[str, Share],
    kilometres: Kilometres,
    known: Coverage,
    changes: Mapping[str, FieldChange],
) -> dict[str, float]:
    """Return the metrics of a part by name, in the order of ``NAMES``.

    ``X_moved``: of the addresses with an X in both datasets. ``coverage_lost``
    and ``null_gained.F``: of those that OLD knows (F of). ``coverage_gained``
    and ``null_lost.F``: of those that NEW knows (F of). ``changed.F``: of those
    that both know F of. A share of nothing is 0.
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
