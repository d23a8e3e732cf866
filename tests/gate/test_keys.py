"""API keys as text; plans files: what they may say, and what is said of the others."""

from __future__ import annotations

import re
from base64 import b32decode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import PlansError
from geolookup.gate import Plan, read_plans
from tests.internals.gate import keys

GOOD = keys.make("live")


def test_a_key_says_its_environment_and_holds_160_random_bits() -> None:
    for environment in keys.ENVIRONMENTS:
        form = rf"geo_{environment}_([a-z2-7]{{32}})([0-9a-f]{{8}})"
        match = re.fullmatch(form, keys.make(environment))
        assert match is not None
        assert len(b32decode(match[1].upper())) * 8 == 160
    made = [b32decode(keys.make("live")[9:41].upper()) for _ in range(200)]
    bits = [f"{int.from_bytes(value):0160b}" for value in made]
    assert [set(column) for column in zip(*bits, strict=True)] == [{"0", "1"}] * 160
    digest = keys.digest(GOOD)
    assert digest is not None
    assert len(digest) == 32
    assert digest.hex().startswith(keys.identifier(digest))


@given(st.integers(0, len(GOOD) - 1), st.sampled_from("abcdefghijklmnopqrstuvwxyz234567_0189A"))
def test_one_wrong_character_is_told_without_a_store(position: int, character: str) -> None:
    near = GOOD[:position] + character + GOOD[position + 1 :]
    assert keys.is_well_formed(near) is (near == GOOD)


def test_anything_else_is_no_key() -> None:
    for value in (None, 5, b"geo_live_", ["a"], "k\xe9y", "\udc80"):
        assert keys.digest(value) is None, value
    decorated = (f"{GOOD}\n", f" {GOOD}", f"{GOOD}, {GOOD}", GOOD.upper(), GOOD * 9000)
    for text in ("", *decorated, "k\xe9y", "\udc80", "\0" * 49, f"{GOOD[:-1]}\u0661"):
        assert not keys.is_well_formed(text), text


def test_built_in_plans_and_those_of_a_file(path: Path) -> None:
    plans = read_plans()
    assert plans["free"] == Plan("free", 5, 2000)
    assert plans["paid"].rate >= 25
    assert plans["paid"].limit > 10**15
    with pytest.raises(PlansError, match="cannot be read"):
        read_plans(path)
    path.write_text('[plan.free]\nrate = 1\nquota = 9\n[plan."big one"]\nrate = 101\n', "utf-8")
    plans = read_plans(path)
    assert plans["free"] == Plan("free", 1, 9)
    assert plans["big one"] == Plan("big one", 101, None)
    assert plans["paid"] == read_plans()["paid"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "plans.toml"


def test_what_is_wrong_is_said_in_one_line(path: Path) -> None:
    for content, says in (
        ("[plan.a]", "[plan.a] has no rate"),
        ("[plan.a]\nrate = 0", "rate = 0"),
        ("[plan.a]\nrate = 1000001", "rate = 1000001"),
        ("[plan.a]\nrate = true", "rate = True"),
        ("[plan.a]\nrate = 2.5", "rate = 2.5"),
        ("[plan.a]\nrate = 2\nquota = -1", "quota = -1"),
        ('[plan.a]\nrate = 2\nquota = "9"', "quota = '9'"),
        ("[plan.a]\nrates = 2", "'rates'"),
        ("[plans.a]\nrate = 2", "plans is not expected"),
        ("[plan]\na = 2", "plan.a is not a table"),
        ("plan = 2", "plan is not expected"),
        ("[plan", "not a TOML file"),
        ("\udcff", "not a TOML file"),
    ):
        path.write_bytes(content.encode(errors="surrogateescape"))
        with pytest.raises(PlansError) as wrong:
            read_plans(path)
        assert str(wrong.value).startswith(f"{path}: "), content
        assert says in str(wrong.value).removeprefix(f"{path}: "), content
        assert "\n" not in str(wrong.value), content
