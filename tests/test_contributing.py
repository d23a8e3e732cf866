"""CONTRIBUTING.md: the worked example is a format that compiles, and the steps name what exists."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from geolookup_builder.sources import FORMATS

import geolookup
from tests.builder.sources.recipes import one, refused
from tests.conftest import ROOT, Build

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = "cidr;iso2;town;zip\n8.8.8.0/24;US;Mountain View;94043\n1.1.1.0/24;AU;-;-\n"


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Register the format of the page as step 2 does; returns its code."""
    ((name, code),) = re.findall(r"^```python (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / name
    path.write_text(code, encoding="utf-8")
    format_ = runpy.run_path(str(path))["FORMAT"]
    monkeypatch.setitem(FORMATS, format_.name, format_)
    return str(code)


@pytest.mark.parametrize("format_", ["acme", "auto"])
def test_the_example_compiles(acme: str, build: Build, tmp_path: Path, format_: str) -> None:
    assert len(acme.splitlines()) <= 70
    dataset, report = build({"ranges.csv": ROWS}, one(format_, "ranges.csv"))
    assert report.sources[0].read == report.sources[0].used == 2
    with geolookup.open(dataset) as engine:
        fields = ("country_code", "city_name", "postal_code")
        found = engine.get_many(["8.8.8.8", "1.1.1.1"], [f"location.{name}" for name in fields])
    assert found == [("US", "Mountain View", "94043"), ("AU", None, None)]
    error = refused(tmp_path, "ranges.csv", "network,country\n", one("acme", "ranges.csv"))
    assert error.remedy == "name its .csv file"


def test_paths_of_the_page_exist() -> None:
    code = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    paths = set(re.findall(r"`([\w./]+/[\w./]*|\w+\.(?:md|toml|py))`|\]\(([\w./]+)\)", code))
    paths = {"".join(each) for each in paths}
    assert len(paths) > 15
    beside = ROOT / "builder" / "geolookup_builder"
    assert [each for each in paths if not any((at / each).exists() for at in (ROOT, beside))] == []
