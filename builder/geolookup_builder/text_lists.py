"""Cells of fields that hold a list of texts.

A cell is a JSON list of texts, as Parquet and JSON lines have it, or texts separated by ``;``.
Items are trimmed, and empty ones are dropped; a list without an item is unknown. Until the tables
are written, a list is its compact JSON text: so equal lists are equal texts.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.arrow_files import without_nulls
from geolookup_builder.fragments import list_texts

#: ``["a","b"]``, compact and without escapes: split without the standard library.
_PLAIN = r'^\["[^"\\]+"(,"[^"\\]+")*\]$'
EMPTY = "[]"  # a list without items
_SEPARATOR, _BETWEEN = ";", '","'
# Typed: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_NO_TEXT, _NOTHING = (pa.scalar(text, pa.string()) for text in (None, ""))


def clean(cells: pa.Array) -> pa.Array:
    """Return the lists of distinct cells as JSON texts, null if invalid."""
    is_json = without_nulls(pc.starts_with(cells, "["), False)
    texts = _write(pc.split_pattern(pc.if_else(is_json, _NO_TEXT, cells), _SEPARATOR))
    if is_json.true_count:
        texts = pc.replace_with_mask(texts, is_json, _write(lists(cells.filter(is_json))))
    return texts


def lists(texts: pa.Array) -> pa.Array:
    """Return the lists that JSON texts hold, null for other texts."""
    is_plain = without_nulls(pc.match_substring_regex(texts, _PLAIN), False)
    inner = pc.utf8_slice_codeunits(pc.if_else(is_plain, texts, _NO_TEXT), 2, -2)
    values = pc.split_pattern(inner, _BETWEEN)
    others = np.flatnonzero(pc.and_not(pc.is_valid(texts), is_plain).to_numpy(zero_copy_only=False))
    if not len(others):
        return values
    parsed = [_items(text) for text in texts.take(pa.array(others)).to_pylist()]
    # Arrow has no replace_with_mask of lists: the lists of both kinds are taken by position.
    at = np.arange(len(texts))
    at[others] = np.arange(len(texts), len(texts) + len(others))
    return pa.concat_arrays([values, pa.array(parsed, values.type)]).take(pa.array(at))


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


def _write(lists: pa.Array) -> pa.Array:
    """Return lists as JSON texts, without blanks around items and without empty ones."""
    # Lists [" a", ""], null, [""]: items 0 and 1 are of row 0, item 2 is of row 2.
    rows = pc.list_parent_indices(lists).to_numpy()
    items = pc.utf8_trim_whitespace(lists.flatten())
    keep = pc.not_equal(items, _NOTHING)
    rows, items = rows[keep.to_numpy(zero_copy_only=False)], items.filter(keep)
    sizes = np.bincount(rows, minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    texts = list_texts(pa.ListArray.from_arrays(pa.array(offsets), items))
    return pc.if_else(lists.is_valid(), texts, _NO_TEXT)
