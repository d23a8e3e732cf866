"""The generic CSV, Parquet, JSON lines and tables in memory: a range, and any fields.

Columns have the names of fields: source columns, paths, short names, or names in enriched tables.
``columns`` of a recipe maps what differs. Without it a file must not have columns that nobody
reads: the error proposes the ``columns`` that would read the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

from geolookup.contract.fields import BY_SOURCE_COLUMN, FIELDS, GROUPS, NAMES, OWN_PREFIX
from geolookup.errors import BuildError, listed, near_match
from geolookup_builder.recipe.document import SourceSpec, toml_text
from geolookup_builder.recipe.names import RANGE_NAMES, RANGES, near_column
from geolookup_builder.sources.reading import arrow_tables, delimited, jsonlines, parquet, sniffing
from geolookup_builder.sources.reading.dictionary_columns import OPTION
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import COMMAS, Planner, Reading, parse_range
from geolookup_builder.sources.reading.product_files import syntax_of
from geolookup_builder.sources.reading.products import FIELD_OF, Header, Product, typed_header
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import DELIMITERS, Detection, NearMissError, Opening
from geolookup_builder.sources.reading.text import Layout, encoding_option, transcode

#: The names of fields whose values no source states: they follow from others.
_DERIVED = frozenset(
    {name for name, path in NAMES.items() if path not in GROUPS}
    | {name for field in FIELDS for name in (field.path, field.name)}
).difference(FIELD_OF)
#: The row labels of pandas: in its CSV, in a CSV that it read again, and in Arrow tables.
_INDEX = re.compile(r"|Unnamed: 0|__index_level_[0-9]+__")
#: Names of ranges in files of other products.
_RANGE_WORDS = {
    word: end
    for end, words in {
        "network": "cidr prefix subnet netblock ip_prefix ip_range ip_network ip ip_address",
        "netmask": "mask subnet_mask",
        "first": "start_ip ip_start start ip_from range_start first_ip start_address from_ip",
        "last": "end_ip ip_end end ip_to range_end last_ip end_address to_ip",
    }.items()
    for word in words.split()
}
#: ASCII, in no range and no number.
_DELIMITER = re.compile(r'(?![\w"\r\n\0.:/+-])[\0-\x7f]|_')
_MAPPING = 290  # characters of a suggested mapping
_NAME_SHOWN = 50  # characters of a column name, in messages
_LISTED = 5  # unknown columns, in messages
#: A column name: words, not an address, a number or a text of a document.
_NAME = re.compile(r"[A-Za-z_][\w .-]{0,49}")
_SHOWN = 8  # columns, in the report


class _Request:
    """The options of a source: its columns, its punctuation, and the family of integers."""

    def __init__(self, spec: SourceSpec) -> None:
        self.planner, self.layout = Planner(spec), _punctuation(spec)
        self.encoding = encoding_option(spec)
        family = spec.options.get("family")
        if family not in (None, 4, 6):
            raise BuildError(spec.recipe, f"source.family is {family!r}", remedy="write 4 or 6")
        parse = partial(parse_range, family=family) if family else None
        self._product = Product("columns", RANGES, {}, parse=parse)

    def plan(self, header: Header) -> Reading:
        """Return how the rows of a file are read; BuildError if its columns do not fit."""
        delimiter = self.layout.delimiter if header.schema is None and self.layout.header else ""
        _check_header(header, self.planner, delimiter)
        reading = self.planner.plan(header, self._product, self.layout)
        return replace(reading, replan=self.plan)


def _punctuation(spec: SourceSpec) -> Layout:
    """Return ``delimiter`` and ``header`` of the recipe, checked."""
    delimiter, header = spec.options.get("delimiter", ","), spec.options.get("header", True)
    if not isinstance(delimiter, str) or not _DELIMITER.fullmatch(delimiter):
        problem = f"source.delimiter cannot be {delimiter!r}"
        raise BuildError(spec.recipe, problem, remedy='write one character, such as ";" or "\\t"')
    if not isinstance(header, bool):
        problem = "source.header is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write header = false")
    if not header and "columns" not in spec.options:
        remedy = "write columns = { network = 1, country_code = 2 }"
        raise BuildError(spec.recipe, "source.header is false without columns", remedy=remedy)
    not_utf8 = 'state its encoding in a recipe, such as encoding = "cp1252"'
    return replace(COMMAS, header=header, delimiter=delimiter, not_utf8=not_utf8)


def _header(syntax: ModuleType, member: Member, request: _Request) -> Header:
    """Return the columns of a file; positions from 1 if a text has no header."""
    if syntax is not delimited:
        mapping, own = request.planner.mapping, request.planner.spec.schema.own
        if syntax is not jsonlines or not mapping:
            return typed_header(member.label, syntax.schema(member))
        # Records after the first ones may have mapped and declared keys too.
        declared = (field.member for field in own if field.source_column not in mapping)
        return typed_header(member.label, syntax.schema(member, [*mapping.values(), *declared]))
    if not request.layout.header:
        width = sniffing.sample(member, request.layout.delimiter).width
        return Header(member.label, tuple(str(at) for at in range(1, width + 1)))
    names = delimited.header_names(member, request.layout)
    stated = (name or _unnamed(at) for at, name in enumerate(names, 1))
    return Header(member.label, tuple(stated), line=1)


def _unnamed(at: int) -> str:
    """Return the label of a column without a name."""
    return f"(column {at})"


def _ignored(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of a header that are not read, each with the reason."""
    reasons = {name: "follow from other fields" for name in names if name in _DERIVED}
    last = _unnamed(len(names))
    if names[-1:] == (last,) and len(names) > 1:
        reasons[last] = "without a name: the header ends in a delimiter"
    for name in names:
        if _INDEX.fullmatch(name) or name == _unnamed(1):
            reasons[name] = "the index of a frame of pandas"
    return reasons


