"""The generic CSV: a header, the range as ``network`` or ``first,last``, any fields.

Strategy: the header is checked here, for Arrow would take any; the rows are
read by Arrow block by block, every field dictionary-encoded, so that no cell
becomes a Python object.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.csv as pacsv

from builder.errors import BuildError, near_match
from builder.inputs import Member, members
from builder.ranges import ParsedRanges, from_networks, from_pairs
from builder.recipe import SourceSpec
from builder.schema import FIELDS
from builder.sources.damage import QuoteCount, arrow_failure, check_quotes
from builder.sources.reader import Batch, Format, RowNumbers, SourceTable

BLOCK_BYTES = 16 << 20
_LONGEST_HEADER = 1 << 16  # characters; the standard reader stops at twice as many
_RANGE_COLUMNS = (("network",), ("first", "last"))
_ENCODED = pa.dictionary(pa.int32(), pa.string())


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    family = _family(spec)
    found = members(spec.path, spec.base, (".csv",))
    yield SourceTable(
        spec.name, (batch for member in found for batch in _batches(member, spec, family))
    )


def _family(spec: SourceSpec) -> int | None:
    family = spec.options.get("family")
    if family not in (None, 4, 6):
        raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
    return family


def _batches(member: Member, spec: SourceSpec, family: int | None) -> Iterator[Batch]:
    names, more = _header(member)
    numbers = RowNumbers(member)
    if more:
        yield from _rows(member, names, spec, family, numbers)
    if not numbers.delivered:  # so that the rows that were skipped are known of
        yield Batch(numbers, 0, from_networks(pa.array([], pa.large_string())), {})


def _rows(
    member: Member, names: list[str], spec: SourceSpec, family: int | None, numbers: RowNumbers
) -> Iterator[Batch]:
    with member.open() as stream:
        counted, reader = QuoteCount(stream), None
        try:
            reader = _open(counted, names, numbers)
            for rows in reader:
                yield _batch(rows, spec, family, numbers)
                numbers.delivered += len(rows)
        except pa.ArrowInvalid as error:
            raise arrow_failure(member, error) from error
        finally:
            if reader is not None:
                reader.close()
    check_quotes(member, counted.count)


def _header(member: Member) -> tuple[list[str], bool]:
    """Return the column names, and whether more follows; any other header is an error."""
    with member.open() as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        line = text.readline(_LONGEST_HEADER)
        text.detach()
    names = next(csv.reader([line]), [])
    known = ("network", "first", "last", *FIELDS)
    for name in names:
        if name not in known:
            shown = name if len(name) < 50 else name[:50] + "…"
            raise BuildError(
                member.label, f"unknown column {shown!r}", line=1, remedy=near_match(name, known)
            )
        if names.count(name) > 1:
            raise BuildError(member.label, f"column {name!r} twice", line=1, remedy="drop one")
    if sorted(set(names) - set(FIELDS)) not in [sorted(columns) for columns in _RANGE_COLUMNS]:
        remedy = "name the range as network, or as first and last"
        raise BuildError(member.label, "no range in the header", line=1, remedy=remedy)
    return names, line.endswith(("\r", "\n"))


def _open(stream: object, names: list[str], numbers: RowNumbers) -> pacsv.CSVStreamingReader:
    def skip(row: pacsv.InvalidRow) -> str:
        numbers.skipped.append(row.number - 1)  # Arrow counts the header as row 1
        return "skip"

    types = {name: _ENCODED if name in FIELDS else pa.large_string() for name in names}
    return pacsv.open_csv(
        stream,
        pacsv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
        pacsv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        pacsv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
    )


def _batch(
    rows: pa.RecordBatch, spec: SourceSpec, family: int | None, numbers: RowNumbers
) -> Batch:
    fields = {
        name: rows.column(name)
        for name in rows.schema.names
        if name in FIELDS and name in spec.provides
    }
    return Batch(numbers, numbers.delivered, _ranges(rows, family), fields)


def _ranges(rows: pa.RecordBatch, family: int | None) -> ParsedRanges:
    if "network" in rows.schema.names:
        return from_networks(rows.column("network"))
    return from_pairs(rows.column("first"), rows.column("last"), family)


FORMAT = Format("csv", frozenset({"family"}), _read)
