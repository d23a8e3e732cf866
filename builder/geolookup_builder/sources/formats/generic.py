"""The generic CSV, Parquet and JSON lines: a range as ``network`` or ``first,last``, any fields.

Columns have the names of fields, or their paths in answers. What a file has is checked here,
since Arrow accepts any names. Files with other columns need a mapping in the recipe
(``generic_mapping``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from geolookup.contract.schema import CONTRACT, Schema
from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_networks, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.generic_mapping import (
    DERIVED,
    RANGE_NAMES,
    Columns,
    Punctuation,
    lists_in,
    mapping,
    match_names,
    punctuation,
    use_mapping,
)
from geolookup_builder.sources.reading import arrow_tables, delimited, jsonlines, parquet, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.reader import Batch, Meaning, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import (
    Detection,
    NearMissError,
    Opening,
    begins_object,
)
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.typed_columns import leaves

#: A column of the file by field, or by name of the range.
_ColumnMap = Mapping[str, str]
_Plan = tuple[Layout, Meaning]


@dataclass(frozen=True, slots=True)
class _Request:
    """The options of a source: its punctuation, its columns and the family of integers."""

    punctuation: Punctuation
    mapping: _ColumnMap | None = None
    family: int | None = None
    schema: Schema = CONTRACT

    def select(self, columns: Columns) -> _ColumnMap:
        """Return the columns to read; BuildError if a file does not have them, or has others."""
        if self.mapping is None:
            return match_names(columns, self.schema)
        return use_mapping(columns, self.mapping, self.schema)

    def looked_for(self) -> list[str]:
        """Return the columns that a mapped file is searched for: mapped and declared ones."""
        if self.mapping is None:
            return []
        own = [field for field in self.schema.own if field.source_column not in self.mapping]
        return [*self.mapping.values(), *(field.member for field in own)]

    def plan(self, columns: Columns) -> _Plan:
        """Return how the rows of a file are read, and their meaning."""
        column_of = self.select(columns)
        texts = {column_of[name] for name in RANGE_NAMES if name in column_of}
        fields, lists = set(column_of.values()) - texts, lists_in(column_of, self.schema)
        layout = self.punctuation.layout(columns.names, texts, fields, lists)
        return layout, partial(_meaning, columns=column_of, family=self.family)


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How files are written: the columns of a file, and its rows.

    ``suffixes`` belong to files in archives and folders, ``mapped_suffixes`` where a recipe
    states the columns.
    """

    suffixes: tuple[str, ...]
    mapped_suffixes: tuple[str, ...]
    columns: Callable[[Member, _Request], Columns]
    batches: Callable[[Member, _Request, Columns], Iterator[Batch]]


def _request(spec: SourceSpec) -> _Request:
    marks = punctuation(spec)
    return _Request(marks, mapping(spec, marks), _family(spec), spec.schema)


def _read(spec: SourceSpec, syntax: _Syntax) -> Iterator[SourceTable]:
    request = _request(spec)
    suffixes = syntax.suffixes if request.mapping is None else syntax.mapped_suffixes
    yield _table(spec, syntax, request, members(spec.path, spec.base, suffixes))


def _read_table(spec: SourceSpec) -> Iterator[SourceTable]:
    if "table" not in spec.options:
        raise BuildError(spec.recipe, "source.table is missing", remedy="pass a table")
    member = arrow_tables.member(spec.path, spec.options["table"])
    yield _table(spec, _TABLE, _request(spec), [member])


def _table(
    spec: SourceSpec, syntax: _Syntax, request: _Request, members: list[Member]
) -> SourceTable:
    files = [(member, syntax.columns(member, request)) for member in members]
    # All headers are checked before the first row is read.
    for _, columns in files:
        request.select(columns)
    batches = (batch for member in files for batch in syntax.batches(member[0], request, member[1]))
    note = "" if request.mapping else _note([columns for _, columns in files])
    return SourceTable(spec.name, batches, note)


def _note(files: list[Columns]) -> str:
    names = {name for columns in files for name in columns.names}
    derived = sorted(names & DERIVED)
    return f"{', '.join(derived)} ignored: they follow from other fields" if derived else ""


def _family(spec: SourceSpec) -> int | None:
    family = spec.options.get("family")
    if family not in (None, 4, 6):
        raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
    return family


