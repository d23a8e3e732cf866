"""The list of fields: every path once, and the table of the contract's page."""

from __future__ import annotations

import re

import pytest

import geolookup
from geolookup.contract.fields import FIELDS, GROUPS, PATHS
from tests.conftest import ROOT

_ROW = re.compile(r"^\| `([a-z0-9_.]+)` \| (\w+) \| (.*?) ?\| (.*) \|$", re.MULTILINE)


def test_every_path_is_listed_after_its_group() -> None:
    listed: list[str] = [each.path for each in geolookup.fields()]
    assert sorted(listed) == sorted(PATHS)
    assert [path for path in listed if path not in GROUPS] == [field.path for field in FIELDS]
    for group in GROUPS:
        members = [path for path in listed if path.startswith(f"{group}.")]
        at = listed.index(group) + 1
        assert listed[at : at + len(members)] == members


def test_the_page_has_the_same_table() -> None:
    page = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    assert _ROW.findall(page) == [tuple(each) for each in geolookup.fields()]


def test_each_value_is_of_its_type(sample: geolookup.Engine) -> None:
    kinds = {
        "string": str,
        "strings": list,
        "number": float | int,
        "integer": int,
        "boolean": bool,
        "object": dict,
    }
    for each in geolookup.fields():
        for address in ("8.8.8.8", "2001:4860:4860::8888"):
            value = sample.get(address, each.path, at=0)
            assert value is None or isinstance(value, kinds[each.type]), each.path


@pytest.mark.parametrize("each", geolookup.fields(), ids=lambda each: each.path)
def test_a_meaning_is_one_line(each: geolookup.FieldInfo) -> None:
    assert each.meaning
    assert "\n" not in each.meaning
    assert "|" not in each.meaning
