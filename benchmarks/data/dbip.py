"""A seeded source of any size in the layout of DB-IP's City Lite: half IPv4, half IPv6 ranges.

The ranges are disjoint and in address order, as DB-IP delivers them. A chunk is made and written at
a time: memory does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.data.generate import RECIPE, SEED, texts_of
from benchmarks.data.records import join, words

CSV = "dbip-city-lite.csv"
_RECIPE = f'[dataset]\nname = "benchmark"\n\n[[source]]\nformat = "dbip"\npath = "{CSV}"\n'
_CHUNK, _LOCATIONS = 1 << 20, 150_000
_COUNTRIES = (("EU", "DE"), ("EU", "FR"), ("NA", "US"), ("AS", "JP"), ("SA", "BR"), ("AF", "ZA"))
_SIZES = np.array([16, 32, 64, 128])  # addresses of an IPv4 range
_DECIMAL = pa.array([str(value) for value in range(256)])
_HEXADECIMAL = pa.array([f"{value:x}" for value in range(1 << 16)])


def write(folder: Path, rows: int, seed: int = SEED) -> Path:
    """Write the CSV and its recipe; return the recipe. The same seed gives the same bytes."""
    rng = np.random.default_rng(seed)
    locations = _locations(rng)
    with (folder / CSV).open("wb") as stream:
        for ends in (_ipv4(rng, rows - rows // 2), _ipv6(rows // 2)):
            for first, last in ends:
                places = locations.take(pa.array(rng.integers(0, _LOCATIONS, len(first))))
                lines = pc.binary_join_element_wise(first, last, places, ",")
                stream.write(texts_of(lines))
    (folder / RECIPE).write_text(_RECIPE, encoding="utf-8")
    return folder / RECIPE


def _locations(rng: np.random.Generator) -> pa.Array:
    """Return distinct places as the end of a line."""
    number = np.arange(_LOCATIONS)
    pairs = pa.array([",".join(pair) for pair in _COUNTRIES])
    latitude, longitude = (
        rng.integers(-most, most, _LOCATIONS) / 10_000 for most in (600_000, 1_700_000)
    )
    columns = [
        pairs.take(pa.array(number % len(_COUNTRIES))),
        words(number % 40, " Province"),
        words(number, ""),
        pa.array(latitude).cast(pa.string()),
        pa.array(longitude).cast(pa.string()),
    ]
    return pc.binary_join_element_wise(
        join(*columns, between=","), pa.array(["\n"] * _LOCATIONS), ""
    )


def _chunks(rows: int) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, rows, _CHUNK):
        yield np.arange(begin, min(begin + _CHUNK, rows))


def _ipv4(rng: np.random.Generator, rows: int) -> Iterator[tuple[pa.Array, pa.Array]]:
    start = 1 << 24
    for chunk in _chunks(rows):
        sizes = rng.choice(_SIZES, len(chunk))
        firsts = start + np.cumsum(sizes) - sizes
        start = int(firsts[-1] + sizes[-1])
        yield _dotted(firsts), _dotted(firsts + sizes - 1)


def _dotted(values: NDArray[np.int64]) -> pa.Array:
    octets = [_DECIMAL.take(pa.array(values >> shift & 255)) for shift in (24, 16, 8, 0)]
    return pc.binary_join_element_wise(*octets, ".")


def _ipv6(rows: int) -> Iterator[tuple[pa.Array, pa.Array]]:
    # Every third /48 of 2a00::/16.
    for chunk in _chunks(rows):
        halves = [_HEXADECIMAL.take(pa.array(chunk * 3 >> shift & 0xFFFF)) for shift in (16, 0)]
        network = pc.binary_join_element_wise("2a00", *halves, ":")
        ends = ("::", ":ffff:ffff:ffff:ffff:ffff")
        first, last = (pc.binary_join_element_wise(network, end, "") for end in ends)
        yield first, last
