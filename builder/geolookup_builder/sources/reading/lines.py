"""Text whose rows are lines of varying width: each line is one cell, taken apart by a pattern.

Strategy: Arrow cuts the lines, and one regular expression takes them apart in
Arrow's kernels, so that a row with too few or too many cells is still a row.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.reading.layout import Layout

_LINE = "line"
#: Unit separator: no text file holds it, so every line is one cell.
_NEVER = "\x1f"


def layout(*masked: str) -> Layout:
    """Return the layout of lines, without the blank ones and those that begin as ``masked``."""
    starts = "|".join((*masked, r"[ \t]+\r?$"))
    mask = re.compile(rf"(?m)^(?:\xef\xbb\xbf)?(?:{starts})[^\n]*\n?".encode("latin-1"))
    return Layout(
        (_LINE,),
        frozenset({_LINE}),
        frozenset(),
        header=False,
        delimiter=_NEVER,
        quoted=False,
        mask=mask,
    )


def parts(rows: pa.RecordBatch, pattern: str) -> dict[str, pa.Array]:
    """Return the named groups of ``pattern`` in each line; null where it does not match."""
    found = pc.extract_regex(rows.column(_LINE), pattern)
    return {field.name: pc.struct_field(found, field.name) for field in found.type}


def prefixes(addresses: pa.Array, lengths: pa.Array) -> pa.Array:
    """Return prefixes in CIDR text; null where a part is."""
    return pc.binary_join_element_wise(addresses, lengths, pa.scalar("/", addresses.type))
