"""The tables "was, is" of the pages about migration from another library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import geolookup
from geolookup.contract.fields import GROUPS, NAMES
from tests.conftest import ROOT
from tests.skips import needs

#: By name; the hosted API is not a library.
PAGES = {
    path.stem: path
    for path in (ROOT / "docs/use").glob("from-*.md")
    if path.stem != "from-hosted-api"
}
_ROW = re.compile(r"^\| (`.*?) \| (.*?) \|$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def codes(page: str, side: int) -> list[str]:
    """Return the code in one column of the tables "was, is" of a page."""
    text = PAGES[page].read_text(encoding="utf-8")
    tables = re.findall(r"^\| was \| is \|\n(?:\|.*\n)+", text, re.MULTILINE)
    cells = [row[side] for table in tables for row in _ROW.findall(table)]
    assert len(cells) > 10
    return [code for cell in cells for code in _CODE.findall(cell)]


def names(texts: list[str], variable: str) -> Iterator[str]:
    """Yield the attributes of a variable in pieces of code."""
    for code in texts:
        yield from re.findall(rf"(?<![\w.]){variable}\.([a-z]\w*)", code, re.ASCII | re.IGNORECASE)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_replacements_exist(page: str) -> None:
    texts = codes(page, 1)
    engine, package = set(names(texts, "engine")), set(names(texts, "geolookup"))
    assert engine <= {*dir(geolookup.Engine)}
    assert package <= {*dir(geolookup), "compat"}
    fields = [code for code in texts if code.partition(".")[0] in GROUPS and "(" not in code]
    calls = [code for code in texts if code.startswith("engine.get")]
    arguments = re.findall(r'"([\w.]+)"', " ".join(calls))
    assert {*fields, *arguments} <= set(NAMES)
    assert engine
    assert fields or arguments


def _of(page: str, variable: str, module: str, name: str, *arguments: str) -> Any:
    marks = needs(module.partition(".")[0])
    return pytest.param(page, variable, module, name, arguments, marks=marks)


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "variable", "module", "name", "arguments"),
    [
        _of("from-geoip2", "reader", "geoip2.database", "Reader"),
        _of("from-ip2location", "database", "IP2Location", "IP2Location"),
        _of("from-ip2location", "rec", "IP2Location.database", "IP2LocationRecord"),
        _of("from-geoip2fast", "geoip", "geoip2fast", "GeoIP2Fast"),
        _of("from-geoip2fast", "result", "geoip2fast", "GeoIPDetailCity", "8.8.8.8"),
    ],
)
def test_the_replaced_names_exist(
    page: str, variable: str, module: str, name: str, arguments: tuple[str, ...]
) -> None:
    kind = getattr(import_module(module), name)
    replaced = set(names(codes(page, 0), variable))
    assert len(replaced) > 2
    assert replaced <= {*dir(kind(*arguments) if arguments else kind)}
