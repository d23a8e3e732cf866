"""Tab-separated text with backslash escapes, as PostgreSQL and ClickHouse read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.files.column_text import cell_texts, joined

#: The backslash first: what the others insert is not escaped again.
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_SPECIAL = r"[\\\t\n\r]"
_BYTES = pa.large_binary()


def joined_cells(columns: list[pa.Array], lists: Callable[[pa.Array], pa.Array]) -> pa.Array:
    r"""Return n rows as texts: escaped cells and tabs; null is ``\N``, lists are ``lists``'."""
    parts: list[Any] = []
    for column in columns:
        texts = lists(column) if pa.types.is_list(column.type) else escaped(cell_texts(column))
        parts += [b"\t", texts.fill_null(b"\\N")]
    return joined(*parts[1:])


def escaped(texts: pa.Array) -> pa.Array:
    """Return texts with backslashes, tabs and line ends escaped."""
    special = pc.fill_null(pc.match_substring_regex(texts, _SPECIAL), False)
    if not pc.any(special).as_py():
        return texts
    chosen = texts.filter(special)
    for character, escape in _ESCAPES.items():
        chosen = pc.replace_substring(chosen, character.encode(), escape.encode())
    return pc.replace_with_mask(texts, special, chosen)


def list_texts(column: pa.Array, begin: str, quote: str, end: str) -> pa.Array:
    """Return lists of texts, each in quotes; a backslash precedes a quote and a backslash."""
    texts = (
        None if each is None else begin + ",".join(_quoted(text, quote) for text in each) + end
        for each in column.to_pylist()
    )
    return pa.array(texts, pa.large_string()).cast(_BYTES)


def _quoted(text: str, quote: str) -> str:
    inner = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{inner}{quote}"
