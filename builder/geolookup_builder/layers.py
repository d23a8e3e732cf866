"""Sources overlaid: for each layer, the first source that states it decides.

The intervals of a source have a number for each layer (0: unknown). Two partitions are overlaid;
each joint interval takes its number, layer by layer, from the first one that has one. Sources are
overlaid in the order of the recipe. For one layer::

    source 1     |  5  |     0      |  7  |  0  |
    source 2     |   2    |    3    |     0     |
    joint        |  5  |2 |    3    |  7  |  0  |

Provenance is a partition of its own: the source that decided each layer. It is much smaller than
the partition of the answers, because neighbours with the same sources are one interval.

This takes bands of the address space, small enough to work on one in memory after the other. Their
bounds are quantiles of samples of what lies in them: the first addresses of rows, and the starts of
a partition. A table of few rows has one band: the whole space.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from geolookup.contract.address import MAX
from geolookup.contract.special import Range
from geolookup.dataset.intervals import (
    Addresses,
    Bools,
    concat,
    count_addresses,
    cut_at,
    join_intervals,
)
from geolookup_builder.columns import ROW, Columns, JoinedIntervals, Numbers, Partition
from geolookup_builder.flatten import Rows, combined, may_decide_beyond, none
from geolookup_builder.layer_values import UNKNOWN

#: At least every 512th address is in a sample: a page of a column has 512 or 1024.
_STRIDE = 512
_SAMPLES_PER_BAND = 64
#: The work on a band, in bytes. Larger bands take more memory, and no less time.
BAND = 48 << 20
#: Bytes that the work on a row and on an interval takes at most, by family, without its layers.
_WORK = MappingProxyType({4: (120, 60), 6: (220, 90)})
#: The number of addresses decided: by layer, then by "ipv4" and "ipv6".
Coverage = dict[str, dict[str, int]]


def nothing(family: int, layers: tuple[str, ...]) -> Partition:
    """Return one interval over the whole family, unknown in all layers."""
    return Partition(Addresses.of(family, [0]), {layer: np.zeros(1, np.int32) for layer in layers})


def of_rows(owners: Partition, numbers: Numbers) -> Numbers:
    """Give each interval the numbers of the row that owns it: ROW has 1 + its index, 0 in a gap."""
    rows = owners.numbers[ROW]
    unknown = np.int32(UNKNOWN)
    return {layer: np.append(unknown, codes)[rows] for layer, codes in numbers.items()}


def underlay(base: Partition, below: Partition) -> Partition:
    """Fill the layers that are unknown in ``base`` from ``below``."""
    # The first source: there is nothing to overlay.
    if len(base.starts) == 1 and not any(codes[0] for codes in base.numbers.values()):
        unknown = np.zeros(len(below.starts), np.int32)
        numbers = {layer: below.numbers.get(layer, unknown) for layer in base.numbers}
        return Partition(below.starts, numbers).joined()
    starts, (of_base, of_below) = join_intervals([base.starts, below.starts])
    joint = base.changed(starts, lambda codes: codes[of_base])
    for layer in base.numbers.keys() & below.numbers.keys():
        number = joint.numbers[layer]
        joint.numbers[layer] = np.where(number == UNKNOWN, below.numbers[layer][of_below], number)
    return joint.joined()


def hide(partition: Partition, ranges: Sequence[Range]) -> Partition:
    """Make all layers unknown inside the (sorted, disjoint) ranges."""
    if not ranges:
        return partition
    parts, is_inside = cut(partition, ranges)
    return parts.changed(parts.starts, lambda codes: codes * ~is_inside)


def cut(partition: Partition, ranges: Iterable[Range]) -> tuple[Partition, Bools]:
    """Cut the intervals at (sorted, disjoint) ranges; also mark those inside a range."""
    bounds, is_inside = cut_at(partition.starts.family, ranges)
    starts, (at, of_bound) = join_intervals([partition.starts, bounds])
    return partition.changed(starts, lambda codes: codes[at]), is_inside[of_bound]


def restrict(partition: Partition, kept: Partition) -> Partition:
    """Make all layers unknown in the space where ``kept`` has no row."""
    starts, (of_kept, at) = join_intervals([kept.starts, partition.starts])
    is_kept = kept.numbers[ROW][of_kept] > 0
    # UNKNOWN is 0.
    return partition.changed(starts, lambda codes: codes[at] * is_kept).joined()


def coverage(families: Mapping[int, Partition], sources: int, columns: Columns) -> list[Coverage]:
    """Return, for each source, the number of addresses that it decides, by layer and family.

    Layers in which it decides no address are left out.
    """
    counts: list[Coverage] = [{} for _ in range(sources)]
    for family, partition in families.items():
        for layer, of_layer in partition.numbers.items():
            for part in columns.chunks(len(of_layer)):
                # With the interval after the part: there the last one ends.
                starts = partition.starts[part.start : part.stop + 1]
                # The numbers from 1 that the part has; 0 decides nothing.
                for number in (np.flatnonzero(np.bincount(of_layer[part])[1:]) + 1).tolist():
                    is_here = np.zeros(len(starts), bool)
                    is_here[: part.stop - part.start] = of_layer[part] == number
                    of = counts[number - 1].setdefault(layer, {"ipv4": 0, "ipv6": 0})
                    of[f"ipv{family}"] += count_addresses(starts, is_here)
    return counts


def work(family: int, layers: int) -> tuple[int, int]:
    """Return the bytes that the work on a row, and on an interval of a partition, takes."""
    row, interval = _WORK[family]
    return row + 8 * layers, interval + 8 * layers


@dataclass(frozen=True, slots=True)
class Band:
    """The addresses from ``begin`` to ``last``."""

    family: int
    begin: int
    last: int

    def stop(self, sorted_addresses: Addresses) -> int:
        """Return how many of sorted addresses are before the end."""
        return int(sorted_addresses.search(self._at(self.last))[0])

    def begins(self, first: Addresses) -> Bools:
        """Mark the addresses that are not before the band."""
        return ~(first < self._at(self.begin))

    def _at(self, address: int) -> Addresses:
        return Addresses.of(self.family, [address])

    @property
    def outside(self) -> list[Range]:
        """The addresses before the band, and those after it."""
        sides = (0, self.begin - 1), (self.last + 1, MAX[self.family])
        return [(first, last) for first, last in sides if first <= last]

    def crop(self, partition: Partition) -> Partition:
        """Return the part of a partition inside the band, from its begin on.

        From 20 to 39, of the starts 0, 15, 30, 40: 20 and 30, with the numbers at 15 and 30.
        """
        if not self.outside:
            return partition
        starts, begin = partition.starts, self._at(self.begin)
        inside = slice(int(starts.search(begin)[0]) - 1, self.stop(starts))
        own = concat([begin, starts[inside.start + 1 : inside.stop]])
        return partition.changed(own, lambda codes: codes[inside])


def bands(family: int, weighted: Sequence[tuple[Addresses, int]], most: int) -> list[Band]:
    """Divide a family into bands of about ``most`` bytes.

    ``weighted`` are sorted addresses, and the bytes that one of them takes.
    """
    total = sum(len(addresses) * weight for addresses, weight in weighted)
    if total <= most:
        return [Band(family, 0, MAX[family])]
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
    lasts = [*(bound - 1 for bound in bounds), MAX[family]]
    return [Band(family, *ends) for ends in zip([0, *bounds], lasts, strict=True)]


class RowBands:
    """The rows of a family, taken band by band, in ascending order of the bands.

    They are runs that are sorted by first address. A band has the rows that begin in it, one slice
    of each run, and the rows before that reach into it. A run is released after the last band that
    it has rows of.
    """

    def __init__(self, family: int, runs: Sequence[Rows], layers: Collection[str]) -> None:
        self._family, self._runs, self._layers = family, [*runs], layers
        self._reaching: list[Rows] = []  # from earlier bands

    def divide(self, base: Addresses, most: int) -> list[Band]:
        """Return bands whose work takes about so many bytes, above a partition's starts."""
        per_row, per_interval = work(self._family, len(self._layers))
        rows = [(run.first, per_row) for run in self._runs]
        return bands(self._family, [*rows, (base, per_interval)], most)

    def take(self, band: Band) -> Rows:
        """Return the rows of a band."""
        parts, runs, self._runs = self._reaching, self._runs, []
        for run in runs:
            end = band.stop(run.first)
            parts.append(run[:end])
            if end < len(run):
                self._runs.append(run[end:])
        del runs
        rows = combined([none(self._family), *parts], self._layers, np.concatenate)
        # The rows that may decide an address after the band.
        beyond = rows[np.flatnonzero(Addresses.of(self._family, [band.last]) < rows.last)]
        self._reaching = [beyond[may_decide_beyond(beyond)]] if len(beyond) else []
        return rows


def underlay_bands(
    base: Partition,
    of_family: Sequence[Band],
    below: Callable[[Band], Partition],
    columns: Columns,
) -> Partition:
    """Fill the layers that are unknown in ``base`` from ``below``, band by band.

    The result of several bands is in new columns.
    """
    if len(of_family) == 1:
        return underlay(base, below(of_family[0]))
    joined = JoinedIntervals(columns)
    for band in of_family:
        part = underlay(band.crop(base), below(band))
        joined.append(part)
        del part  # before the next band takes memory
        columns.release()
    result = joined.finish()
    # Layers that are unknown everywhere share one array, without memory.
    unknown = np.broadcast_to(np.int32(UNKNOWN), len(result.starts))
    numbers = {layer: of if of.strides[0] else unknown for layer, of in result.numbers.items()}
    return Partition(result.starts, numbers)


def underlay_partition(base: Partition, below: Partition, columns: Columns) -> Partition:
    """Fill the layers that are unknown in ``base`` from another partition, in bands that fit."""
    family, layers = base.starts.family, len(base.numbers)
    weight = work(family, layers)[1]
    of_family = bands(family, [(base.starts, weight), (below.starts, weight)], BAND)
    return underlay_bands(base, of_family, lambda band: band.crop(below), columns)
