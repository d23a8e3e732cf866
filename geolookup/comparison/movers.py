"""Which networks account for the addresses whose location moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import Bools, Share, share
from geolookup.comparison.values import Values


@dataclass(frozen=True, slots=True)
class Mover:
    """A network of NEW: autonomous system and holder, either None where unknown."""

    asn: int | None
    asn_organization: str | None
    moved: Share  # of the network's addresses whose location can be compared
    of_all: float  # share of all that moved


def top_movers(
    values: Values,
    networks: NDArray[Any],
    weight: NDArray[np.float64],
    compared: Bools,
    moved: Bools,
    most: int,
) -> list[Mover]:
    """Return the networks with the most moved weight, the greatest first, at most ``most``.

    Of shape (n,): ``networks`` are rows of NEW's network table, ``weight`` their weights,
    ``compared`` whether the location can be compared, ``moved`` whether it moved.
    """
    size = len(values.new_networks)
    rows, group = _systems(values)
    moved_sums, sums = (
        np.bincount(group, np.bincount(networks, weight * mask, minlength=size))
        for mask in (moved, compared)
    )
    # A stable sort: networks of equal weight keep the order of the table.
    order = np.argsort(-moved_sums, kind="stable")[:most]
    total = float(moved_sums.sum())
    return [
        Mover(
            asn=_name(values, "asn", rows[at]),
            asn_organization=_name(values, "asn_organization", rows[at]),
            moved=share(moved_sums[at], sums[at]),
            of_all=float(moved_sums[at]) / total,
        )
        for at in order
        if moved_sums[at]
    ]


def _systems(values: Values) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a row for each system and holder, and the number of its system by table row."""
    asn = values.network["network.asn"].new.astype(np.int64)
    holder = values.network["network.asn_organization"].new.astype(np.int64)
    _, rows, group = np.unique(asn << 32 | holder + 1, return_index=True, return_inverse=True)
    return rows, group


def _name(values: Values, column: str, row: np.int64) -> Any:
    return values.new_networks[column][int(row)].as_py()