def _check_header(header: Header, planner: Planner, delimiter: str = "") -> None:
    """Raise BuildError for a header that does not fit the recipe.

    ``delimiter`` separates the cells of a text file with a header.
    """
    found = next(_problems(header, planner), None)
    if found is None:
        return
    problem, remedy, options = found
    if other := _other_delimiter(header, delimiter):
        problem, options = f"the delimiter is {other!r}", {"delimiter": other}
        remedy = f"add delimiter = {toml_text(other)} to the source in a recipe"
    elif header.line and not (len(header.names) > 1 and all(map(_NAME.fullmatch, header.names))):
        # Rows without a header, or a document.
        raise BuildError(header.label, problem, line=header.line, remedy=remedy)
    known = {FIELD_OF.get(name, name) for name in header.names} & {*RANGE_NAMES, *BY_SOURCE_COLUMN}
    error = NearMissError(header.label, problem, line=header.line, remedy=remedy, score=len(known))
    error.options = options
    raise error


def _other_delimiter(header: Header, delimiter: str) -> str | None:
    """Return the most frequent delimiter of a first line that was read as one cell."""
    if not delimiter or len(header.names) != 1:
        return None
    other = max(DELIMITERS.replace(delimiter, ""), key=header.names[0].count)
    names = header.names[0].split(other)
    return other if len(names) > 1 and all(_NAME.fullmatch(n.strip()) for n in names) else None


#: A problem of a header, its remedy, and the options of a recipe that would read the file.
_Problem = tuple[str, str, Mapping[str, Any]]


def _problems(header: Header, planner: Planner) -> Iterator[_Problem]:
    """Yield absent columns, repeated ones, fields by two names, then unknown columns."""
    names, mapped = header.names, {*planner.mapping.values()}
    for name in planner.mapping.values():
        if name not in header:
            remedy = near_match(name, [other[:_NAME_SHOWN] for other in names])
            if name.isdigit() and header.line is None:
                remedy = f"correct columns: there are {len(names)}"
            yield f"no column {name!r}", remedy, {}
    counts, former = Counter(names), dict[str, str]()
    read = {*RANGE_NAMES, *planner.names, *mapped} if mapped else counts
    for name in names:
        if counts[name] > 1 and name in read:
            yield f"column {name!r} twice", "drop one", {}
    for name in names:
        field = planner.names.get(name, "")
        is_free = field and field not in planner.mapping and name not in mapped
        if is_free and (other := former.setdefault(field, name)) != name:
            yield f"columns {other!r} and {name!r} are the same field", "drop one", {}
    if not mapped:
        yield from _unknown(header, planner)


def _unknown(header: Header, planner: Planner) -> Iterator[_Problem]:
    """Yield the problems of names that are neither fields nor parts of a range."""
    field_of = {**dict(zip(RANGE_NAMES, RANGE_NAMES, strict=True)), **planner.names}
    unread = _ignored(header.names)  # once: a JSON object may have 100,000 members
    stated = [name for name in header.names if name not in unread]
    if unknown := [name for name in stated if name not in field_of]:
        names = [
            repr(name if len(name) < _NAME_SHOWN else name[:_NAME_SHOWN] + "…") for name in unknown
        ]
        problem = f"unknown column{'s' if len(names) > 1 else ''} {listed(names, _LISTED)}"
        mapping = _mapping(stated, field_of)
        columns = toml_text(mapping) if mapping else "{ … }"
        columns = columns if len(columns) <= _MAPPING else "{ … }"
        remedy = f"map what is to be read, columns = {columns}, or declare own ones in [columns]"
        remedy = f"in a recipe, {remedy}"
        if mapping:
            yield problem, remedy, {"columns": mapping}
        # Short names are like many words.
        words = [*RANGE_NAMES, *BY_SOURCE_COLUMN, *(n for n in field_of if n not in FIELD_OF)]
        near = (near_match(name, words, fallback="") for name in unknown[:_LISTED])
        yield problem, f"{next(filter(None, near), '')} {remedy}".lstrip(), {}
    if tuple(name for name in RANGE_NAMES if name in stated) not in RANGES:
        where = "the header" if header.schema is None else "its columns"
        remedy = (
            "name the range as network, or as first and last "
            "(or map columns of any name in [source.columns] of a recipe)"
        )
        yield f"no range in {where}", remedy, {}


