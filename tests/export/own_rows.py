"""The rows of an export of a dataset with own columns, by the answers of its engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from itertools import pairwise

import geolookup
from geolookup.contract.address import MAX
from geolookup.contract.fields import Field
from geolookup.contract.special import CARRIES_IPV4, partition
from tests.export.reading import Row, joined


def own_rows(engine: geolookup.Engine, fields: Sequence[Field]) -> list[Row]:
    """Return the rows of all space but the addresses that carry IPv4 addresses."""
    paths = [field.path for field in fields]
    rows = []
    for family, first, last in parts(engine):
        values = tuple(engine.get_many([address(family, first)], paths)[0])
        if any(value is not None for value in values):
            rows.append((family, first, last, values))
    return joined(iter(rows))


def parts(engine: geolookup.Engine) -> Iterator[tuple[int, int, int]]:
    """Yield ranges with one answer, cut at the ends of special-purpose space."""
    dataset = engine.snapshot().dataset
    for family in (4, 6):
        spaces, starts = partition(family), dataset.starts(family)
        bounds = sorted({*(starts[at] for at in range(len(starts))), *(part[0] for part in spaces)})
        kinds = {first: kind for first, _, kind in spaces}
        kind = spaces[0][2]
        for first, after in pairwise([*bounds, MAX[family] + 1]):
            kind = kinds.get(first, kind)
            if kind != CARRIES_IPV4:
                yield family, first, after - 1


def address(family: int, value: int) -> str:
    return str(ip_address(value.to_bytes(4 if family == 4 else 16, "big")))
