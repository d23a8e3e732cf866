"""The generic CSV: a header, the range as ``network`` or ``first,last``, any fields.

The header is checked here, since Arrow accepts any. Files with other column names
need a mapping in the recipe (``generic_mapping``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa

from geolookup.errors import BuildError, near_match
from geolookup_builder.ranges import ParsedRanges, from_networks, from_pairs
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.schema import FIELDS
from geolookup_builder.sources.formats.generic_mapping import (
    RANGES,
    Punctuation,
    mapped_layout,
    mapping,
    punctuation,
)
from geolookup_builder.sources.reading.delimited import batches, first_record
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.reader import Batch, Format, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.text import Layout


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    family, written = _family(spec), punctuation(spec)
    columns = mapping(spec, written)
    suffixes = (".csv",) if columns is None else (".csv", ".tsv", ".txt")
    found = members(spec.path, spec.base, suffixes)
    yield SourceTable(
        spec.name,
        (batch for member in found for batch in _batches(member, written, columns, family)),
    )


def _batches(
    member: Member, written: Punctuation, columns: Mapping[str, str] | None, family: int | None
) -> Iterator[Batch]:
    if columns is None:
        layout = _layout(member, written)
        columns = {name: name for name in layout.names}
    else:
        layout = mapped_layout(member, written, columns)
    return batches(member, layout, partial(_meaning, columns=columns, family=family))


def _family(spec: SourceSpec) -> int | None:
    family = spec.options.get("family")
    if family not in (None, 4, 6):
        raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
    return family


def _layout(member: Member, written: Punctuation) -> Layout:
    """Return the layout that the header states; BuildError for an unknown or repeated column."""
    names, _ = first_record(member, written.layout((), set(), set()))
    known = ("network", "first", "last", *FIELDS)
    for name in names:
        if name not in known:
            shown = name if len(name) < 50 else name[:50] + "…"
            raise BuildError(
                member.label, f"unknown column {shown!r}", line=1, remedy=near_match(name, known)
            )
        if names.count(name) > 1:
            raise BuildError(member.label, f"column {name!r} twice", line=1, remedy="drop one")
    ranges = set(names) - set(FIELDS)
    if sorted(ranges) not in [sorted(columns) for columns in RANGES]:
        remedy = "name the range as network, or as first and last"
        raise BuildError(member.label, "no range in the header", line=1, remedy=remedy)
    return written.layout(tuple(names), ranges, set(FIELDS))


def _meaning(
    rows: pa.RecordBatch, columns: Mapping[str, str], family: int | None
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    fields = {ours: rows.column(theirs) for ours, theirs in columns.items() if ours in FIELDS}
    if "network" in columns:
        return from_networks(rows.column(columns["network"])), fields
    first, last = (rows.column(columns[end]) for end in ("first", "last"))
    return from_pairs(first, last, family), fields


def _detect(opening: Opening) -> Detection:
    names = _layout(opening.start, Punctuation(",", header=True)).names
    return Detection(f"columns {', '.join(names)}")


FORMAT = Format("csv", frozenset({"family", "columns", "delimiter", "header"}), _read, _detect)
