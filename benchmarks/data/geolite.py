"""A seeded source in the layout of GeoLite2's CSV: City and ASN, for the compiler and its peer.

Strategy: a Blocks row is the prefix's text and the text of its values, made once for each distinct
location or system and joined by Arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from geolookup_builder.reference.countries import load_countries

from benchmarks.data import prefixes, sampling
from benchmarks.data.generate import RECIPE, SEED, network_texts
from benchmarks.data.prefixes import Prefixes
from benchmarks.data.records import (
    I64,
    Listing,
    codes_and_zones,
    divide,
    join,
    pick,
    text,
    words,
)

LOCATIONS = "GeoLite2-City-Locations-en.csv"
CITY = {4: "GeoLite2-City-Blocks-IPv4.csv", 6: "GeoLite2-City-Blocks-IPv6.csv"}
ASN = {4: "GeoLite2-ASN-Blocks-IPv4.csv", 6: "GeoLite2-ASN-Blocks-IPv6.csv"}
CITY_COLUMNS = (
    *("network", "geoname_id", "registered_country_geoname_id"),
    *("represented_country_geoname_id", "is_anonymous_proxy", "is_satellite_provider"),
    *("postal_code", "latitude", "longitude", "accuracy_radius", "is_anycast"),
)
ASN_COLUMNS = ("network", "autonomous_system_number", "autonomous_system_organization")
PLACE_COLUMNS = (
    *("geoname_id", "locale_code", "continent_code", "continent_name", "country_iso_code"),
    *("country_name", "subdivision_1_iso_code", "subdivision_1_name", "subdivision_2_iso_code"),
    *("subdivision_2_name", "city_name", "metro_code", "time_zone", "is_in_european_union"),
)
#: So many locations, told apart by postal code and coordinates, have one place.
_PER_PLACE = 4
_CHUNK = 1 << 18
_RECIPE = """[dataset]
name = "benchmark"

[[source]]
format = "maxmind"
path = "GeoLite2-City-*.csv"

