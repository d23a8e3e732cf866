"""Whatever is given for an address: objects of ``ipaddress``, odd text, and what is neither."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given

from geolookup.contract.address import parse
from geolookup.errors import InvalidAddressError
from tests.hostile import NO_ADDRESS, HostileText, LyingText
from tests.strategies import ipv4_values, ipv6_values


@given(ipv4_values, ipv6_values)
def test_address_objects(ipv4: int, ipv6: int) -> None:
    assert parse(ipaddress.IPv4Address(ipv4)) == (4, ipv4)
    assert parse(ipaddress.IPv6Address(ipv6)) == (6, ipv6)


def test_subclass_of_an_address_object() -> None:
    class Named(ipaddress.IPv4Address):
        """A subclass as applications write them."""

    assert parse(Named("8.8.8.8")) == (4, 0x08080808)


@pytest.mark.parametrize("text", ["8.8.8.8", "::ffff:8.8.8.8", "2001:4860:4860::8888"])
def test_text_counts_whatever_its_class_does(text: str) -> None:
    assert parse(HostileText(text)) == parse(text)
    assert parse(LyingText(text)) == parse(text)


@pytest.mark.parametrize("kind", [HostileText, LyingText])
def test_bad_text_of_a_subclass(kind: type[str]) -> None:
    with pytest.raises(InvalidAddressError):
        parse(kind("8.8.8"))


@pytest.mark.parametrize("number", range(len(NO_ADDRESS)))  # pytest would look into the things
def test_no_address(number: int) -> None:
    with pytest.raises(InvalidAddressError):
        parse(NO_ADDRESS[number])
