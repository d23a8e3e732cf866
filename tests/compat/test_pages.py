"""The tables "was, is" of the pages about migration from another library."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import geolookup
from geolookup.contract.fields import GROUPS, NAMES
from tests.conftest import ROOT

#: By name; the hosted API is not a library.
PAGES = {
    path.stem: path
    for path in (ROOT / "docs/use").glob("from-*.md")
    if path.stem != "from-hosted-api"
}
_ROW = re.compile(r"^\| `.*? \| (.*?) \|$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def replacements(page: str) -> list[str]:
    """Return the code in the second column of the tables "was, is" of a page."""
    text = PAGES[page].read_text(encoding="utf-8")
    tables = re.findall(r"^\| was \| is \|\n(?:\|.*\n)+", text, re.MULTILINE)
    cells = [row for table in tables for row in _ROW.findall(table)]
    assert len(cells) > 10
    return [code for cell in cells for code in _CODE.findall(cell)]


def names(texts: list[str], variable: str) -> Iterator[str]:
    """Yield the attributes of a variable in pieces of code."""
    for code in texts:
        yield from re.findall(rf"(?<![\w.]){variable}\.([a-z]\w*)", code, re.ASCII | re.IGNORECASE)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_replacements_exist(page: str) -> None:
    texts = replacements(page)
    engine, package = set(names(texts, "engine")), set(names(texts, "geolookup"))
    assert engine <= {*dir(geolookup.Engine)}
    assert package <= {*dir(geolookup), "compat"}
    fields = [code for code in texts if code.partition(".")[0] in GROUPS and "(" not in code]
    calls = [code for code in texts if code.startswith("engine.get")]
    arguments = re.findall(r'"([\w.]+)"', " ".join(calls))
    assert {*fields, *arguments} <= set(NAMES)
    assert engine
    assert fields or arguments
