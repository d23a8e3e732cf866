"""``format = "auto"``: the format of a source, detected from its files.

Every format examines the beginning of every file. A detection that the file's
name supports takes precedence over one with only its content. Exactly one format must
remain, the same for all files; otherwise an error describes the file or lists the candidates.
``check`` proposes the options that an error suggests, or that a text shows, if they read the file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

from geolookup.contract.fields import REAL
from geolookup.errors import BuildError, line_text, listed
from geolookup_builder.dataset_source import is_dataset_path
from geolookup_builder.recipe.document import DATASET, Recipe, SourceSpec, toml_text
from geolookup_builder.recipe.names import RANGE_NAMES, mapped_columns, near_column
from geolookup_builder.sources import FORMATS
from geolookup_builder.sources.formats.vendor_values import REGION_CODE
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import LENGTHS
from geolookup_builder.sources.reading.dictionary_columns import OPTION as CELLS
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import COMMAS
from geolookup_builder.sources.reading.products import names_of_fields
from geolookup_builder.values import EMPTY_WORDS

NAME = "auto"
REMEDY = 'name the format in a recipe: format = "…"'
Detections = Mapping[str, sniffing.Detection]
Guard = Callable[[SourceSpec], AbstractContextManager[object]]
_END = re.compile(rf"({sniffing.ADDRESS.pattern})(/[0-9]+)?|{sniffing.INTEGER.pattern}")
_LEAST = 0.9  # of the cells of a column must match
_SHOWN = 60  # characters of a line
_LISTED = 3  # files of an archive or a folder
#: The content that shows a field.
_CONTENT = {
    "country_code": sniffing.ALPHA2,
    "asn": re.compile(r"AS[0-9]{1,10}", re.IGNORECASE),
    "time_zone": re.compile(r"[A-Z][A-Za-z]+/[A-Z][A-Za-z_/-]+"),
}
_DEGREES = re.compile(r"[+-]?[0-9]{1,3}[.,][0-9]+")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_REGION = re.compile(REGION_CODE)
_NETMASK = re.compile("|".join(map(re.escape, LENGTHS)))


def options() -> dict[str, frozenset[str]]:
    """Return the options of each format; ``auto`` accepts the options of all formats."""
    by_name = {name: source_format.all_options for name, source_format in FORMATS.items()}
    return {**by_name, DATASET: frozenset(), NAME: frozenset().union(*by_name.values())}


def detect_formats(recipe: Recipe, guard: Guard = nullcontext) -> Recipe:
    """Return the recipe with the format of every source named; ``guard`` wraps each detection."""
    sources = []
    for spec in recipe.sources:
        with guard(spec):
            try:
                sources.append(detect_format(spec))
            except sniffing.NearMissError as error:
                if spec.recipe != spec.base / spec.path or not error.options:
                    raise
                # Of data without a recipe: the command that prints one.
                command = shlex.join(["geolookup", "check", str(spec.recipe)])
                remedy = f"to print a recipe that reads it: {command}"
                raise BuildError(
                    error.path, error.problem, line=error.line, remedy=remedy
                ) from None  # the same problem with another remedy
    return replace(recipe, sources=tuple(sources))


def detect_format(spec: SourceSpec) -> SourceSpec:
    """Return the source with its format named. Raises BuildError unless exactly one fits."""
    if spec.format != NAME:
        return spec
    if not spec.options and is_dataset_path(spec):
        return replace(spec, format=DATASET, detection="a dataset of geolookup")
    of_files = _detections(spec)
    name = _common_format(spec, of_files)
    for key in spec.options:
        if key not in FORMATS[name].all_options:
            problem = (
                f"source.{key} is not an option of {name}, the format detected for {spec.path}"
            )
            raise BuildError(spec.recipe, problem, remedy=f"drop it, or {REMEDY}")
    reasons = dict.fromkeys(detections[name].reason for detections in of_files.values())
    return replace(spec, format=name, detection=", ".join(reasons))


def _detections(spec: SourceSpec) -> dict[str, Detections]:
    """Return the detections of each file that is data. Raises BuildError if none is."""
    # All files of a folder, an archive or a glob, with any suffix.
    files = [file for file in members(spec.path, spec.base, ("",)) if file.label[-1:] != "/"]
    of_files, misses = dict[str, Detections](), list[sniffing.NearMissError]()
    for member in files:
        start = sniffing.opening(member, spec)
        detections, miss = _examine(start)
        if detections:
            of_files[member.label] = detections
        elif miss:
            misses.append(miss)
        # An archive or a folder may hold licences besides data.
        elif len(member.file_names) == 1 and not (spec.base / spec.path).is_dir():
            raise _unknown_file(start)
    if misses and not of_files:
        raise max(misses, key=lambda error: error.score)
    if not of_files:
        names = listed([line_text(member.file_names[0]) for member in files], _LISTED)
        problem = f"not recognised: no file of a known format{f', but {names}' if names else ''}"
        remedy = "name the files of data, or name their format"
        raise BuildError(spec.base / spec.path, problem, remedy=remedy)
    return of_files


def _examine(start: sniffing.Opening) -> tuple[Detections, sniffing.NearMissError | None]:
    """Return the strongest detections of a file, or its nearest miss."""
    detections, misses = dict[str, sniffing.Detection](), list[sniffing.NearMissError]()
    for name, source_format in FORMATS.items():
        try:
            if detection := source_format.detect(start):
                detections[name] = detection
        except sniffing.NearMissError as error:
            misses.append(error)
        except BuildError:  # a check of its reader fails
            continue
    nearest = max(misses, key=lambda error: error.score, default=None)
    # A file name that only one of two formats uses decides between them.
    own = {name: one for name, one in detections.items() if one.has_own_name}
    most = max((one.score for one in detections.values()), default=0)
    best = own or {name: one for name, one in detections.items() if one.score == most}
    # With columns beside those of a vendor it may be a table of one's own.
    if nearest and nearest.score >= most and any(one.unknown for one in best.values()):
        return {}, nearest
    return best, nearest


def _common_format(spec: SourceSpec, of_files: Mapping[str, Detections]) -> str:
    """Return the one format that was detected in all files; the stated options may decide."""
    # Files that fit {csv, ipinfo} and {ipinfo}: ipinfo.
    common = set.intersection(*(set(detections) for detections in of_files.values()))
    common = {name for name in common if spec.options.keys() <= FORMATS[name].options} or common
    names = sorted(common, key=[*FORMATS].index)
    meanings = [[one[name].meaning for name in names] for one in of_files.values()]
    # Several may read a file alike, such as ``network,country``.
    if len(names) == 1 or (
        names and all(m[0] is not None and m.count(m[0]) == len(m) for m in meanings)
    ):
        return names[0]
    label, detections = next(iter(of_files.items()))
    if names:
        fitting = [f"{name} ({detections[name].reason})" for name in names]
        raise BuildError(label, f"fits several formats: {', '.join(fitting)}", remedy=REMEDY)
    kinds = dict.fromkeys(" or ".join(detections) for detections in of_files.values())
    problem = f"files of several formats: {'; '.join(kinds)}"
    raise BuildError(spec.base / spec.path, problem, remedy="make it several sources")


def changed(spec: SourceSpec, error: BuildError) -> SourceSpec | None:
    """Return a source with the options that an error suggests, or with guessed ones, or None."""
    options = error.options if isinstance(error, sniffing.NearMissError) else {}
    if not options.keys() <= spec.options.keys():
        return _by_cells(spec, {**options, **spec.options})
    is_unread = spec.format == "auto" or isinstance(error, sniffing.NearMissError)
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
    return sniffing.opening(members(spec.path, spec.base, ("",))[0]).start


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
        rows = sniffing.sample(_start(spec), spec.options.get("delimiter", ","))
        has_header = spec.options.get("header", True)
        names = rows.records[0][1] if has_header else map(str, range(1, rows.width + 1))
        return {
            field_of[name]: [cell for _, cell in rows.column(at)[has_header:] if cell]
            for at, name in zip(range(rows.width), names, strict=False)
            if field_of.get(name) in spec.fields
        }
    return {}


def _unknown_file(start: sniffing.Opening) -> BuildError:
    """Return the error about a file that no format detects."""
    member = start.member
    line = next(iter(sniffing.first_lines(start.start, COMMAS)), "")
    problem = f"no range in its first line, {line[:_SHOWN]!r}"
    remedy = 'if it is data of a vendor, name the format in a recipe: format = "…"'
    kind = sniffing.kind_of(member)
    if kind not in (None, sniffing.TEXT):
        problem, remedy = f"this looks like {kind.name}", kind.remedy
    elif kind is None:
        problem, remedy = "binary data of no known kind", "export it as CSV, or fetch it again"
    elif line and (options := _options(start.start)):
        problem = f"a text without known columns, {line[:_SHOWN]!r}"
        keys = ", ".join(f"{key} = {toml_text(value)}" for key, value in options.items())
        remedy = f'name its columns, such as format = "csv", {keys}; or {remedy}'
    return BuildError(member.label, f"not recognised: {problem}", remedy=remedy)


def _options(member: Member) -> dict[str, Any]:
    """Return delimiter, header and columns of a text; empty if no column holds ranges."""
    samples = [(delimiter, sniffing.sample(member, delimiter)) for delimiter in sniffing.DELIMITERS]
    delimiter, rows = max(samples, key=lambda one: one[1].width)
    first = rows.records[0][1]
    has_header = not any(map(_END.fullmatch, first))
    columns = [
        [cell for _, cell in rows.column(at)[has_header:] if cell] for at in range(rows.width)
    ]
    mapping = dict(_range(columns))
    if not mapping:
        return {}
    named = [(near_column(name), at) for at, name in enumerate(first) if has_header]
    for field, at in (*named, *_shown(columns)):
        if field and field not in mapping and at not in mapping.values():
            mapping[field] = at
    if has_header and max(mapping.values()) >= len(first):  # a comment or a title, no header
        return {}
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
    networks, addresses = _holding(columns, sniffing.NETWORK), _holding(columns, sniffing.ADDRESS)
    integers = _holding(columns, sniffing.INTEGER)
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
