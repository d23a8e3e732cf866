"""Cells of fields that hold a list of texts.

A cell is a JSON list of texts, as Parquet and JSON lines have it, or texts separated by ``;``.
Items are trimmed, and empty ones are dropped; a list without an item is unknown. Until the tables
are written, a list is its compact JSON text: so equal lists are equal texts.
"""

from __future__ import annotations

import json

import pyarrow as pa

EMPTY = "[]"  # a list without items


def clean(cells: pa.Array) -> pa.Array:
    """Return the lists of distinct cells as JSON texts, null if invalid."""
    return pa.array(map(_compact, cells.to_pylist()), pa.string())


def _compact(cell: str | None) -> str | None:
    if cell is None:
        return None
    items = _items(cell) if cell.startswith("[") else cell.split(";")
    if items is None:
        return None
    known = [item for item in map(str.strip, items) if item]
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


def lists(texts: pa.Array) -> pa.Array:
    """Return the lists that JSON texts hold."""
    return pa.array(
        (text and json.loads(text) for text in texts.to_pylist()), pa.list_(pa.string())
    )


def _items(text: str) -> list[str] | None:
    """Return the texts and numbers of a JSON list; None for any other text."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or any(isinstance(value, list | dict) for value in values):
        return None
    known = (value for value in values if value is not None)
    items = [value if isinstance(value, str) else json.dumps(value) for value in known]
    return items if all(map(is_text, items)) else None


def is_text(text: str) -> bool:
    """Return whether a string of JSON has no lone surrogate: no column can hold one."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
