"""Text or object to address: hand-picked ones, and agreement with ``ipaddress`` where it is strict.

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
from tests.address_texts import EVERY, INVALID, VALID_IPV4, VALID_IPV6, by_ipaddress
from tests.hostile import NO_ADDRESS, HostileText, LyingText
from tests.strategies import SEEDS, ipv4_values, ipv6_values, mutated, texts
from tests.tiers import scaled


def judged(text: str) -> tuple[int, int] | None:
    try:
        return parse_text(text)
    except InvalidAddressError:
        return None


def test_valid_texts() -> None:
    texts = dict(zip(VALID_IPV4, VALID_IPV4, strict=True)) | VALID_IPV6
    for text, written in texts.items():
        value = int(ipaddress.ip_address(text))
        family = 6 if text in VALID_IPV6 else 4
        assert parse(text) == (family, value), text
        assert canonical(family, value) == written
        assert (parse_ipv4(text), parse_ipv6(text)) == (
            (value, None) if family == 4 else (None, value)
        )


def test_invalid_texts() -> None:
    for text in INVALID:
        with pytest.raises(InvalidAddressError) as caught:
            parse(text)
        assert str(caught.value) == "Invalid IP address format"  # never the text
        assert caught.value.args == ("Invalid IP address format",)
        # What the interpreter would print beside it must not hold the text either.
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_every_text_agrees_with_ipaddress() -> None:
    assert {text: judged(text) for text in EVERY} == {text: by_ipaddress(text) for text in EVERY}


@given(ipv4_values, ipv6_values)
def test_address_objects(ipv4: int, ipv6: int) -> None:
    class Named(ipaddress.IPv4Address):
        """A subclass as applications write them."""

    assert parse(ipaddress.IPv4Address(ipv4)) == parse(Named(ipv4)) == (4, ipv4)
    assert parse(ipaddress.IPv6Address(ipv6)) == (6, ipv6)


@pytest.mark.parametrize("kind", [HostileText, LyingText])
def test_text_counts_whatever_its_class_does(kind: type[str]) -> None:
    for text in ("8.8.8.8", "::ffff:8.8.8.8", "2001:4860:4860::8888"):
        assert parse(kind(text)) == parse(text)
    with pytest.raises(InvalidAddressError):
        parse(kind("8.8.8"))


def test_no_address() -> None:
    for thing in NO_ADDRESS:
        with pytest.raises(InvalidAddressError):
            parse(thing)


@given(texts)
@example("1.2.3.4\n")
@example("::1%0")
def test_agrees_with_ipaddress(text: str) -> None:
    assert judged(text) == by_ipaddress(text)


def test_agrees_with_ipaddress_on_mutated_texts() -> None:
    rng = random.Random(1)
    mutants = [mutated(rng, rng.choice(SEEDS)) for _ in range(scaled(10_000, 100_000))]
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


def test_every_character_in_a_group_and_an_octet() -> None:
    for start, digits in (("::", "0123456789abcdefABCDEF"), ("1.2.3.", "0123456789")):
        assert {each for each in CHARACTERS if judged(start + each) is not None} == set(digits)
