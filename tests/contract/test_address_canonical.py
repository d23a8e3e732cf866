"""Address to text: RFC 5952 as ``ipaddress`` writes it, mixed notation by hand; embedded IPv4."""

from __future__ import annotations

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from geolookup.contract.address import (
    BITS,
    EMBEDDED,
    IPV4_MAX,
    IPV6_MAX,
    MAPPED,
    NAT64,
    SIX_TO_FOUR,
    canonical,
    embedded_ipv4,
    parse_text,
)
from tests.strategies import ipv4_values, ipv6_values


def is_mixed(value: int) -> bool:
    return value >> 32 in (MAPPED >> 32, NAT64 >> 32)


@given(ipv6_values)
def test_ipv6_is_what_ipaddress_writes(value: int) -> None:
    # From Python 3.13 on it writes mapped addresses in mixed notation, before it did not.
    if not is_mixed(value):
        assert canonical(6, value) == ipaddress.IPv6Address(value).compressed


def test_every_pattern_of_zero_groups() -> None:
    for pattern in range(256):
        groups = [0xA0 + at if pattern >> at & 1 else 0 for at in range(8)]
        value = sum(group << 16 * at for at, group in enumerate(groups))
        assert canonical(6, value) == ipaddress.IPv6Address(value).compressed


@given(ipv6_values | st.builds(int.__or__, st.sampled_from((MAPPED, NAT64)), ipv4_values))
def test_ipv6_reads_back(value: int) -> None:
    text = canonical(6, value)
    assert parse_text(text) == (6, value)
    assert text == text.lower()
    assert ("." in text) is is_mixed(value)


@given(ipv4_values)
def test_ipv4_is_what_ipaddress_writes(value: int) -> None:
    assert canonical(4, value) == str(ipaddress.IPv4Address(value))
    assert parse_text(canonical(4, value)) == (4, value)


@given(ipv4_values)
def test_mixed_notation_is_prefix_and_dotted_quad(value: int) -> None:
    assert canonical(6, MAPPED | value) == f"::ffff:{ipaddress.IPv4Address(value)}"
    assert canonical(6, NAT64 | value) == f"64:ff9b::{ipaddress.IPv4Address(value)}"


#: Where an address only looks like one that carries IPv4: compatible, local NAT64, Teredo, ISATAP.
LOOKALIKES = ("::/96", "64:ff9b:1::/48", "2001::/32", "2003::/16", "fe80::5efe:0:0/96")


@given(
    ipv6_values
    | st.builds(int.__or__, st.sampled_from((MAPPED, NAT64)), ipv4_values)
    | st.integers(SIX_TO_FOUR, SIX_TO_FOUR + (1 << 112) - 1)
    | st.sampled_from(LOOKALIKES).map(lambda block: int(ipaddress.IPv6Network(block)[-1]))
)
def test_embedded_agrees_with_ipaddress(value: int) -> None:
    address = ipaddress.IPv6Address(value)
    expected = address.ipv4_mapped or address.sixtofour
    if address in ipaddress.IPv6Network("64:ff9b::/96"):
        expected = ipaddress.IPv4Address(value & IPV4_MAX)
    assert embedded_ipv4(value) == (None if expected is None else int(expected))


def test_edges_of_the_embedded_ranges() -> None:
    assert sorted(EMBEDDED) == list(EMBEDDED)
    for first, last in EMBEDDED:
        assert embedded_ipv4(first) == 0
        assert embedded_ipv4(last) == IPV4_MAX
        assert embedded_ipv4(first - 1) is None
        assert embedded_ipv4(last + 1) is None
    for block in LOOKALIKES:
        network = ipaddress.IPv6Network(block)
        assert embedded_ipv4(int(network[0])) is embedded_ipv4(int(network[-1])) is None, block
    assert canonical(4, (1 << BITS[4]) - 1) == "255.255.255.255"
    assert canonical(6, (1 << BITS[6]) - 1) == ":".join(["ffff"] * 8)
    assert IPV6_MAX == (1 << 128) - 1
