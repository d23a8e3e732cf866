"""docs/terminal.svg shows what the commands of its script print today."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.skips import needs, optional

pytestmark = needs("fcntl")  # pseudo-terminals are POSIX
terminal = optional("docs.terminal")
#: What differs from run to run: a local time and a duration.
_VARYING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d P[DS]T|in \d+\.\d s")


def _alike(text: str) -> str:
    return _VARYING.sub("…", text)


@pytest.mark.long
def test_the_picture_shows_what_the_commands_print() -> None:
    steps = terminal.record()
    assert _alike(terminal.svg(steps)) == _alike(terminal.PICTURE.read_text(encoding="utf-8"))
    assert max(map(len, terminal.shown(steps))) <= terminal.COLUMNS


def test_the_picture_has_a_description_and_stands_still_where_that_is_wanted() -> None:
    text = terminal.PICTURE.read_text(encoding="utf-8")
    described = text.partition("<desc")[2].partition("</desc>")[0]
    assert all(f"$ {command}" in described for command in terminal.SESSION)
    moving = text.partition("@media (prefers-reduced-motion: no-preference) {")[2]
    assert "animation:" not in text.replace(moving, "")
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert re.search(r"!\[[^\]]{40,}\]", page.read_text(encoding="utf-8")), page
