"""The hand-made range files: well formed, broad, and true as far as public data tell.

The first half needs only the files. The second compares each row with real registry and
routing data: country with the delegation, origin AS with two BGP tables and an address-to-AS
list, organisation with the AS's registered name. Rows that such data cannot confirm are named
in `ORIGIN_EXCEPTIONS`; the tests demand equality, so an exception no longer needed fails too.
"""

import csv
import gzip
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sample_data import figures, make, ranges, seats
from sample_data.ranges import ends
from tests.docs.blocks import unwrapped
from tests.internals.builder import calls_check as check
from tests.oracle import value_of
from tests.skips import needs

Network = IPv4Network | IPv6Network
Rows = dict[Network, dict[str, str]]
Route = tuple[int, int, int]  # address bits, first address, prefix length

FOLDER = Path(__file__).resolve().parents[1] / "sample_data"
FILES = ("places.csv", "networks.csv", "countries.csv")  # in the recipe's order of precedence
LOCATION = [
    *("country_code", "region_code", "region_name", "city_name", "postal_code"),
    *("latitude", "longitude", "weather_code", "time_zone"),
]
NETWORK = ["asn", "asn_organization", "isp", "organization", "connection_type", "user_type"]
small_ranges = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda pair: (min(pair), max(pair))),
    max_size=6,
)


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@cache
def by_network(name: str) -> Rows:
    return {ip_network(row["network"]): row for row in rows_of(name)}


def every_row() -> Iterator[tuple[Network, dict[str, str]]]:
    for name in FILES:
        yield from by_network(name).items()


# --- only the files


def test_the_compiler_takes_every_row_as_it_is() -> None:
    """Each range is public space and there once; each value is one of its column."""
    assert [*rows_of("places.csv")[0]] == ["network", *LOCATION]
    assert [*rows_of("networks.csv")[0]] == ["network", "country_code", *NETWORK]
    assert [*rows_of("countries.csv")[0]] == ["network", "country_code"]
    report = check(FOLDER / "small.toml", max_rejects=0)
    assert not report.has_problem
    for name, checked in zip(FILES, report.sources, strict=True):
        (source,) = checked.tables
        assert source.read == source.used == len(rows_of(name))
        assert not any(source.addresses.values())
        assert source.rows["duplicate"] == 0
        assert (source.nulled, source.rejected) == ({}, {})


def test_every_line_is_clean_text_of_a_canonical_range() -> None:
    for name in FILES:
        text = (FOLDER / name).read_bytes().decode("utf-8")
        assert "\r" not in text
        assert text == unicodedata.normalize("NFC", text)
        for row in rows_of(name):
            # A cell too many has the name None, a cell too few is None.
            assert all(cell and cell.isprintable() for cell in row), row
            assert all(value == value.strip() and value.isprintable() for value in row.values()), (
                row
            )
        texts = [row["network"] for row in rows_of(name)]
        networks = [ip_network(text) for text in texts]  # strict: no host bits
        assert [str(network) for network in networks] == texts
        keys = [(n.version, int(n.network_address), n.prefixlen) for n in networks]
        assert keys == sorted(set(keys))


# --- against public data


class Prefixes:
    """Values by prefix: the longest that covers a network, or those inside one."""

    def __init__(self, lines: Iterator[tuple[str, Any]]) -> None:
        self.values: dict[Route, Any] = {route_of(text): value for text, value in lines}

    @cached_property
    def order(self) -> list[Route]:
        return sorted(self.values)

    def longest(self, network: Network) -> Any:
        bits, first = network.max_prefixlen, int(network.network_address)
        for length in range(network.prefixlen, -1, -1):
            start = first >> (bits - length) << (bits - length)
            if (result := self.values.get((bits, start, length))) is not None:
                return result
        return None

    def inside(self, network: Network) -> Iterator[tuple[int, Any]]:
        """Give the size and value of each prefix within `network`."""
        bits, first = network.max_prefixlen, int(network.network_address)
        begin = bisect_left(self.order, (bits, first, network.prefixlen))
        end = bisect_left(self.order, (bits, first + network.num_addresses, 0))
        for route in self.order[begin:end]:
            yield 1 << (bits - route[2]), self.values[route]


def route_of(text: str) -> Route:
    address, length = text.split("/")
    family, value = value_of(address)
    return 32 if family == 4 else 128, value, int(length)


@pytest.fixture(scope="module")
def delegations(shared_data: Path) -> Prefixes:
    with gzip.open(shared_data / "rir" / "rir-countries.csv.gz", "rt", encoding="ascii") as file:
        assert next(file) == "network,country_code\n"
        lines = (line.rstrip("\n").split(",") for line in file)
        return Prefixes((network, country) for network, country in lines)


@pytest.mark.long
def test_countries_are_those_of_the_delegations(delegations: Prefixes) -> None:
    wrong = []
    for network, row in every_row():
        covering = delegations.longest(network)
        actual = {covering} if covering else {value for _, value in delegations.inside(network)}
        if actual != {row["country_code"]}:
            wrong.append((str(network), row["country_code"], actual))
    assert not wrong


# --- the files of the publisher, and what make.py made of them


@pytest.mark.long
def test_files_are_the_publishers_after_three_rules(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "LEVEL", 1)  # the texts are compared, not how they are compressed
    made = tmp_path / "made"
    (made / "world").mkdir(parents=True)
    make.make_sources(shared_data, made)
    for path in (path.relative_to(made) for path in made.rglob("*.zst")):
        assert make.text_of(made / path) == make.text_of(FOLDER / path), path


@pytest.mark.long
@needs("geoip2fast")
def test_figures_are_those_of_the_data(shared_data: Path) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert unwrapped(figures.figures_text(shared_data)) in unwrapped(page)


@given(small_ranges, small_ranges)
def test_possible_parts_were_given_out(
    rows: list[ranges.Range], given_out: list[ranges.Range]
) -> None:
    blocks = ranges.union(given_out)
    for row in rows:
        inside = {
            a for low, high in ranges.parts_inside(*row, blocks) for a in range(low, high + 1)
        }
        wanted = {
            a for a in range(row[0], row[1] + 1) if any(low <= a <= high for low, high in given_out)
        }
        assert inside == wanted


#: The first address of a block of APNIC.
_SEATED = ends("2001:200::/23")[0]


def holds(rows: list[ranges.Row], address: int) -> bool:
    return any(row.first <= address <= row.last for row in rows)


@given(small_ranges, small_ranges, st.sampled_from(("AU", "NZ")), st.integers(0, 40))
def test_the_delegation_decides_where_the_seat_is_stated(
    stated: list[ranges.Range], given_out: list[ranges.Range], country: str, before: int
) -> None:
    """Address by address; ``before`` addresses are before the block of the registry."""
    base = _SEATED - before
    rows = [ranges.Row(base + a, base + b, (country,)) for a, b in ranges.union(stated)]
    delegated = [ranges.Row(base + a, base + b, ("JP",)) for a, b in ranges.union(given_out)]
    decided = list(seats.without_seats(rows, delegated, 6))
    for at in range(base, base + 61):
        actual = [row.cells[0] for row in decided if row.first <= at <= row.last]
        is_moved = country == "AU" and at >= _SEATED and holds(delegated, at)
        assert actual == (["JP" if is_moved else country] if holds(rows, at) else [])
    assert all(one.last < other.first for one, other in pairwise(decided))
    changed = list(seats.seats(rows, delegated, 6))
    assert changed == [row for row in decided if row.cells == ("JP",)]
