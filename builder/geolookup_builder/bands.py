"""Bands of the address space, small enough to work on one in memory after the other.

Their bounds are quantiles of samples of what lies in them: the first addresses of rows, and the
starts of a partition. A table of few rows has one band: the whole space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from geolookup.contract.address import MAX
from geolookup.contract.special import Range
from geolookup.dataset.intervals import Addresses, Bools, concat
from geolookup_builder.columns import Columns, JoinedIntervals
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.layers import LayerPartition, map_numbers, underlay

#: At least every 512th address is in a sample: a page of a column has 512 or 1024.
_STRIDE = 512
_SAMPLES_PER_BAND = 64
#: The work on a band, in bytes. Larger bands take more memory, and no less time.
BAND = 48 << 20
#: Bytes that the work on a row and on an interval takes at most, by family, without its layers.
_WORK = MappingProxyType({4: (120, 60), 6: (220, 90)})


def work(family: int, layers: int) -> tuple[int, int]:
    """Return the bytes that the work on a row, and on an interval of a partition, takes."""
    row, interval = _WORK[family]
    return row + 8 * layers, interval + 8 * layers


@dataclass(frozen=True, slots=True)
class Band:
    """The addresses from ``begin`` up to, not including, ``end``; None: to the last one."""

    family: int
    begin: int = 0
    end: int | None = None

    def stop(self, sorted_addresses: Addresses) -> int:
        """Return how many of sorted addresses are before the end."""
        if self.end is None:
            return len(sorted_addresses)
        return int(sorted_addresses.search(Addresses.of(self.family, [self.end - 1]))[0])

    def begins(self, first: Addresses) -> Bools:
        """Mark the addresses that are not before the band."""
        return ~(first < Addresses.of(self.family, [self.begin]))

    def goes_beyond(self, last: Addresses) -> Bools:
        """Mark the addresses after the band."""
        if self.end is None:
            return np.zeros(len(last), bool)
        return ~(last < Addresses.of(self.family, [self.end]))

    @property
    def outside(self) -> list[Range]:
        """The addresses before the band, and those after it."""
        before = [(0, self.begin - 1)] if self.begin else []
        return before if self.end is None else [*before, (self.end, MAX[self.family])]

    def crop(self, partition: LayerPartition) -> LayerPartition:
        """Return the part of a partition inside the band, from its begin on.

        From 20 up to 40, of the starts 0, 15, 30, 40: 20 and 30, with the numbers at 15 and 30.
        """
        if not self.outside:
            return partition
        starts, begin = partition.starts, Addresses.of(self.family, [self.begin])
        inside = slice(int(starts.search(begin)[0]) - 1, self.stop(starts))
        own = concat([begin, starts[inside.start + 1 : inside.stop]])
        return LayerPartition(own, map_numbers(lambda codes: codes[inside], partition.numbers))


def bands(family: int, weighted: Sequence[tuple[Addresses, int]], most: int) -> list[Band]:
    """Divide a family into bands of about ``most`` bytes.

    ``weighted`` are sorted addresses, and the bytes that one of them takes.
    """
    total = sum(len(addresses) * weight for addresses, weight in weighted)
    if total <= most:
        return [Band(family)]
    number = -(-total // most)
    samples, weights = [], []
    for addresses, weight in weighted:
        stride = min(_STRIDE, max(1, len(addresses) // (number * _SAMPLES_PER_BAND)))
        samples.append(addresses[stride // 2 :: stride])
        weights.append(np.full(len(samples[-1]), weight * stride))
    sample = concat(samples)
    order = sample.order()
    sums = np.cumsum(np.concatenate(weights)[order])
    at = np.searchsorted(sums, np.arange(1, number) * (sums[-1] / number))
    bounds = sorted({sample.item(int(index)) for index in order[at]} - {0})
    return [Band(family, *pair) for pair in zip([0, *bounds], [*bounds, None], strict=True)]


def underlay_bands(
    base: LayerPartition,
    of_family: Sequence[Band],
    below: Callable[[Band], LayerPartition],
    columns: Columns,
) -> LayerPartition:
    """Fill the layers that are unknown in ``base`` from ``below``, band by band.

    The result of several bands is in new columns; the files of ``base`` are removed.
    """
    if len(of_family) == 1:
        return underlay(base, below(of_family[0]))
    kinds = dict.fromkeys(base.numbers, np.int32)
    joined = JoinedIntervals(columns, base.starts.family, kinds)
    for band in of_family:
        part = underlay(band.crop(base), below(band))
        joined.append(part.starts, part.numbers)
        del part  # before the next band takes memory
        columns.release()
    columns.remove(*base.columns())
    starts, numbers = joined.finish()
    # Layers that are unknown everywhere share one array, without memory.
    unknown = np.broadcast_to(np.int32(UNKNOWN), len(starts))
    return LayerPartition(
        starts, {layer: codes if codes.strides[0] else unknown for layer, codes in numbers.items()}
    )


def underlay_partition(
    base: LayerPartition, below: LayerPartition, columns: Columns
) -> LayerPartition:
    """Fill the layers that are unknown in ``base`` from another partition, in bands that fit."""
    family, layers = base.starts.family, len(base.numbers)
    weight = work(family, layers)[1]
    of_family = bands(family, [(base.starts, weight), (below.starts, weight)], BAND)
    return underlay_bands(base, of_family, lambda band: band.crop(below), columns)