[[source]]
format = "maxmind"
path = "GeoLite2-ASN-*.csv"
"""


@dataclass(frozen=True, slots=True)
class Size:
    """Rows of the four Blocks files, distinct locations, autonomous systems."""

    city_ipv4: int = 3_700_000
    city_ipv6: int = 1_200_000
    asn_ipv4: int = 500_000
    asn_ipv6: int = 130_000
    locations: int = 400_000
    systems: int = 80_000

    @property
    def rows(self) -> int:
        """The rows of all Blocks files."""
        return self.city_ipv4 + self.city_ipv6 + self.asn_ipv4 + self.asn_ipv6


CITY_SCALE = Size()


def of_rows(rows: int) -> Size:
    """Return the size with so many rows, divided as in ``CITY_SCALE``.

    Beyond its rows there are more networks, but no more locations and systems.
    """
    parts = astuple(CITY_SCALE)
    divided_rows = [part * rows // CITY_SCALE.rows for part in parts[1:4]]
    most = [min(part, part * rows // CITY_SCALE.rows) for part in parts[4:]]
    return Size(rows - sum(divided_rows), *divided_rows, *most)


def write(folder: Path, size: Size, seed: int = SEED) -> Path:
    """Write the CSV files and their recipe; the same seed gives the same bytes."""
    rng = np.random.default_rng(seed)
    city = [
        prefixes.ipv4(rng, size.city_ipv4, by_rows=True),
        prefixes.ipv6(rng, size.city_ipv6, by_rows=True),
    ]
    wider = [
        prefixes.around(rng, family, count)
        for family, count in zip(city, (size.asn_ipv4, size.asn_ipv6), strict=True)
    ]
    places, locations = _places(rng, size.locations)
    _write(folder / LOCATIONS, PLACE_COLUMNS, [places])
    _write_blocks(folder, CITY, CITY_COLUMNS, city, locations, rng)
    _write_blocks(folder, ASN, ASN_COLUMNS, wider, _systems(size.systems), rng)
    recipe = folder / RECIPE
    recipe.write_text(_RECIPE, encoding="utf-8")
    return recipe


def _write_blocks(
    folder: Path,
    names: dict[int, str],
    columns: Sequence[str],
    families: Sequence[Prefixes],
    listing: Listing,
    rng: np.random.Generator,
) -> None:
    for family, rows in zip(families, sampling.sample_one(rng, families, listing), strict=True):
        parts = [slice(at, at + _CHUNK) for at in range(0, len(family), _CHUNK)]
        lines = (
            join(network_texts(family, part), listing.texts.take(pa.array(rows[part])), between=",")
            for part in parts
        )
        _write(folder / names[family.family], columns, lines)


def _write(path: Path, columns: Sequence[str], parts: object) -> None:
    with path.open("wb") as stream:
        stream.write(",".join(columns).encode() + b"\n")
        for lines in parts:  # type: ignore[attr-defined]
            rows = pc.binary_join_element_wise(lines, "\n", "")
            _, offsets, data = rows.buffers()
            bounds = np.frombuffer(offsets, np.int32)
            stream.write(memoryview(data)[bounds[0] : bounds[len(rows)]])


def _places(rng: np.random.Generator, count: int) -> tuple[pa.Array, Listing]:
    """Return the lines of the Locations file, and what a Blocks row says of each location.

    The first location of each country has only its country.
    """
    codes, zones = codes_and_zones()
    begin = divide(count, min(len(codes), count // 2))
    location = np.arange(count)
    country = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    rank = location - begin[country]
    number = np.where(rank == 0, 0, (rank - 1) // _PER_PLACE + 1)
    first = np.flatnonzero((rank == 0) | ((rank - 1) % _PER_PLACE == 0))
    of_first = np.searchsorted(first, location, side="right") - 1
    lines = _place_lines(codes, zones, country[first], number[first], begin)
    bare = pa.array(rank == 0)
    of_country = _geoname(of_first[begin[country]])
    columns = [
        _geoname(of_first),
        of_country,
        *(pa.array([value]).take(_zeros(count)) for value in ("", "0", "0")),
        pc.if_else(bare, "", text(10000 + location * 7 % 90000)),
        text(rng.integers(-550_000, 700_000, count) / 10_000),
        text(rng.integers(-1_800_000, 1_800_000, count) / 10_000),
        text(rng.choice([1, 5, 10, 20, 50, 100, 200, 500, 1000], count)),
        pa.array([""]).take(_zeros(count)),
    ]
    return lines, Listing(join(*columns, between=","), begin)


def _place_lines(
    codes: list[str], zones: list[list[str]], country: I64, number: I64, begin: I64
) -> pa.Array:
    facts = [load_countries()[code] for code in codes]
    regions = np.maximum(np.sqrt(np.diff(begin) // _PER_PLACE).astype(np.int64), 1)
    region = number % regions[country]
    bare = pa.array(number == 0)
    of_country = [
        ["en"] * len(facts),
        [fact.continent_code or "" for fact in facts],
        [_quote(fact.continent_name) for fact in facts],
        codes,
        [_quote(fact.country_name) for fact in facts],
    ]
    inside = [
        text(region + 1),
        words(region * 7 + country, " Province"),
        pa.array([""]).take(_zeros(len(country))),
        pa.array([""]).take(_zeros(len(country))),
        words(np.arange(len(country)), ""),
    ]
    columns = [
        _geoname(np.arange(len(country))),
        *(pa.array(values).take(pa.array(country)) for values in of_country),
        *(pc.if_else(bare, "", column) for column in inside),
        pa.array([""]).take(_zeros(len(country))),
        pick(zones, country, region),
        pa.array(["1" if fact.country_is_eu else "0" for fact in facts]).take(pa.array(country)),
    ]
    return join(*columns, between=",")


def _systems(count: int) -> Listing:
    codes, _ = codes_and_zones()
    begin = divide(count, min(len(codes), count // 2))
    number = np.arange(count)
    return Listing(join(text(number + 1), words(number, " Telecom"), between=","), begin)


def _geoname(of_first: I64) -> pa.Array:
    return text(of_first + 100_000)


def _zeros(count: int) -> pa.Array:
    return pa.array(np.zeros(count, np.int32))


def _quote(name: str | None) -> str:
    return f'"{name}"' if name else ""