def _meaning(
    rows: pa.RecordBatch, columns: _ColumnMap, family: int | None
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    fields = {
        ours: rows.column(theirs) for ours, theirs in columns.items() if ours not in RANGE_NAMES
    }
    if "network" in columns:
        return from_networks(rows.column(columns["network"])), fields
    first, last = (rows.column(columns[end]) for end in ("first", "last"))
    return from_pairs(first, last, family), fields


def _csv_columns(member: Member, request: _Request) -> Columns:
    """Return the header, or the positions from 1 if there is none."""
    marks = request.punctuation
    first = cells = delimited.header_names(member, marks.layout(()))
    if not marks.header:
        width = sniffing.sample(member, marks.delimiter).width
        cells = tuple(str(at) for at in range(1, width + 1))
    return Columns(
        member.label,
        cells,
        line=1,
        header=marks.header,
        first="".join(first[:1]),
        delimiter=marks.delimiter,
    )


def _csv_batches(member: Member, request: _Request, columns: Columns) -> Iterator[Batch]:
    return delimited.batches(member, *request.plan(columns))


def _parquet_columns(member: Member, _request: _Request) -> Columns:
    return _columns(member, parquet.schema(member))


def _columns(member: Member, schema: pa.Schema) -> Columns:
    return Columns(member.label, tuple(leaves(schema)), schema=schema)


def _parquet_batches(member: Member, request: _Request, columns: Columns) -> Iterator[Batch]:
    return parquet.batches(member, *request.plan(columns))


def _table_columns(member: Member, _request: _Request) -> Columns:
    return _columns(member, arrow_tables.schema(member))


def _table_batches(member: Member, request: _Request, columns: Columns) -> Iterator[Batch]:
    return arrow_tables.batches(member, *request.plan(columns))


def _json_columns(member: Member, request: _Request) -> Columns:
    return _columns(member, jsonlines.schema(member, request.looked_for()))


def _json_batches(member: Member, request: _Request, columns: Columns) -> Iterator[Batch]:
    """Yield the records; without a mapping, keys that the first records lack are columns too."""
    plan = request.plan(columns)
    if request.mapping is not None:
        return jsonlines.batches(member, *plan)
    return jsonlines.batches(member, *plan, lambda schema: request.plan(_columns(member, schema)))


_CSV = _Syntax((".csv",), (".csv", ".tsv", ".txt"), _csv_columns, _csv_batches)
_PARQUET_SUFFIXES = (".parquet", ".pq")
_PARQUET = _Syntax(_PARQUET_SUFFIXES, _PARQUET_SUFFIXES, _parquet_columns, _parquet_batches)
_TABLE = _Syntax((), (), _table_columns, _table_batches)
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_JSON = _Syntax(_JSON_SUFFIXES, _JSON_SUFFIXES, _json_columns, _json_batches)


def _stated(opening: Opening) -> _Request:
    """Return the request of a recipe; NearMissError if its options have an error."""
    if opening.spec is None:
        return _Request(Punctuation(",", header=True))
    try:
        return _request(opening.spec)
    except BuildError as error:
        raise NearMissError(error.path, error.problem, remedy=error.remedy or "") from error


def _detect_csv(opening: Opening) -> Detection:
    request = _stated(opening)
    return _detection(_csv_columns(opening.start, request), request)


def _detect_parquet(opening: Opening) -> Detection | None:
    member, request = opening.member, _stated(opening)
    if not parquet.begins(member):
        return None
    return _detection(_parquet_columns(member, request), request)


def _detect_json(opening: Opening) -> Detection | None:
    member, request = opening.member, _stated(opening)
    return _detection(_json_columns(member, request), request) if begins_object(member) else None


def _detection(columns: Columns, request: _Request) -> Detection:
    request.select(columns)
    names, more = columns.names[:_SHOWN], len(columns.names) - _SHOWN
    return Detection(f"columns {', '.join(names)}{f' and {more} more' if more > 0 else ''}")


_SHOWN = 8  # columns, in the report
_OPTIONS = frozenset({"family", "columns"})
_CSV_OPTIONS = _OPTIONS | {"delimiter", "header"}
FORMAT = SourceFormat("csv", _CSV_OPTIONS, partial(_read, syntax=_CSV), _detect_csv)
PARQUET = SourceFormat("parquet", _OPTIONS, partial(_read, syntax=_PARQUET), _detect_parquet)
#: A table in memory, the option ``table``; no file is of this format.
TABLE = SourceFormat("table", _OPTIONS | {"table"}, _read_table)
JSON_LINES = SourceFormat("jsonl", _OPTIONS, partial(_read, syntax=_JSON), _detect_json)
