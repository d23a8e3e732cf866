"""Values as HTML for notebooks: one table with a caption.

Every value is escaped, because the text of a dataset may hold markup. There is no script and no
link. The table takes the colours of the notebook, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.4);padding:.3em .6em;text-align:left"
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;max-width:48em"
_CAPTION = "caption-side:top;color:inherit;font-weight:bold;padding:.3em .6em;text-align:left"


def table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values; None and empty values are left out."""
    body = "".join(_row(name, value) for name, value in rows if value not in (None, ""))
    return (
        f'<table style="{_TABLE}"><caption style="{_CAPTION}">{escape(caption)}</caption>'
        f"<tbody>{body}</tbody></table>"
    )


def _row(name: str, value: object) -> str:
    return (
        f'<tr><th scope="row" style="{_LINE}">{escape(name)}</th>'
        f'<td style="{_LINE}">{escape(str(value))}</td></tr>'
    )


def joined(*values: object, by: str = ", ") -> str:
    """Return the known values as one text."""
    return by.join(str(each) for each in values if each is not None)
