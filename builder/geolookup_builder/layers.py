"""Sources overlaid: for each layer, the first source that states it decides.

The intervals of a source have a number for each layer (0: unknown). Two partitions are overlaid;
each joint interval takes its number, layer by layer, from the first one that has one. Sources are
overlaid in the order of the recipe. For one layer::

    source 1     |  5  |     0      |  7  |  0  |
    source 2     |   2    |    3    |     0     |
    joint        |  5  |2 |    3    |  7  |  0  |

Provenance is a partition of its own: the source that decided each layer. It is much smaller than
the partition of the answers, because neighbours with the same sources are one interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from geolookup.contract.special import Range
from geolookup.dataset.intervals import Addresses, Bools, count_addresses, cut_at, overlay
from geolookup_builder.columns import ROW, Columns, Numbers, Partition
from geolookup_builder.layer_values import UNKNOWN

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
    starts, (of_base, of_below) = overlay([base.starts, below.starts])
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
    starts, (at, of_bound) = overlay([partition.starts, bounds])
    return partition.changed(starts, lambda codes: codes[at]), is_inside[of_bound]


def restrict(partition: Partition, kept: Partition) -> Partition:
    """Make all layers unknown in the space where ``kept`` has no row."""
    starts, (of_kept, at) = overlay([kept.starts, partition.starts])
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
