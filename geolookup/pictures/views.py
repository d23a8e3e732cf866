"""What a map of addresses shows by colour: one value for each interval of a family's space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import Addresses
from geolookup.pictures import colours as palette

#: The first two labels of every view.
SPECIAL, UNKNOWN = 0, 1
FIRST = ("special-purpose", "unknown")


@dataclass(frozen=True, slots=True)
class View:
    """One way to colour a map of one family: by country, by source and so on.

    ``starts`` is a partition of the family's whole space. ``values``, shape (n,), are the
    positions of the intervals' labels. The labels 0 and 1 stand for special-purpose space and
    for the unknown. ``colours`` (#rrggbb) are those of the first labels; the last colour is
    also that of all further labels.
    """

    name: str  # of files and elements: "country"
    title: str  # as shown: "Country"
    note: str  # what the colours mean, in a sentence or two
    starts: Addresses
    values: NDArray[np.uint32]
    labels: Sequence[str]
    colours: Sequence[str]


def view_of(
    name: str, title: str, note: str, starts: Addresses, values: NDArray[np.uint32],
    labels: Sequence[str],
) -> View:  # fmt: skip
    """Return a view whose labels from the third on have a colour each, as far as they reach."""
    colours = (palette.SPECIAL, palette.UNKNOWN, *palette.CATEGORIES[: len(labels)], palette.OTHER)
    return View(name, title, note, starts, values, (*FIRST, *labels), colours)
