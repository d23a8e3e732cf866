"""The generic CSV, Parquet, JSON lines and tables in memory: a range, and any fields.

Columns have the names of fields: source columns, paths, short names, or names in enriched tables.
``columns`` of a recipe maps what differs. What a file has is checked here, since Arrow accepts any
names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.mapping import RANGE_NAMES, RANGES, not_a_table
from geolookup_builder.sources.formats.generic_header import check_header, ignored, unnamed
from geolookup_builder.sources.reading import arrow_tables, delimited, jsonlines, parquet, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import COMMAS, Planner, Reading, parse_range
from geolookup_builder.sources.reading.products import Header, Product
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, begins_object
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.typed_columns import leaves

_SHOWN = 8  # columns, in the report


class _Request:
    """The options of a source: its columns, its punctuation, and the family of integers."""

    def __init__(self, spec: SourceSpec) -> None:
        if isinstance(spec.options.get("columns"), list):
            raise not_a_table(spec)
        self.planner = Planner(spec)
        self.layout = _punctuation(spec)
        family = spec.options.get("family")
        if family not in (None, 4, 6):
            raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
        parse = partial(parse_range, family=family) if family else None
        self._product = Product("columns", RANGES, {}, parse=parse)

    def plan(self, header: Header) -> Reading:
        """Return how the rows of a file are read; BuildError if its columns do not fit."""
        delimiter = self.layout.delimiter if header.schema is None and self.layout.header else ""
        check_header(header, self.planner, delimiter)
        return self.planner.plan(header, self._product, self.layout)

    def looked_for(self) -> list[str]:
        """Return the columns that a mapped file is searched for: mapped and declared ones."""
        mapping = self.planner.mapping
        own = [
            field for field in self.planner.spec.schema.own if field.source_column not in mapping
        ]
        return [*mapping.values(), *(field.member for field in own)] if mapping else []


def _punctuation(spec: SourceSpec) -> Layout:
    """Return ``delimiter`` and ``header`` of the recipe, checked."""
    delimiter, header = spec.options.get("delimiter", ","), spec.options.get("header", True)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not _can_delimit(delimiter):
        problem = f"source.delimiter cannot be {delimiter!r}"
        raise BuildError(spec.recipe, problem, remedy='write one character, such as ";" or "\\t"')
    if not isinstance(header, bool):
        problem = "source.header is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write header = false")
    if not header and "columns" not in spec.options:
        remedy = "write columns = { network = 1, country_code = 2 }"
        raise BuildError(spec.recipe, "source.header is false without columns", remedy=remedy)
    return replace(COMMAS, header=header, delimiter=delimiter)


def _can_delimit(character: str) -> bool:
    """Return whether cells can be separated by a character: ASCII, in no range and no number."""
    return character.isascii() and not character.isalnum() and character not in '"\r\n\0.:/+-'


def _text_header(member: Member, request: _Request) -> Header:
    """Return the header, or the positions from 1 if there is none."""
    layout = request.layout
    if not layout.header:
        width = sniffing.sample(member, layout.delimiter).width
        return Header(member.label, tuple(str(at) for at in range(1, width + 1)))
    names = delimited.header_names(member, layout)
    return Header(
        member.label, tuple(name or unnamed(at) for at, name in enumerate(names, 1)), line=1
    )


def _typed_header(member: Member, schema: pa.Schema) -> Header:
    return Header(member.label, tuple(leaves(schema)), schema)


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How files are written: whether a file is, its columns, and its rows.

    ``suffixes`` belong to files in archives and folders, ``mapped_suffixes`` where a recipe
    states the columns.
    """

    suffixes: tuple[str, ...]
    mapped_suffixes: tuple[str, ...]
    begins: Callable[[Member], bool]
    header: Callable[[Member, _Request], Header]
    batches: Callable[[Member, _Request, Reading], Iterator[Batch]]


def _json_batches(member: Member, request: _Request, reading: Reading) -> Iterator[Batch]:
    """Yield the records; without a mapping, keys that the first records lack are columns too."""

    def replan(schema: pa.Schema) -> jsonlines.Plan:
        other = request.plan(_typed_header(member, schema))
        return other.layout, other.meaning

    is_mapped = bool(request.planner.mapping)
    return jsonlines.batches(member, reading.layout, reading.meaning, None if is_mapped else replan)


