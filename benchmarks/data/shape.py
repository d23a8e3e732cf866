"""How large a generated source is, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a generated source.

    ``ipv4`` and ``ipv6`` count the dataset's intervals with its gaps, or the
    file's rows where ``by_rows`` is set. Every location and network is used.
    """

    ipv4: int
    ipv6: int
    locations: int
    networks: int
    by_rows: bool = False


SCALES = {
    "tiny": Shape(2_000, 800, 200, 100),
    "default": Shape(300_000, 100_000, 40_000, 20_000),
    "city": Shape(2_650_000, 1_200_000, 200_000, 80_000),
}


def of_rows(rows: int) -> Shape:
    """Return the shape of a file with so many rows, divided as in ``city``."""
    city = SCALES["city"]
    ipv4 = rows * city.ipv4 // (city.ipv4 + city.ipv6)
    return Shape(
        ipv4, rows - ipv4, min(city.locations, rows // 10), min(city.networks, rows // 20), True
    )
