"""Text to address: hand-picked texts, and agreement with ``ipaddress`` wherever it is as strict.

``ipaddress`` accepts one thing that the contract refuses, a scope id behind
``%``; everything else it judges alike.
"""

from __future__ import annotations

import ipaddress
import random

import pytest
from hypothesis import example, given

from geolookup.contract.address import canonical, parse, parse_ipv4, parse_ipv6, parse_text
from geolookup.errors import InvalidAddressError
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.strategies import SEEDS, mutated, texts


def judged(text: str) -> tuple[int, int] | None:
    try:
        return parse_text(text)
    except InvalidAddressError:
        return None


def by_ipaddress(text: str) -> tuple[int, int] | None:
    if "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return address.version, int(address)


def short(text: str) -> str:
    return ascii(text[:40]) + f"({len(text)})"


def test_the_texts_are_many_and_different() -> None:
    together = [*VALID_IPV4, *VALID_IPV6, *INVALID]
    assert len(set(together)) > 300
    assert not set(INVALID) & {*VALID_IPV4, *VALID_IPV6}


@pytest.mark.parametrize("text", VALID_IPV4)
def test_ipv4(text: str) -> None:
    family, value = parse(text)
    assert (family, value) == (4, int(ipaddress.IPv4Address(text)))
    assert canonical(family, value) == text
    assert parse_ipv4(text) == value
    assert parse_ipv6(text) is None


@pytest.mark.parametrize(("text", "expected"), VALID_IPV6.items())
def test_ipv6(text: str, expected: str) -> None:
    family, value = parse(text)
    assert (family, value) == (6, int(ipaddress.IPv6Address(text)))
    assert canonical(family, value) == expected
    assert parse_ipv6(text) == value
    assert parse_ipv4(text) is None


@pytest.mark.parametrize("text", INVALID, ids=short)
def test_invalid(text: str) -> None:
    with pytest.raises(InvalidAddressError) as caught:
        parse(text)
    assert str(caught.value) == "Invalid IP address format"  # never the text
    assert caught.value.args == ("Invalid IP address format",)
    # What the interpreter would print beside it must not hold the text either.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@given(texts)
@example("1.2.3.4\n")
@example("::1%0")
def test_agrees_with_ipaddress(text: str) -> None:
    assert judged(text) == by_ipaddress(text)


def test_agrees_with_ipaddress_on_mutated_texts() -> None:
    rng = random.Random(1)
    mutants = [mutated(rng, rng.choice(SEEDS)) for _ in range(30_000)]
    answers = [judged(text) for text in mutants]
    assert answers == [by_ipaddress(text) for text in mutants]
    # Both kinds are there in number, or nothing was tested.
    assert len(answers) / 10 < answers.count(None) < len(answers) * 0.97


def test_every_octet() -> None:
    for octet in range(-3, 1100):
        good = 0 <= octet <= 255
        assert (judged(f"{octet}.0.0.0") == (4, octet << 24)) is good
        assert (judged(f"0.0.0.{octet}") == (4, octet)) is good
        assert judged(f"0{octet}.0.0.0") is None


#: What could be taken for a digit: all that Unicode calls numeric, and whole blocks beside.
CHARACTERS = [
    character
    for character in map(chr, range(0x11_0000))
    if character.isnumeric() or character < "\u3000" or "\ud7f0" < character < "\U00010010"
]


def test_every_character_in_a_group() -> None:
    found = {each for each in CHARACTERS if judged("::" + each) is not None}
    assert found == set("0123456789abcdefABCDEF")


def test_every_character_in_an_octet() -> None:
    found = {each for each in CHARACTERS if judged("1.2.3." + each) is not None}
    assert found == set("0123456789")
