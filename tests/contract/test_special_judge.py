"""Special-purpose space: the table against IANA's registries, the partition against brute force.

The registries are read from their CSV files, whose cells hold footnotes (``False [1]``), two blocks
at a time, and line breaks. ``ipaddress`` and a walk through all rows classify addresses, at
every bound of a row, beside it, and at random.
"""

from __future__ import annotations

import csv
import ipaddress
import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import InvalidAddressError
from tests import address_texts
from tests.internals.contract import (
    BITS,
    CARRIES_IPV4,
    IPV4_REGISTRY,
    IPV6_REGISTRY,
    MAX,
    PRIVATE,
    PUBLIC,
    UNREGISTERED,
    Special,
    classes,
    embedded_ipv4,
    is_private,
    parse,
    parse_block,
    partition,
    ranges_of,
)
from tests.strategies import ipv4_values
from tests.tiers import scaled

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
ROWS = (*IPV4_REGISTRY, *IPV6_REGISTRY, *UNREGISTERED)


@cache
def networks(family: int) -> tuple[tuple[Network, bool], ...]:
    """Return the rows of a family that are in force, and whether each is globally reachable."""
    rows = [(ipaddress.ip_network(row.block), row) for row in ROWS if not row.terminated]
    return tuple((block, row.reachable) for block, row in rows if block.version == family)


def bounds(family: int) -> list[tuple[int, int]]:
    return [(int(block[0]), int(block[-1])) for block, _ in networks(family)]


def slow_kind(family: int, value: int) -> int:
    """The rule as the contract words it: the longest row that is not terminated decides."""
    address = ipaddress.IPv4Address(value) if family == 4 else ipaddress.IPv6Address(value)
    if isinstance(address, ipaddress.IPv6Address):
        nat64 = address in ipaddress.ip_network("64:ff9b::/96")
        if nat64 or address.ipv4_mapped is not None or address.sixtofour is not None:
            return CARRIES_IPV4
    covering = [(block.prefixlen, ok) for block, ok in networks(family) if address in block]
    return PUBLIC if not covering or max(covering)[1] else PRIVATE


def slowly_private(family: int, value: int) -> bool:
    return slow_kind(family, value) == PRIVATE


def kind(family: int, value: int) -> int:
    """Return the kind that the partition gives an address."""
    (actual,) = (item for first, last, item in partition(family) if first <= value <= last)
    return actual


def test_named_addresses() -> None:
    assert [text for text in address_texts.PUBLIC if is_private(*parse(text))] == []
    assert [text for text in address_texts.PRIVATE if not is_private(*parse(text))] == []


@pytest.mark.parametrize("family", [4, 6])
def test_at_every_bound(family: int) -> None:
    octets = {octet << BITS[family] - 8 for octet in range(256)}
    for end in octets.union(*bounds(family)):
        for value in (end - 1, end, end + 1):
            if 0 <= value <= MAX[family]:
                assert is_private(family, value) is slowly_private(family, value), value
                assert kind(family, value) == slow_kind(family, value), value


@pytest.mark.parametrize("family", [4, 6])
def test_anywhere_and_near_the_rows(family: int) -> None:
    """Random addresses seldom meet a /128, those a few bits away from a row's first do."""
    rng = random.Random(family)
    firsts = [first for first, _ in bounds(family)]
    for _ in range(scaled(5_000, 20_000)):
        value = rng.choice(firsts) ^ rng.getrandbits(rng.randrange(BITS[family] + 1))
        assert is_private(family, value) is slowly_private(family, value), value
        assert kind(family, value) == slow_kind(family, value), value


@given(st.sampled_from(("::ffff:", "64:ff9b::")), ipv4_values)
def test_embedded_addresses_are_judged_by_what_they_carry(prefix: str, value: int) -> None:
    """The carried address is judged; the carrier is not private, whatever the registry says."""
    _, carrier = parse(f"{prefix}{value >> 16:x}:{value & 0xFFFF:x}")
    assert embedded_ipv4(carrier) == value
    assert not is_private(6, carrier)
    assert kind(6, carrier) == CARRIES_IPV4


