"""Files that no format reads: their likely kind, and the options that would read them.

The options are those that an error suggests, or guessed from a text: ``check`` proposes them if it
can read the file with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from geolookup.contract.fields import REAL
from geolookup.errors import BuildError, listed, name_text
from geolookup.filesystem.signatures import is_binary
from geolookup_builder.recipe.document import SourceSpec, toml_text
from geolookup_builder.recipe.names import RANGE_NAMES, mapped_columns, near_column
from geolookup_builder.sources.formats.vendor_values import REGION_CODE
from geolookup_builder.sources.reading.dictionary_columns import LENGTHS
from geolookup_builder.sources.reading.dictionary_columns import OPTION as CELLS
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.products import names_of_fields
from geolookup_builder.sources.reading.sniffing import (
    ADDRESS,
    ALPHA2,
    DELIMITERS,
    INTEGER,
    JSON,
    NETWORK,
    NearMissError,
    Opening,
    begins_json,
    kind_of,
    opening,
    sample,
)
from geolookup_builder.vocabulary import EMPTY_WORDS

_END = re.compile(rf"({ADDRESS.pattern})(/[0-9]+)?|{INTEGER.pattern}")
_DELIMITER = re.compile(f"[{DELIMITERS}]")
_LEAST = 0.9  # of the cells of a column must match
_SHOWN = 60  # characters of a line
_LISTED = 3  # files of an archive or a folder
#: The content that shows a field.
_CONTENT = {
    "country_code": ALPHA2,
    "asn": re.compile(r"AS[0-9]{1,10}", re.IGNORECASE),
    "time_zone": re.compile(r"[A-Z][A-Za-z]+/[A-Z][A-Za-z_/-]+"),
}
#: Of a text whose columns are not known.
_EXAMPLE: dict[str, Any] = {"header": False, "columns": {"network": 1, "country_code": 2}}
_NETMASK = re.compile("|".join(map(re.escape, LENGTHS)))
_DEGREES = re.compile(r"[+-]?[0-9]{1,3}[.,][0-9]+")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_REGION = re.compile(REGION_CODE)


def changed(spec: SourceSpec, error: BuildError) -> SourceSpec | None:
    """Return a source with the options that an error suggests, or with guessed ones, or None."""
    options = error.options if isinstance(error, NearMissError) else {}
    if not options.keys() <= spec.options.keys():
        return _by_cells(spec, {**options, **spec.options})
    is_unread = spec.format == "auto" or isinstance(error, NearMissError)
    if is_unread and spec.format in ("auto", "csv") and "columns" not in spec.options:
        with suppress(BuildError):  # not a delimited text
            if guessed := _options(_start(spec)):
                return _by_cells(replace(spec, format="csv"), {**spec.options, **guessed})
    return None


def _by_cells(spec: SourceSpec, options: Mapping[str, Any]) -> SourceSpec:
    """Return a source with guessed options, and what the cells show beside the names of columns.

    Fields that no name shows are added. Names of regions are codes if their cells are.
    """
    if "columns" in spec.options or "columns" not in options:
        return replace(spec, options=options)
    columns, guessed = dict(options["columns"]), dict[str, Any]()
    with suppress(BuildError):  # not a delimited text
        guessed = _options(_start(spec)).get("columns", {})
    for field, name in guessed.items():
        if field not in RANGE_NAMES and name not in columns.values():
            columns.setdefault(field, name)
    spec = replace(spec, options={**options, "columns": columns})
    names = _cells_by_field(spec).get("region_name", [])
    if "region_code" in columns or not _holding([names], _REGION):
        return spec
    code = {"region_name": "region_code"}
    columns = {code.get(field, field): name for field, name in columns.items()}
    return replace(spec, options={**options, "columns": columns})


def _start(spec: SourceSpec) -> Member:
    """Return the beginning of the first file of a source."""
    return opening(members(spec.path, spec.base, ("",))[0]).start


def guessed_cells(spec: SourceSpec) -> dict[str, Any]:
    """Return the option ``cells`` that the first rows of a CSV show; empty if it needs none."""
    if spec.format != "csv" or CELLS in spec.options:
        return {}
    by_field, fields = _cells_by_field(spec), spec.schema.by_source_column
    words = EMPTY_WORDS.intersection(chain.from_iterable(by_field.values()))
    numbers = [
        cell for name, cells in by_field.items() if fields[name].type == REAL for cell in cells
    ]
    guessed: dict[str, Any] = {"empty": sorted(words)} if words else {}
    if any(map(_COMMA.fullmatch, numbers)) and not any("." in number for number in numbers):
        guessed["decimal"] = ","
    return {CELLS: guessed} if guessed else {}


def _cells_by_field(spec: SourceSpec) -> dict[str, list[str]]:
    """Return the first cells of each field of a delimited text, without empty ones."""
    with suppress(BuildError):  # not a delimited text
        field_of = names_of_fields(spec.schema)
        field_of |= {column: field for field, column in mapped_columns(spec).items()}
        rows = sample(_start(spec), spec.options.get("delimiter", ","))
        has_header = spec.options.get("header", True)
        names = rows.records[0][1] if has_header else map(str, range(1, rows.width + 1))
        return {
            field_of[name]: [cell for _, cell in rows.column(at)[has_header:] if cell]
            for at, name in zip(range(rows.width), names, strict=False)
            if field_of.get(name) in spec.fields
        }
    return {}


def unknown_file(opening: Opening) -> BuildError:
    """Return the error about a file that no format detects."""
    member, line = opening.member, opening.first_line
    problem = f"no range in its first line, {line[:_SHOWN]!r}"
    remedy = 'if it is data of a vendor, name the format in a recipe: format = "…"'
    if kind := kind_of(member) or (JSON if begins_json(opening.start) else None):
        problem, remedy = f"this looks like {kind.name}", kind.remedy
    elif is_binary(line.encode()):
        problem, remedy = "binary data of no known kind", "export it as CSV, or fetch it again"
    elif _END.fullmatch(_DELIMITER.split(line)[0].strip(' "')):
        problem = f"a text without a header, {line[:_SHOWN]!r}"
        options = _options(opening.start) or _EXAMPLE
        keys = ", ".join(f"{key} = {toml_text(value)}" for key, value in options.items())
        remedy = f'name its columns, such as format = "csv", {keys}; or {remedy}'
    return BuildError(member.label, f"not recognised: {problem}", remedy=remedy)


def unknown_files(path: Path, members: Sequence[Member]) -> BuildError:
    """Return the error about an archive, a folder or a glob without a file of a known format."""
    kinds = {member: kind_of(member) for member in members[:_LISTED]}
    files = [
        f"{name_text(member.file_names[0])} ({kind.name if kind else 'of unknown content'})"
        for member, kind in kinds.items()
    ]
    others = listed(files, _LISTED, len(members) - len(files))
    problem = f"not recognised: no file of a known format{f', but {others}' if files else ''}"
    return BuildError(path, problem, remedy="name the files of data, or name their format")


def _options(member: Member) -> dict[str, Any]:
    """Return delimiter, header and columns of a text; empty if no column holds ranges."""
    samples = [(delimiter, sample(member, delimiter)) for delimiter in DELIMITERS]
    delimiter, rows = max(samples, key=lambda one: one[1].width)
    first = rows.records[0][1]
    has_header = not any(map(_END.fullmatch, first))
    columns = [
        [cell for _, cell in rows.column(at)[has_header:] if cell] for at in range(rows.width)
    ]
    mapping = dict(_range(columns))
    if not mapping:
        return {}
    named = ((near_column(name), at) for at, name in enumerate(first) if has_header)
    for field, at in (*named, *_shown(columns)):
        if field and field not in mapping and at not in mapping.values():
            mapping[field] = at
    options: dict[str, Any] = {} if delimiter == "," else {"delimiter": delimiter}
    if not has_header:
        options["header"] = False
    names = first if has_header else range(1, rows.width + 1)
    return {**options, "columns": {field: names[at] for field, at in mapping.items()}}


def _holding(columns: Sequence[Sequence[str]], pattern: re.Pattern[str]) -> list[int]:
    """Return the columns whose cells match a pattern, but for a few and those that are empty."""
    stated = [[cell for cell in cells if cell not in EMPTY_WORDS] for cells in columns]
    return [
        at
        for at, cells in enumerate(stated)
        if cells and sum(map(bool, map(pattern.fullmatch, cells))) >= _LEAST * len(cells)
    ]


def _range(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Yield the columns of the range: a network, else two addresses, one, or two integers."""
    networks, addresses = _holding(columns, NETWORK), _holding(columns, ADDRESS)
    integers = _holding(columns, INTEGER)
    if networks or len(addresses) == 1:
        yield "network", (networks or addresses)[0]
    elif masks := [at for at in _holding(columns, _NETMASK) if at > addresses[0]]:
        yield from (("network", addresses[0]), ("netmask", masks[0]))
    elif addresses or integers[:2] == [0, 1]:
        yield from zip(("first", "last"), addresses or integers, strict=False)


def _shown(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Yield the fields that the content shows; coordinates are two columns side by side."""
    for field, pattern in _CONTENT.items():
        yield from ((field, at) for at in _holding(columns, pattern))
    for latitude, longitude in pairwise(_holding(columns, _DEGREES)):
        if longitude == latitude + 1:
            yield from (("latitude", latitude), ("longitude", longitude))
