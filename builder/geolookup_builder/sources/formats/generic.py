"""The generic CSV, Parquet, JSON lines and tables in memory: a range, and any fields.

Columns have the names of fields: source columns, paths, short names, or names in enriched tables.
``columns`` of a recipe maps what differs. What a file has is checked here, since Arrow accepts any
names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import ModuleType

from geolookup.errors import BuildError, listed
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import RANGE_NAMES, RANGES
from geolookup_builder.sources.formats.generic_header import check_header, ignored, unnamed
from geolookup_builder.sources.reading import arrow_tables, delimited, jsonlines, parquet, sniffing
from geolookup_builder.sources.reading.dictionary_columns import OPTION
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import COMMAS, Planner, Reading, parse_range
from geolookup_builder.sources.reading.product_files import file_batches, syntax_of
from geolookup_builder.sources.reading.products import Header, Product, typed_header
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, NearMissError, Opening
from geolookup_builder.sources.reading.text import Layout

_SHOWN = 8  # columns, in the report


class _Request:
    """The options of a source: its columns, its punctuation, and the family of integers."""

    def __init__(self, spec: SourceSpec) -> None:
        self.planner, self.layout = Planner(spec), _punctuation(spec)
        family = spec.options.get("family")
        if family not in (None, 4, 6):
            raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
        parse = partial(parse_range, family=family) if family else None
        self._product = Product("columns", RANGES, {}, parse=parse)

    def plan(self, header: Header) -> Reading:
        """Return how the rows of a file are read; BuildError if its columns do not fit."""
        delimiter = self.layout.delimiter if header.schema is None and self.layout.header else ""
        check_header(header, self.planner, delimiter)
        reading = self.planner.plan(header, self._product, self.layout)
        return replace(reading, replan=self.plan)

    @property
    def json_paths(self) -> list[str]:
        """The mapped and declared keys, which JSON records after the first ones may have."""
        mapping, own = self.planner.mapping, self.planner.spec.schema.own
        declared = (field.member for field in own if field.source_column not in mapping)
        return [*mapping.values(), *declared] if mapping else []


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


def _header(syntax: ModuleType, member: Member, request: _Request) -> Header:
    """Return the columns of a file; positions from 1 if a text has no header."""
    if syntax is jsonlines:
        return typed_header(member.label, jsonlines.schema(member, request.json_paths))
    if syntax is not delimited:
        return typed_header(member.label, syntax.schema(member))
    if not request.layout.header:
        width = sniffing.sample(member, request.layout.delimiter).width
        return Header(member.label, tuple(str(at) for at in range(1, width + 1)))
    names = delimited.header_names(member, request.layout)
    stated = (name or unnamed(at) for at, name in enumerate(names, 1))
    return Header(member.label, tuple(stated), line=1)


def _read(spec: SourceSpec, syntax: ModuleType, suffixes: tuple[str, ...]) -> Iterator[SourceTable]:
    request = _Request(spec)
    # A folder may have texts beside the CSV; if the recipe has columns, they are data too.
    if syntax is delimited and request.planner.mapping:
        suffixes = (*suffixes, ".tsv", ".txt")
    yield _table(syntax, request, members(spec.path, spec.base, suffixes))


def _read_table(spec: SourceSpec) -> Iterator[SourceTable]:
    if "table" not in spec.options:
        raise BuildError(spec.recipe, "source.table is missing", remedy="pass a table")
    member = arrow_tables.member(spec.path, spec.options["table"])
    yield _table(arrow_tables, _Request(spec), [member])


def _table(syntax: ModuleType, request: _Request, files: Sequence[Member]) -> SourceTable:
    # All headers are checked before the first row is read.
    headers = [_header(syntax, member, request) for member in files]
    readings = [request.plan(header) for header in headers]
    batches = chain.from_iterable(map(partial(file_batches, syntax), files, readings))
    reasons = {name: why for header in headers for name, why in ignored(header.names).items()}
    columns = {why: [n for n in reasons if reasons[n] == why] for why in reasons.values()}
    note = "; ".join(f"{', '.join(names)} ignored: {why}" for why, names in columns.items())
    return SourceTable(request.planner.spec.name, batches, note, request.planner.cells.emptied)


def _detect(opening: Opening, syntax: ModuleType) -> Detection | None:
    try:
        request = _Request(opening.spec)
    except BuildError as error:  # of the recipe: no other format has these options
        raise NearMissError(error.path, error.problem, remedy=error.remedy or "") from error
    if syntax_of(opening.member) is not syntax:
        return None
    header = _header(syntax, opening.start if syntax is delimited else opening.member, request)
    reading = request.plan(header)
    names = [name for name in header.names if name not in ignored(header.names)]
    score = sum(name in request.planner.names or name in RANGE_NAMES for name in names)
    return Detection(f"columns {listed(names, _SHOWN)}", score=score, meaning=reading.is_same)


def _format(name: str, syntax: ModuleType, *suffixes: str) -> SourceFormat:
    """Return a format; ``suffixes`` are those of its files in archives and folders."""
    read, detect = partial(_read, syntax=syntax, suffixes=suffixes), partial(_detect, syntax=syntax)
    options = {"delimiter", "header"} if syntax is delimited else set()
    return SourceFormat(name, frozenset({"family", "columns", OPTION, *options}), read, detect)


FORMAT = _format("csv", delimited, ".csv")
PARQUET = _format("parquet", parquet, ".parquet", ".pq")
JSON_LINES = _format("jsonl", jsonlines, ".jsonl", ".ndjson", ".json")
#: A table in memory, the option ``table``; no file is of this format.
TABLE = SourceFormat("table", JSON_LINES.options | {"table"}, _read_table)
