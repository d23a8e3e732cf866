"""Whole files from outside: compiled, counted, and looked up beside an independent oracle.

It is a longest-prefix trie written in C by somebody else. Half of the sampled addresses lie at
the ends of rows.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import tables
from tests.conftest import build_at
from tests.internals.builder import SourceReport, load_countries
from tests.internals.kernel import kernel, state_of
from tests.internals.kernel import python as kernel_python
from tests.oracle import carried, is_public, value_of
from tests.skips import needs, optional
from tests.tiers import scaled

pytricia = optional("pytricia")
SAMPLES = scaled(4_000, 40_000)
COUNTRIES = load_countries()
Address = IPv4Address | IPv6Address
#: First and last address as integers, and the family.
Range = tuple[int, int, int]


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n") for line in stream if not line.startswith(";")]


def compiled(folder: Path, text: str) -> tuple[geolookup.Engine, SourceReport]:
    output, report = build_at(folder, {"rows.csv": text}, max_rejected=0)
    return geolookup.open(output), report.sources[0]


def sampled(ranges: list[Range], family: int) -> Iterator[Address]:
    """Public addresses of a family: at the ends of rows and just outside, and anywhere."""
    rng = random.Random(20261120)
    own = [address_range for address_range in ranges if address_range[2] == family]
    kind: type[Any] = IPv4Address if family == 4 else IPv6Address
    top = (1 << 32) - 1 if family == 4 else (1 << 128) - 1
    actual = 0
    while actual < SAMPLES:
        first, last, _ = rng.choice(own)
        anywhere = rng.randint(0, top) if family == 4 else rng.randint(first, last)
        value = rng.choice((first - 1, first, last, last + 1, *[anywhere] * 4))
        address = kind(min(max(value, 0), top))
        if carried(address) is address and is_public.__wrapped__(address):
            actual += 1
            yield address


def prefix_range(prefix: str) -> Range:
    address, length = prefix.split("/")
    family, first = value_of(address)
    size = 1 << (32 if family == 4 else 128) - int(length)
    assert first % size == 0
    return first, first + size - 1, family


def compare(
    engine: geolookup.Engine, probes: Iterator[Address], oracle: Callable[[Address], Any], path: str
) -> None:
    """Every probe's member ``group.name``, alone and in a column, is what the oracle says."""
    group, name = path.split(".")
    asked = [*probes]
    wanted = [oracle(address) for address in asked]
    for address, value in zip(asked, wanted, strict=True):
        data: Any = engine.lookup(str(address), at=0)["data"]
        assert data[group].get(name) == value, address
    for module in (kernel, kernel_python):
        state: Any = module.State(state_of(engine).dataset)
        table = tables.enrich(state, pa.array(map(str, asked)), path)
        assert table.column(0).to_pylist() == wanted


@pytest.mark.long
@needs("pytricia")
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("bgp/ipasn_20140513.dat", (512_621, 0)),
        ("bgp/ipasn6_20151101.dat", (606_138, 27_693)),
        ("rir/rir-countries.csv", (175_195, 67_839)),
    ],
)
def test_prefixes(shared_data: Path, tmp_path: Path, name: str, rows: tuple[int, int]) -> None:
    """Origins in routing tables, and countries of delegations."""
    is_country = name.startswith("rir")
    column = "country_code" if is_country else "asn"
    path = f"location.{column}" if is_country else "network.asn"
    listed = lines(shared_data / f"{name}.gz")[is_country:]
    table = [re.split("[\t,]", line) for line in listed]
    ranges = [prefix_range(prefix) for prefix, _ in table]
    assert (
        tuple(sum(address_range[2] == family for address_range in ranges) for family in (4, 6))
        == rows
    )
    table = [row for row in table if row[0] not in ("0.0.0.0/0", "::/0")]
    text = f"network,{column}\n" + "".join(f"{prefix},{cell}\n" for prefix, cell in table)
    engine, report = compiled(tmp_path, text)
    assert (report.read, report.rejected.total(), report.rows["duplicate"]) == (len(table), 0, 0)
    trie = pytricia.PyTricia(128)
    for prefix, cell in table:
        country = cell if cell in COUNTRIES else None
        trie[_as_ipv6(prefix)] = country if is_country else int(cell)

    def oracle(address: object) -> Any:
        return trie.get(_as_ipv6(str(address))) or None

    with engine:
        for family in (4, 6) if rows[1] else (4,):
            compare(engine, sampled(ranges, family), oracle, path)


def _as_ipv6(text: str) -> str:
    """An address or prefix for a trie of both families; IPv4 lies apart from all that is IPv6."""
    if ":" in text:
        return text
    address, _, length = text.partition("/")
    return f"fc00::{address}/{96 + int(length)}" if length else f"fc00::{address}"