_PARQUET_SUFFIXES, _JSON_SUFFIXES = (".parquet", ".pq"), (".jsonl", ".ndjson", ".json")
_CSV = _Syntax(
    (".csv",),
    (".csv", ".tsv", ".txt"),
    lambda _member: True,
    _text_header,
    lambda member, _, reading: delimited.batches(member, reading.layout, reading.meaning),
)
_PARQUET = _Syntax(
    _PARQUET_SUFFIXES,
    _PARQUET_SUFFIXES,
    parquet.begins,
    lambda member, _: _typed_header(member, parquet.schema(member)),
    lambda member, _, reading: parquet.batches(member, reading.layout, reading.meaning),
)
_JSON = _Syntax(
    _JSON_SUFFIXES,
    _JSON_SUFFIXES,
    begins_object,
    lambda member, request: _typed_header(member, jsonlines.schema(member, request.looked_for())),
    _json_batches,
)
_TABLE = _Syntax(
    (),
    (),
    lambda _member: True,
    lambda member, _: _typed_header(member, arrow_tables.schema(member)),
    lambda member, _, reading: arrow_tables.batches(member, reading.layout, reading.meaning),
)


def _read(spec: SourceSpec, syntax: _Syntax) -> Iterator[SourceTable]:
    request = _Request(spec)
    suffixes = syntax.mapped_suffixes if request.planner.mapping else syntax.suffixes
    yield _table(spec, syntax, request, members(spec.path, spec.base, suffixes))


def _read_table(spec: SourceSpec) -> Iterator[SourceTable]:
    if "table" not in spec.options:
        raise BuildError(spec.recipe, "source.table is missing", remedy="pass a table")
    member = arrow_tables.member(spec.path, spec.options["table"])
    yield _table(spec, _TABLE, _Request(spec), [member])


def _table(
    spec: SourceSpec, syntax: _Syntax, request: _Request, members: list[Member]
) -> SourceTable:
    # All headers are checked before the first row is read.
    headers = [syntax.header(member, request) for member in members]
    files = [(m, request.plan(header)) for m, header in zip(members, headers, strict=True)]
    batches = (batch for member, plan in files for batch in syntax.batches(member, request, plan))
    return SourceTable(spec.name, batches, _note(headers))


def _note(headers: list[Header]) -> str:
    """Return the columns that are not read, by reason."""
    reasons = {name: why for header in headers for name, why in ignored(header.names).items()}
    columns = {why: [n for n in reasons if reasons[n] == why] for why in reasons.values()}
    return "; ".join(f"{', '.join(names)} ignored: {why}" for why, names in columns.items())


def _detect(opening: Opening, syntax: _Syntax) -> Detection | None:
    request = _Request(opening.spec)
    member = opening.start if syntax is _CSV else opening.member
    if not syntax.begins(member):
        return None
    header = syntax.header(member, request)
    reading = request.plan(header)
    names = [name for name in header.names if name not in ignored(header.names)]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    reason = f"columns {', '.join(names[:_SHOWN])}{more}"
    score = sum(name in request.planner.names or name in RANGE_NAMES for name in names)
    return Detection(reason, score=score, meaning=reading.is_same)


_OPTIONS = frozenset({"family", "columns"})
FORMAT = SourceFormat(
    "csv",
    _OPTIONS | {"delimiter", "header"},
    partial(_read, syntax=_CSV),
    partial(_detect, syntax=_CSV),
)
PARQUET = SourceFormat(
    "parquet", _OPTIONS, partial(_read, syntax=_PARQUET), partial(_detect, syntax=_PARQUET)
)
JSON_LINES = SourceFormat(
    "jsonl", _OPTIONS, partial(_read, syntax=_JSON), partial(_detect, syntax=_JSON)
)
#: A table in memory, the option ``table``; no file is of this format.
TABLE = SourceFormat("table", _OPTIONS | {"table"}, _read_table)
