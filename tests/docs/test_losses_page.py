"""The table of docs/data/losses.md is made of the losses that tests count, and of their limits.

``python -m tests.docs.test_losses_page`` writes it.
"""

from __future__ import annotations

from tests.builder.test_losses import LOSSES
from tests.conftest import ROOT
from tests.internals.builder import KINDS, limit_key

PAGE = ROOT / "docs" / "data" / "losses.md"
_HEAD = "| line of the report | lost are | limit | default |\n|---|---|---|---|\n"


def table() -> str:
    """Return the table of the page: a row for each kind of loss, with all ways to it."""
    rows = []
    for word, kind in KINDS.items():
        ways = [loss.way for loss in LOSSES if word in (loss.counts or {})]
        default = str(kind.default).strip('"') if kind.default else "none"
        rows.append(f"| `{word}` | {'; '.join(ways)} | `{limit_key(word)}` | {default} |\n")
    return _HEAD + "".join(rows)


def _with_table(page: str) -> str:
    before, head, after = page.partition(_HEAD)
    _, end, after = after.partition("\n\n")
    assert head
    assert end
    return f"{before}{table()}\n{after}"


def test_the_page_has_the_losses_of_the_tests() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == _with_table(page), "python -m tests.docs.test_losses_page"


if __name__ == "__main__":
    PAGE.write_text(_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
