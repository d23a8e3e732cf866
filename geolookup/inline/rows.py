"""The rows of the location and network tables for the addresses of a part of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geolookup.dataset.intervals import Bools

if TYPE_CHECKING:
    from geolookup.dataset.public_ranges import U32
    from geolookup.inline.scanner import Part
    from geolookup.kernel.protocol import State


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of n addresses; both are 0 for a private one."""

    locations: U32
    networks: U32
    is_private: Bools


def rows_of(state: State, part: Part) -> Rows:
    """Return the rows of the addresses of a part."""
    count = len(part.starts)
    ids = np.empty(count, np.int32)
    locations, networks = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    if count:
        state.locate_numbers(part.families, part.highs, part.lows, ids)
        state.take_rows(ids, locations, networks)
    return Rows(locations, networks, ids < 0)
