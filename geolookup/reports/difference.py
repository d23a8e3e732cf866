"""A dataset compared with an older one, read once for charts, tables and maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison import (
    Comparison,
    Overlaid,
    gates_between,
    lay_over,
    measure,
    open_dataset,
)
from geolookup.comparison.changes import KINDS, UNCHANGED, by_kind, kinds
from geolookup.comparison.overlay import FAMILIES
from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.runs import run_starts
from geolookup.pictures import colours
from geolookup.pictures.address_space import FIRST, SPECIAL, UNKNOWN, View

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
        changes = [
            change
            for part in self.judged.parts.values()
            for path, change in part.fields.items()
            if path.startswith(OWN_PREFIX)
        ]
        return same and not any(of.null_gained or of.null_lost or of.changed for of in changes)

    def by_kind(self, name: str) -> dict[str, float]:
        """Return the weight of each kind in a part; they sum to all that either dataset knows."""
        # "ipv4" -> 4
        return by_kind(self.kinds[int(name[-1])], self.overlaid.changes[name])


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