@pytest.mark.parametrize("family", [4, 6])
def test_the_partition_is_whole(family: int) -> None:
    """Sorted, without gaps, and every bound changes the kind; so do its ends by brute force."""
    parts = partition(family)
    assert (parts[0][0], parts[-1][1]) == (0, MAX[family])
    for (_, last, before), (first, _, after) in pairwise(parts):
        assert last + 1 == first
        assert before != after
    for first, last, item in parts:
        assert {slow_kind(family, value) for value in (first, last, (first + last) // 2)} == {item}
    width = 1 << BITS[family] - 8
    for octet, item in enumerate(classes(family)):
        first, last = octet * width, (octet + 1) * width - 1
        inside = {k for begin, end, k in parts if begin <= last and end >= first}
        assert item == (0 if PRIVATE not in inside else 1 if inside == {PRIVATE} else 2)


KINDS: list[tuple[int, ...]] = [
    *((), (PUBLIC,), (PRIVATE,), (PRIVATE, CARRIES_IPV4), (PUBLIC, PRIVATE), (PUBLIC, CARRIES_IPV4))
]


@pytest.mark.parametrize("family", [4, 6])
def test_ranges_of_several_kinds_are_joined(family: int) -> None:
    for kinds in KINDS:
        ranges = ranges_of(family, *kinds)
        for (_, last), (following, _) in pairwise(ranges):
            assert last + 1 < following  # sorted, disjoint and not adjacent
        for first, last, item in partition(family):
            within = [begin <= first and last <= end for begin, end in ranges]
            meeting = [begin <= last and first <= end for begin, end in ranges]
            assert sum(within) == sum(meeting) == (item in kinds), (kinds, first)


TABLES = {4: IPV4_REGISTRY, 6: IPV6_REGISTRY}
#: block, globally reachable, terminated
Row = tuple[str, bool, bool]


def plain(cell: str) -> str:
    """Return a cell without footnotes and line breaks."""
    return " ".join(re.sub(r"\[[0-9]+\]", "", cell).split())


def registry(folder: Path, family: int) -> list[dict[str, str]]:
    path = folder / "iana" / f"iana-ipv{family}-special-registry-1.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def stated(rows: list[dict[str, str]]) -> list[Row]:
    return [
        (
            plain(block),
            plain(row["Globally Reachable"]) == "True",
            plain(row["Termination Date"]) != "N/A",
        )
        for row in rows
        for block in row["Address Block"].split(",")
    ]


def ours(rows: tuple[Special, ...]) -> list[Row]:
    return [(row.block, row.reachable, row.terminated) for row in rows]


@pytest.mark.parametrize("family", [4, 6])
def test_the_table_is_the_registry(shared_data: Path, family: int) -> None:
    """In both directions: every row of either is one of the other, in the same order.

    The document is one that the registry names.
    """
    rows = registry(shared_data, family)
    assert ours(TABLES[family]) == stated(rows)
    named = [
        set(re.findall(r"RFC\d+", row["RFC"]))
        for row in rows
        for _ in row["Address Block"].split(",")
    ]
    for special, documents in zip(TABLES[family], named, strict=True):
        assert special.rfc.replace(" ", "") in documents, special.block


def test_besides_is_what_the_contract_names() -> None:
    assert {row.block: row.rfc for row in UNREGISTERED} == {
        "224.0.0.0/4": "RFC 5771",
        "ff00::/8": "RFC 4291",
        "fec0::/10": "RFC 3879",
        "::/96": "RFC 4291",
    }
    assert not any(row.reachable or row.terminated for row in UNREGISTERED)
    with pytest.raises(InvalidAddressError):
        parse_block("localhost/8")
