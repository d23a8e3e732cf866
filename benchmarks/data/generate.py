"""A seeded source of realistic shape: a generic CSV and its recipe, written by columns.

Strategy: locations and networks are turned to CSV text once; a line is the
prefix's text and two of those, joined by Arrow, and the joined column's bytes
are the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data import prefixes, records, sampling
from benchmarks.data.prefixes import Prefixes
from benchmarks.data.records import Listing
from benchmarks.data.shape import Shape

SEED = 20_260
CSV, RECIPE = "ranges.csv", "recipe.toml"
#: Of a recipe that keeps only the countries of a source.
COUNTRIES = 'fields = ["country_code"]\n'
_CHUNK = 1 << 18
_HEADER = ",".join(("network", *records.LOCATION_COLUMNS, *records.NETWORK_COLUMNS))
_RECIPE = f"""[dataset]
name = "benchmark"

[[source]]
format = "csv"
path = "{CSV}"
"""


@dataclass(frozen=True, slots=True)
class GeneratedSource:
    """The size of a source; intervals are counted in the dataset that it makes."""

    recipe: Path
    rows: int
    bytes: int
    ipv4_intervals: int
    ipv6_intervals: int
    locations: int
    networks: int


def write(folder: Path, shape: Shape, seed: int = SEED) -> GeneratedSource:
    """Write the CSV and the recipe of a shape; the same seed gives the same bytes."""
    rng = np.random.default_rng(seed)
    families = [
        prefixes.ipv4(rng, shape.ipv4, by_rows=shape.by_rows),
        prefixes.ipv6(rng, shape.ipv6, by_rows=shape.by_rows),
    ]
    locations, networks = records.locations(rng, shape), records.networks(rng, shape)
    samples = sampling.sample(rng, families, locations, networks)
    path = folder / CSV
    with path.open("wb") as stream:
        stream.write(_HEADER.encode() + b"\n")
        for family, (location, network) in zip(families, samples, strict=True):
            for begin in range(0, len(family), _CHUNK):
                part = slice(begin, begin + _CHUNK)
                stream.write(_lines(family, part, locations, location, networks, network))
    (folder / RECIPE).write_text(_RECIPE, encoding="utf-8")
    return GeneratedSource(
        folder / RECIPE,
        sum(map(len, families)),
        path.stat().st_size,
        families[0].intervals,
        families[1].intervals,
        len(locations.texts),
        len(networks.texts),
    )


def _lines(
    family: Prefixes,
    part: slice,
    locations: Listing,
    location: records.I64,
    networks: Listing,
    network: records.I64,
) -> memoryview:
    """Return the bytes of some lines."""
    lines = pc.binary_join_element_wise(
        network_texts(family, part),
        locations.texts.take(pa.array(location[part])),
        pc.binary_join_element_wise(networks.texts.take(pa.array(network[part])), "\n", ""),
        ",",
    )
    return texts_of(lines)


def texts_of(lines: pa.Array) -> memoryview:
    """Return the bytes of all texts of a column, one after the other."""
    _, offsets, data = lines.buffers()
    bounds = np.frombuffer(offsets, np.int32)
    return memoryview(data)[bounds[lines.offset] : bounds[lines.offset + len(lines)]]


def network_texts(family: Prefixes, part: slice) -> pa.Array:
    start = family.start[part]
    length = pa.array(family.length[part]).cast(pa.string())
    if family.family == 4:
        octets = [_DECIMAL.take(_bits(start, shift, 0xFF)) for shift in (24, 16, 8, 0)]
        return pc.binary_join_element_wise(pc.binary_join_element_wise(*octets, "."), length, "/")
    groups = [_HEXADECIMAL.take(_bits(start, shift, 0xFFFF)) for shift in (48, 32, 16, 0)]
    # As tables write it: groups behind the prefix are not spelt out.
    two, three = family.length[part] <= 32, family.length[part] <= 48
    short = pc.binary_join_element_wise(*groups[:2], ":")
    middle = pc.binary_join_element_wise(*groups[:3], ":")
    text = pc.if_else(
        two, short, pc.if_else(three, middle, pc.binary_join_element_wise(*groups, ":"))
    )
    return pc.binary_join_element_wise(text, length, "::/")


def _bits(values: prefixes.U64, shift: int, mask: int) -> pa.Array:
    return pa.array((values >> np.uint64(shift) & np.uint64(mask)).astype(np.int32))


_DECIMAL = pa.array([str(value) for value in range(256)])
_HEXADECIMAL = pa.array([f"{value:x}" for value in range(1 << 16)])
