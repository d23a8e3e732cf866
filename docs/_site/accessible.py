"""What a screen reader needs and the theme leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: After the theme: it renders the navigation at the default of 500.
_LAST = 900


def setup(app: Sphinx) -> dict[str, bool]:
    """Complete each page before it is written."""
    app.connect("html-page-context", _complete, priority=_LAST)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _complete(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Give the headings of the navigation a level."""
    tree: str = context["furo_navigation_tree"]
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