def _mapping(stated: Sequence[str], field_of: Mapping[str, str]) -> dict[str, str]:
    """Return the ``columns`` of a recipe for the known names of a file, also of other products.

    They are empty if the known names are not a range and at least one field.
    """
    by_field = {}
    for name in stated:
        meaning = field_of.get(name)
        if meaning is None and _NAME.fullmatch(name):
            # "Start IP" and "range.start_ip".
            word = name.casefold().replace(" ", "_").rpartition(".")[2]
            meaning = _RANGE_WORDS.get(word) or near_column(name)
        if meaning:  # own.site_id is site_id in a recipe
            by_field[meaning.removeprefix(OWN_PREFIX)] = name
    ends = tuple(name for name in RANGE_NAMES if name in by_field)
    return by_field if ends in RANGES and len(by_field) > len(ends) else {}


def _read(spec: SourceSpec, syntax: ModuleType, suffixes: tuple[str, ...]) -> Iterator[SourceTable]:
    request = _Request(spec)
    # A folder may have texts beside the CSV; if the recipe has columns, they are data too.
    if syntax is delimited and request.planner.mapping:
        suffixes = (*suffixes, ".tsv", ".txt")
    files = members(spec.path, spec.base, suffixes)
    if request.encoding:
        files = [transcode(member, request.encoding) for member in files]
    yield from _tables(syntax, request, files)


def _read_table(spec: SourceSpec) -> Iterator[SourceTable]:
    if "table" not in spec.options:
        raise BuildError(spec.recipe, "source.table is missing", remedy="pass a table")
    member = Member(spec.path, partial(nullcontext, spec.options["table"]))
    yield from _tables(arrow_tables, _Request(spec), [member])


def _tables(
    syntax: ModuleType, request: _Request, files: Sequence[Member]
) -> Iterator[SourceTable]:
    # All headers are checked before the first row is read.
    headers = [_header(syntax, member, request) for member in files]
    readings = [request.plan(header) for header in headers]
    batches = [("", syntax.batches(*file)) for file in zip(files, readings, strict=True)]
    reasons = {name: why for header in headers for name, why in _ignored(header.names).items()}
    columns = {why: [n for n in reasons if reasons[n] == why] for why in reasons.values()}
    notes = [f"{', '.join(names)} ignored: {why}" for why, names in columns.items()]
    return request.planner.tables(batches, notes=notes)


def _detect(opening: Opening, syntax: ModuleType) -> Detection | None:
    try:
        request = _Request(opening.spec)
    except BuildError as error:  # of the recipe: no other format has these options
        raise NearMissError(error.path, error.problem, remedy=error.remedy or "") from error
    if syntax_of(opening.member) is not syntax:
        return None
    member = opening.start if syntax is delimited else opening.member
    if request.encoding:
        member = transcode(member, request.encoding)
    header = _header(syntax, member, request)
    reading = request.plan(header)
    names = [name for name in header.names if name not in _ignored(header.names)]
    score = sum(name in request.planner.names or name in RANGE_NAMES for name in names)
    return Detection(f"columns {listed(names, _SHOWN)}", score=score, meaning=reading.is_same)


def _format(name: str, syntax: ModuleType, *suffixes: str) -> SourceFormat:
    """Return a format; ``suffixes`` are those of its files in archives and folders."""
    read, detect = partial(_read, syntax=syntax, suffixes=suffixes), partial(_detect, syntax=syntax)
    options = {"delimiter", "encoding", "header"} if syntax is delimited else set()
    return SourceFormat(name, frozenset({"family", "columns", OPTION, *options}), read, detect)


FORMAT = _format("csv", delimited, ".csv")
PARQUET = _format("parquet", parquet, ".parquet", ".pq")
JSON_LINES = _format("jsonl", jsonlines, ".jsonl", ".ndjson", ".json")
#: A table in memory, the option ``table``; no file is of this format.
TABLE = SourceFormat("table", JSON_LINES.options | {"table"}, _read_table)
