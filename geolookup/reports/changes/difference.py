"""A dataset compared with an older one: read once, for tables, charts and both kinds of map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison import Judged, Overlaid, judged, measured, read
from geolookup.comparison.changes import KINDS, UNCHANGED, kinds
from geolookup.comparison.gates import DIFF_METRICS
from geolookup.comparison.overlay import FAMILIES
from geolookup.pictures import colours
from geolookup.pictures.address_map import changes
from geolookup.pictures.views import FIRST, SPECIAL, UNKNOWN, View

_NOTE = (
    "What has changed since the older dataset. Each address has the first kind of the list that "
    "applies to it. Addresses that neither dataset knows are unknown."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two datasets laid over each other, what is measured of them, and each change's kind."""

    overlaid: Overlaid
    judged: Judged
    kinds: Mapping[int, NDArray[np.uint8]]  # by family, of its answers

    @property
    def is_none(self) -> bool:
        """Whether every address has the same answer in both."""
        return all(bool((each == UNCHANGED).all()) for each in self.kinds.values())


def difference(
    old: str | PathLike[str], new: str | PathLike[str], fail_if: Iterable[str] = ()
) -> Difference:
    """Compare two datasets or stores, with the gates and the errors of ``geolookup.diff``."""
    gates = DIFF_METRICS.gates(fail_if)
    overlaid = read(old, new)
    found = {f: kinds(overlaid.values, overlaid.changes[f"ipv{f}"]) for f in FAMILIES}
    return Difference(overlaid, judged(measured(overlaid), gates), found)


def change_view(difference: Difference, family: int) -> View:
    """Return the kind of change of each address of a family, for its map."""
    joint = difference.overlaid.joints[family]
    values = np.where(joint.special, np.uint32(SPECIAL), np.uint32(UNKNOWN))
    values[joint.reached] = difference.kinds[family] + len(FIRST)
    begins = changes(values)
    palette = (colours.SPECIAL, colours.UNKNOWN, *colours.CATEGORIES[:UNCHANGED], colours.OTHER)
    starts, labels = joint.starts[begins], (*FIRST, *KINDS)
    return View("change", "Change", _NOTE, starts, values[begins], labels, palette)
