"""The lists of docs/data/losses.md are made of the losses that tests count, and of their limits.

``python -m tests.docs.test_losses_page`` writes them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from tests.builder.test_losses import LOSSES, Loss
from tests.conftest import ROOT
from tests.docs.blocks import unwrapped
from tests.internals.builder import KINDS, limit_key
from tests.internals.contract import STATED

PAGE = ROOT / "docs" / "data" / "losses.md"


def _table(head: str, rows: Iterable[tuple[str, ...]]) -> tuple[str, str]:
    rule = f"|{'---|' * (head.count('|') - 1)}"
    return head, "\n".join((head, rule, *(f"| {' | '.join(row)} |" for row in rows)))


def _kinds() -> Iterable[tuple[str, ...]]:
    """Yield a row for each kind of loss, with all ways to it; for values of places one more."""
    for word in KINDS:
        losses = [loss for loss in LOSSES if word in (loss.counts or {})]
        if word == "nulled":
            yield f"`{word}`, places", _ways(filter(_is_of_places, losses))
            losses = [loss for loss in losses if not _is_of_places(loss)]
        yield f"`{word}`", _ways(losses)


def _is_of_places(loss: Loss) -> bool:
    nulled = (loss.counts or {})["nulled"]
    return isinstance(nulled, Mapping) and {*nulled} <= {*STATED["location"]}


def _ends() -> tuple[str, str]:
    start = "These put whole columns or files in doubt, so they end every build: "
    text = f"{start}{_ways(loss for loss in LOSSES if loss.error)}."
    return start, textwrap.fill(text, 100)


def _ways(losses: Iterable[Loss]) -> str:
    """Return the ways of losses, those of several examples once."""
    return "; ".join(dict.fromkeys(loss.way for loss in losses))


def lists() -> dict[str, str]:
    """Return the lists by their first words."""
    return dict(
        (
            _table("| line of the report | counts |", _kinds()),
            _ends(),
        )
    )


def _with_lists(page: str) -> str:
    parts = page.split("\n\n")
    for start, text in lists().items():
        (number,) = (number for number, part in enumerate(parts) if part.startswith(start))
        parts[number] = text
    return "\n\n".join(parts)


def test_the_page_has_the_losses_of_the_tests() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == _with_lists(page), "python -m tests.docs.test_losses_page"


def test_the_page_has_the_limits_of_the_counters() -> None:
    page = unwrapped(PAGE.read_text(encoding="utf-8"))
    assert {word for word, kind in KINDS.items() if kind.default} == {"rejected", "nulled"}
    assert {kind.default for kind in KINDS.values()} == {"", "1%"}
    assert "Only `rejected` and `nulled` have a default, `1%`" in page
    assert all(limit_key(word) == f"max_{word.replace(' ', '_')}" for word in KINDS)
    assert "`max_` and the word of the line, such as `max_left_out`" in page


if __name__ == "__main__":
    PAGE.write_text(_with_lists(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
