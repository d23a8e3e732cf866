"""Text or object to address and back: hand-picked ones, and agreement with ``ipaddress``.

``ipaddress`` accepts one thing that the contract refuses, a scope id behind ``%``; everything else
it judges alike. Mixed notation is by hand.
"""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import InvalidAddressError
from tests.address_texts import INVALID
from tests.internals.contract import (
    BITS,
    EMBEDDED,
    IPV4_MAX,
    IPV6_MAX,
    MAPPED,
    NAT64,
    SIX_TO_FOUR,
    canonical,
    embedded_ipv4,
    parse,
    parse_text,
)
from tests.strategies import ipv4_values, ipv6_values


def judged(text: str) -> tuple[int, int] | None:
    try:
        return parse_text(text)
    except InvalidAddressError:
        return None


def test_invalid_texts() -> None:
    for text in INVALID:
        with pytest.raises(InvalidAddressError) as caught:
            parse(text)
        assert str(caught.value) == "Invalid IP address format"  # never the text
        # The chained errors that the interpreter prints must not hold the text either.
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


@given(ipv4_values, ipv6_values)
def test_address_objects(ipv4: int, ipv6: int) -> None:
    class FakeAddress(ipaddress.IPv4Address):
        """A subclass as applications write them."""

    assert parse(ipaddress.IPv4Address(ipv4)) == parse(FakeAddress(ipv4)) == (4, ipv4)
    assert parse(ipaddress.IPv6Address(ipv6)) == (6, ipv6)


def test_every_character_in_a_group_and_an_octet() -> None:
    """All that Unicode calls numeric, and whole blocks beside."""
    characters = [
        character
        for character in map(chr, range(0x11_0000))
        if character.isnumeric() or character < "\u3000" or "\ud7f0" < character < "\U00010010"
    ]
    for start, digits in (("::", "0123456789abcdefABCDEF"), ("1.2.3.", "0123456789")):
        assert {
            character for character in characters if judged(start + character) is not None
        } == set(digits)


def written(value: int) -> str:
    """Return the IPv6 text of RFC 5952; releases of `ipaddress` differ about mixed notation."""
    for block, prefix in ((MAPPED, "::ffff:"), (NAT64, "64:ff9b::")):
        if value >> 32 == block >> 32:
            return f"{prefix}{ipaddress.IPv4Address(value & IPV4_MAX)}"
    return ipaddress.IPv6Address(value).compressed


@given(ipv6_values | st.builds(int.__or__, st.sampled_from((MAPPED, NAT64)), ipv4_values))
def test_a_text_is_what_ipaddress_writes(value: int) -> None:
    low = value & IPV4_MAX
    for family, number, text in (
        (6, value, written(value)),
        (4, low, str(ipaddress.IPv4Address(low))),
    ):
        assert canonical(family, number) == text
        assert parse_text(text) == (family, number)


def test_every_pattern_of_zero_groups() -> None:
    for pattern in range(256):
        groups = [0xA0 + at if pattern >> at & 1 else 0 for at in range(8)]
        value = sum(group << 16 * at for at, group in enumerate(groups))
        assert canonical(6, value) == written(value)


#: Where an address only looks like one that carries IPv4: compatible, local NAT64, Teredo, ISATAP.
LOOKALIKES = ("::/96", "64:ff9b:1::/48", "2001::/32", "2003::/16", "fe80::5efe:0:0/96")


@given(
    ipv6_values
    | st.builds(int.__or__, st.sampled_from((MAPPED, NAT64)), ipv4_values)
    | st.integers(SIX_TO_FOUR, SIX_TO_FOUR + (1 << 112) - 1)
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
