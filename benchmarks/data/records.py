"""Locations and networks to draw from, as CSV text, and which prefix has which.

Strategy: both tables are laid out country by country: a draw is a block's country and a rank in it.
Ranks are log-uniform (Zipf's law with exponent 1); many prefixes repeat the record of their block
or of the prefix before.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from geolookup_builder.reference.countries import load_countries
from numpy.typing import NDArray

from benchmarks.data.shape import Shape
from geolookup.contract.fields import BY_SOURCE_COLUMN

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

LOCATION_COLUMNS = (
    *("country_code", "region_code", "region_name", "city_name", "postal_code"),
    *("latitude", "longitude", "time_zone"),
)
NETWORK_COLUMNS = (
    *("asn", "asn_organization", "isp", "organization", "connection_type", "user_type"),
)
_CONNECTION_TYPES = BY_SOURCE_COLUMN["connection_type"].words
_USER_TYPES = BY_SOURCE_COLUMN["user_type"].words
_SYLLABLES = ("al", "bor", "chi", "den", "ek", "fur", "go", "hal", "ñi", "ju", "kö", "lem", "mar")
_AFTER = (" Telecom", " Hosting", ", Inc.", " GmbH", " Broadband", " University", " Mobile")


@dataclass(frozen=True, slots=True)
class Listing:
    """Table rows as CSV text; country c has rows ``begin[c]`` … ``begin[c + 1] - 1``."""

    texts: pa.Array
    begin: I64


def locations(rng: np.random.Generator, shape: Shape) -> Listing:
    """Return distinct places, the first of each country with only its country."""
    begin = divide(shape.locations, _countries(shape))
    size, number = begin[-1], np.arange(begin[-1])
    country = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    codes, zones = codes_and_zones()
    rank = number - begin[country]
    region = rank % np.maximum(np.sqrt(np.diff(begin)).astype(np.int64), 1)[country]
    columns = [
        pa.array(codes).take(pa.array(country)),
        text(region + 1),
        words(region * 7 + country, " Province"),
        words(number, ""),
        join(text(10000 + number * 7 % 90000)),
        text(rng.integers(-550_000, 700_000, size) / 10_000),
        text(rng.integers(-1_800_000, 1_800_000, size) / 10_000),
        pick(zones, country, region),
    ]
    bare = pa.array(rank == 0)
    columns[1:5] = [pc.if_else(bare, "", column) for column in columns[1:5]]
    return Listing(join(*columns, between=","), begin)


def networks(rng: np.random.Generator, shape: Shape) -> Listing:
    """Return distinct networks; an AS holds one or more of them."""
    begin = divide(shape.networks, _countries(shape))
    number = np.arange(begin[-1])
    system = number // 2 + number % 2 * (number % 3 == 0)
    holder = words(system, _AFTER[0])
    kind = rng.choice(len(_USER_TYPES), len(number), p=zipf_shares(len(_USER_TYPES)))
    link = rng.choice(len(_CONNECTION_TYPES), len(number), p=zipf_shares(len(_CONNECTION_TYPES)))
    after = pa.array(_AFTER).take(pa.array(number % len(_AFTER)))
    columns = [
        text(system + 1),
        holder,
        holder,
        join('"', words(number, ""), after, '"'),
        pa.array(_CONNECTION_TYPES).take(pa.array(link)),
        pa.array(_USER_TYPES[::-1]).take(pa.array(kind)),
    ]
    return Listing(join(*columns, between=","), begin)


def _countries(shape: Shape) -> int:
    return min(len(codes_and_zones()[0]), shape.locations // 2, shape.networks // 2)


def zipf_shares(count: int) -> NDArray[np.float64]:
    """Return the shares of Zipf's law."""
    share = 1 / np.arange(1, count + 1)
    return np.asarray(share / share.sum())


def divide(total: int, countries: int) -> I64:
    """Divide rows among countries, one at least each; return where each begins, and the end."""
    size = 1 + np.floor((total - countries) * zipf_shares(countries)).astype(np.int64)
    size[0] += total - size.sum()
    return np.concatenate([[0], np.cumsum(size)])


def codes_and_zones() -> tuple[list[str], list[list[str]]]:
    """Return the country codes and the zones of each, by IANA's own table of them."""
    names, zones = available_timezones(), dict[str, list[str]]()
    table = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text("utf-8")
    for line in table.splitlines():
        if not line.startswith("#"):
            code, _, zone, *_ = line.split("\t")
            if zone in names:
                zones.setdefault(code, []).append(zone)
    # Most zones first, as a measure of size: large countries get most rows.
    codes = sorted(load_countries(), key=lambda code: (-len(zones.get(code, ())), code))
    return codes, [zones.get(code, [""]) for code in codes]


def pick(lists: list[list[str]], which: I64, number: I64) -> pa.Array:
    """Return ``lists[which][number % its length]`` for each row."""
    size = np.array([len(values) for values in lists])
    begin = np.cumsum(size) - size
    flat = pa.array([text for values in lists for text in values])
    return flat.take(pa.array(begin[which] + number % size[which]))


def words(number: I64, after: str) -> pa.Array:
    """Return a made-up name for each number, another for each."""
    base, parts = len(_SYLLABLES), []
    for position in range(len(np.base_repr(int(number.max()), base))):
        digit = number // base**position % base
        parts.append(pa.array(_SYLLABLES).take(pa.array(digit)))
    return join(pc.utf8_capitalize(join(*parts)), after)


def text(numbers: NDArray[np.generic]) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def join(*parts: pa.Array | str, between: str = "") -> pa.Array:
    return pc.binary_join_element_wise(*parts, between)
