"""The sources of pages: lines of prose fit a screen, and a reader can read all of them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT

_WIDTH = 100
_EXAMPLE = re.compile(r"^( *)(```+|~~~+).*?^\1\2", re.MULTILINE | re.DOTALL)
#: A line that cannot be broken: a row of a table, a heading, a link, code, one long word.
_WHOLE = re.compile(r" *(?:\||#|!?\[[^\]]*\]\([^)]*\)$|`[^`]*`.?$|(?:[-*] |\d+\. )?\S+$)")


def _pages() -> list[Path]:
    named = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
    return [ROOT / name for name in (*named, "sample_data/README.md")] + sorted(
        (ROOT / "docs").rglob("*.md")
    )


def test_lines_of_prose_are_at_most_100_characters_long() -> None:
    long = []
    for path in _pages():
        text = _EXAMPLE.sub(lambda match: "\n" * match[0].count("\n"), path.read_text("utf-8"))
        long += [
            f"{path.relative_to(ROOT)}:{number}"
            for number, line in enumerate(text.splitlines(), 1)
            if len(line) > _WIDTH and not _WHOLE.match(line)
        ]
    assert long == []


def test_the_pages_have_at_most_44_000_words() -> None:
    """Without the borders of tables; 41,272 before there were own columns."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    words = [word for path in pages for word in path.read_text("utf-8").split()]
    assert len(words) - words.count("|") <= 44_000
