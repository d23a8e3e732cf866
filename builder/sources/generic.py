"""The generic CSV: a header, the range as ``network`` or ``first,last``, any fields.

Strategy: the header is checked here, for Arrow would take any; the rows are
cut by ``delimited``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from builder.errors import BuildError, near_match
from builder.inputs import Member, members
from builder.ranges import ParsedRanges, from_networks, from_pairs
from builder.recipe import SourceSpec
from builder.schema import FIELDS
from builder.sources.delimited import batches, first_record
from builder.sources.layout import Layout
from builder.sources.reader import Format, SourceTable

_RANGE_COLUMNS = (("network",), ("first", "last"))


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    family = _family(spec)
    found = members(spec.path, spec.base, (".csv",))
    yield SourceTable(
        spec.name,
        (
            batch
            for member in found
            for batch in batches(member, _layout(member), partial(_meaning, family=family))
        ),
    )


def _family(spec: SourceSpec) -> int | None:
    family = spec.options.get("family")
    if family not in (None, 4, 6):
        raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
    return family


def _layout(member: Member) -> Layout:
    """Return the layout that the header states; any other header is an error."""
    names, _ = first_record(member, Layout((), frozenset(), frozenset()))
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
    if sorted(ranges) not in [sorted(columns) for columns in _RANGE_COLUMNS]:
        remedy = "name the range as network, or as first and last"
        raise BuildError(member.label, "no range in the header", line=1, remedy=remedy)
    return Layout(tuple(names), frozenset(ranges), frozenset(FIELDS))


def _meaning(
    rows: pa.RecordBatch, family: int | None
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    fields = {name: rows.column(name) for name in rows.schema.names if name in FIELDS}
    if "network" in rows.schema.names:
        return from_networks(rows.column("network")), fields
    return from_pairs(rows.column("first"), rows.column("last"), family), fields


FORMAT = Format("csv", frozenset({"family"}), _read)
