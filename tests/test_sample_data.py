"""The hand-made range files: well formed, and in the countries of the delegations."""

import csv
import gzip
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import pairwise
from pathlib import Path

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
    report = check(FOLDER / "small.toml", max_rejected=0)
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


@pytest.fixture(scope="module")
def delegations(shared_data: Path) -> dict[Route, str]:
    """The countries of prefixes, in address order."""
    with gzip.open(shared_data / "rir" / "rir-countries.csv.gz", "rt", encoding="ascii") as file:
        assert next(file) == "network,country_code\n"
        lines = (line.rstrip("\n").split(",") for line in file)
        return dict(sorted((route_of(network), country) for network, country in lines))


def route_of(text: str) -> Route:
    address, length = text.split("/")
    family, value = value_of(address)
    return 32 if family == 4 else 128, value, int(length)


@pytest.mark.long
def test_countries_are_those_of_the_delegations(delegations: dict[Route, str]) -> None:
    """That of the longest delegation around a network, else that of all inside it."""
    wrong, order = [], list(delegations)
    for network, row in every_row():
        bits, first, length = route_of(str(network))
        masks = ((size, bits - size) for size in range(length, -1, -1))
        around = [(bits, first >> free << free, size) for size, free in masks]
        covering = next(filter(delegations.__contains__, around), None)
        ends = (first, first + network.num_addresses)
        begin, end = (bisect_left(order, (bits, at, 0)) for at in ends)
        routes = order[begin:end] if covering is None else [covering]
        if (actual := {delegations[route] for route in routes}) != {row["country_code"]}:
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
