"""API keys as text."""

from __future__ import annotations

import re
from base64 import b32decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.gate import keys

GOOD = keys.make("live")


@pytest.mark.parametrize("environment", keys.ENVIRONMENTS)
def test_a_key_says_its_environment_and_holds_160_random_bits(environment: str) -> None:
    key = keys.make(environment)
    found = re.fullmatch(rf"geo_{environment}_([a-z2-7]{{32}})([0-9a-f]{{8}})", key)
    assert found is not None
    assert len(b32decode(found[1].upper())) * 8 == 160


def test_keys_differ_in_every_random_bit() -> None:
    made = [b32decode(keys.make("live")[9:41].upper()) for _ in range(200)]
    ones = zeros = 0
    for value in made:
        ones |= int.from_bytes(value, "big")
        zeros |= ~int.from_bytes(value, "big")
    everything = (1 << 160) - 1
    assert ones == everything
    assert zeros & everything == everything


def test_a_good_key_has_a_digest_that_names_it() -> None:
    digest = keys.digest(GOOD)
    assert digest is not None
    assert len(digest) == 32
    assert digest.hex().startswith(keys.identifier(digest))


@given(st.integers(0, len(GOOD) - 1), st.sampled_from("abcdefghijklmnopqrstuvwxyz234567_0189A"))
def test_one_wrong_character_is_told_without_a_store(place: int, character: str) -> None:
    near = GOOD[:place] + character + GOOD[place + 1 :]
    assert keys.well_formed(near) is (near == GOOD)


@given(st.one_of(st.text(), st.none(), st.integers(), st.binary(), st.just(["a"])))
def test_anything_else_is_no_key(value: object) -> None:
    assert (keys.digest(value) is not None) is (isinstance(value, str) and value.isascii())
    assert not (isinstance(value, str) and keys.well_formed(value))


def test_empty_repeated_or_decorated_is_no_key() -> None:
    decorated = (f"{GOOD}\n", f" {GOOD}", f"{GOOD}, {GOOD}", GOOD.upper(), GOOD * 9000)
    for value in ("", *decorated, "\udc80", "\0" * 49):
        assert not keys.well_formed(value), value
