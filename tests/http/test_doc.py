"""docs/http.md names the statuses and limits that there are."""

from __future__ import annotations

import re

from geolookup.http.answers import OUTCOMES
from geolookup.http.settings import HEAD_LIMIT
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")


def test_every_status_is_in_the_table() -> None:
    said = {int(status) for status in re.findall(r"^\| (\d{3})", PAGE, re.MULTILINE)}
    assert {outcome.status for outcome in OUTCOMES} <= said
    assert f"{HEAD_LIMIT >> 10} KiB" in PAGE
