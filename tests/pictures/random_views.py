"""Random views of address maps, and their values for one address."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from hypothesis import strategies as st

from tests.internals.contract import BITS
from tests.internals.dataset import Addresses
from tests.internals.pictures import UNKNOWN, View, view_of

LABELS = ("A", "B\nC", "Δ <script>", "D")


@st.composite
def starts_of(draw: st.DrawFn, family: int) -> list[int]:
    """The starts of a partition: near each other, and at the ends of prefixes."""
    bits = BITS[family]
    places = st.integers(0, 40).map(lambda exponent: exponent << bits - 7)
    if family == 6:  # prefixes of an allocation, and single networks
        places = st.tuples(st.integers(0x2001, 0x2004), st.integers(0, 7)).map(
            lambda pair: pair[0] << 112 | pair[1] << 92
        )
    offsets = st.integers(0, 80).map(lambda exponent: 1 << exponent if exponent < bits - 8 else 0)
    listed = st.lists(st.tuples(places, offsets, offsets), max_size=12)
    actual = {0, *(a + b + c for a, b, c in draw(listed))}
    return sorted(item for item in actual if item >> bits == 0)


@st.composite
def view_lists(draw: st.DrawFn, family: int, most: int = 10) -> list[View]:
    """Some views of one family, some of them of the same partition."""
    listed: list[View] = []
    starts = Addresses.of(family, draw(starts_of(family)))
    for number in range(draw(st.integers(1, most))):
        if draw(st.integers(0, 1)):
            starts = Addresses.of(family, draw(starts_of(family)))
        labels = st.integers(0, len(LABELS) + 1)
        values = draw(st.lists(labels, min_size=len(starts), max_size=len(starts)))
        if family == 6:  # else nearly all of the space is known
            values[0] = values[-1] = UNKNOWN
        name = f"view-{number}"
        listed.append(view_of(name, name, "", starts, np.array(values, np.uint32), LABELS))
    return listed


views = st.sampled_from((4, 6)).flatmap(view_lists)


def value_at(view: View, address: int) -> int:
    """The label of an address in a view, by its definition."""
    return int(view.values[bisect_right(starts_in(view), address) - 1])


def starts_in(view: View) -> list[int]:
    return [view.starts.item(at) for at in range(len(view.starts))]
