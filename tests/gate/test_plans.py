"""Plans files: what they may say, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.errors import PlansError
from geolookup.gate import Plan, read_plans
from tests.conftest import ROOT
from tests.docs.blocks import blocks


def test_the_built_in_plans() -> None:
    plans = read_plans()
    assert plans["free"] == Plan("free", 5, 2000)
    assert plans["paid"].rate >= 25
    assert plans["paid"].limit > 10**15


def test_a_file_adds_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text('[plan.free]\nrate = 1\nquota = 9\n[plan."big one"]\nrate = 101\n')
    plans = read_plans(path)
    assert plans["free"] == Plan("free", 1, 9)
    assert plans["big one"] == Plan("big one", 101, None)
    assert [plan.leased for plan in plans.values()] == [False, False, True]
    assert plans["paid"] == read_plans()["paid"]


def test_what_is_wrong_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
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


def test_a_missing_file_and_a_missing_plan(tmp_path: Path) -> None:
    with pytest.raises(PlansError, match="cannot be read"):
        read_plans(tmp_path / "none.toml")
    with pytest.raises(PlansError, match="did you mean 'free'"):
        read_plans().named("fre")


def test_the_plans_file_of_the_page(tmp_path: Path) -> None:
    (shown,) = (block for block in blocks(ROOT / "docs" / "gate.md") if block.kind == "toml")
    path = tmp_path / "plans.toml"
    path.write_text(shown.text, encoding="utf-8")
    plans = read_plans(path)
    assert plans["startup"].quota == 1_000_000
    assert plans["enterprise"].leased
