"""docs/tables/files.md names the formats that there are."""

from __future__ import annotations

import re

from geolookup.files.formats import FORMATS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "tables" / "files.md").read_text(encoding="utf-8")


def test_every_format_is_named() -> None:
    table = [line for line in PAGE.splitlines() if line.startswith("| `")]
    names = {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    suffixes = {each for line in table for each in re.findall(r"`(\.\w+)`", line.split("|")[2])}
    assert names == set(FORMATS)
    assert suffixes == {suffix for each in FORMATS.values() for suffix in each.suffixes}
