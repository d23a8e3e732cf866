"""Which columns of a generic file are which fields: by their names, or by the recipe's mapping.

The mapping itself is checked before a file is opened. The columns of each file are
then checked against it, with a near match for a missing column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from geolookup.contract.fields import BY_SOURCE_COLUMN, FIELDS, GROUPS, OWN, OWN_PREFIX, TEXTS
from geolookup.contract.schema import Schema
from geolookup.errors import BuildError, near_match, suggestion
from geolookup_builder.recipe.document import SourceSpec, toml_text
from geolookup_builder.recipe.field_names import near_column, source_column
from geolookup_builder.sources.reading.sniffing import DELIMITERS, NearMissError
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.typed_columns import steps_to

#: The column of a source by the path of its field, such as location.city_name, and by the name of
#: that in enriched tables, such as location_city_name.
_PATHS = {
    name: field.source_column
    for field in BY_SOURCE_COLUMN.values()
    for name in (field.path, field.name)
}
#: The paths and names whose values no source states: they follow from fields.
DERIVED = frozenset(name for field in FIELDS for name in (field.path, field.name)) - set(_PATHS)
RANGE_NAMES = ("network", "first", "last")
_RANGES = (("network",), ("first", "last"))
_NAMES = (*RANGE_NAMES, *BY_SOURCE_COLUMN)
_FIELD_OF = {**{name: name for name in _NAMES}, **_PATHS}
_EXAMPLE = 'write columns = { network = "cidr", country_code = "country" }'
_MAP = "map columns of any name in [source.columns] of a recipe"
_OTHERS = f"(or {_MAP})"
_OTHERS_AND_OWN = f"(or {_MAP}, and declare own columns in its [columns])"
#: Names of ranges in files of other products.
_RANGE_WORDS = {
    word: end
    for end, words in {
        "network": "cidr prefix subnet netblock ip_prefix ip_range ip_network",
        "first": "start_ip ip_start start ip_from range_start first_ip start_address from_ip",
        "last": "end_ip ip_end end ip_to range_end last_ip end_address to_ip",
    }.items()
    for word in words.split()
}
_MAPPING = 300  # characters of a suggested mapping
#: Keys of an object that a server answers with instead of data.
_ERROR_KEYS = {"error", "errors", "message", "detail", "status", "code", "success"}
_SHOWN = 50  # characters of a column name, in messages
_LISTED = 5  # unknown columns, in messages
#: The row labels of a frame of pandas: a column that its Arrow tables and Parquet files have.
_ROW_LABELS = re.compile(r"__index_level_[0-9]+__")
#: A column name: words, not an address, a number or a text of a document.
_NAME = re.compile(r"[A-Za-z_][\w .-]{0,49}")


@dataclass(frozen=True, slots=True)
class Punctuation:
    """Delimiter and header of a file, as the recipe states them."""

    delimiter: str
    header: bool

    def layout(
        self,
        names: tuple[str, ...],
        texts: Collection[str] = (),
        fields: Collection[str] = (),
        lists: Collection[str] = (),
    ) -> Layout:
        """Return the layout of a file with these columns; ``lists`` are of the fields."""
        return Layout(
            names,
            frozenset(texts),
            frozenset(fields),
            header=self.header,
            delimiter=self.delimiter,
            lists=frozenset(lists),
        )


def punctuation(spec: SourceSpec) -> Punctuation:
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
    return Punctuation(delimiter, header)


def _can_delimit(character: str) -> bool:
    """Return whether cells can be separated by a character: ASCII, in no range and no number."""
    return character.isascii() and not character.isalnum() and character not in '"\r\n\0.:/+-'


def mapping(spec: SourceSpec, punctuation: Punctuation) -> dict[str, str] | None:
    """Return the recipe's ``columns``: field to column name or position in the file; else None."""
    columns = spec.options.get("columns")
    if columns is None:
        return None
    if not isinstance(columns, dict) or not columns:
        raise BuildError(spec.recipe, "source.columns is not a table of names", remedy=_EXAMPLE)
    for name, column in columns.items():
        _check(spec, name, column, punctuation)
    columns = recipe_columns(spec, columns)
    ranges = [name for name in RANGE_NAMES if name in columns]
    if tuple(ranges) not in _RANGES:
        remedy = "name one column as network, or two as first and last"
        raise BuildError(spec.recipe, "no range in columns", remedy=remedy)
    for field, column in columns.items():
        # Two fields may share a column; the range may not.
        if [*columns.values()].count(column) > 1 and (field in ranges):
            problem = f"column {column!r} is the range and something else in columns"
            raise BuildError(spec.recipe, problem, remedy="keep one of them")
    return {field: str(column) for field, column in columns.items()}


def recipe_columns(spec: SourceSpec, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``columns`` of a recipe by the columns of a source, or names of the range.

    Raises BuildError for a name of no field, and for two names of one.
    """
    by_field: dict[str, Any] = {}
    for name, column in columns.items():
        field = name if name in RANGE_NAMES else _field_named(spec, name)
        if field in by_field:
            raise BuildError(
                spec.recipe, f"source.columns: {name} is there twice", remedy="drop one"
            )
        by_field[field] = column
    return by_field


def _field_named(spec: SourceSpec, name: str) -> str:
    try:
        return source_column(spec.recipe, "source.columns", name, spec.schema)
    except BuildError as error:
        remedy = near_match(name, RANGE_NAMES, fallback="") or error.remedy or ""
        if error.problem.startswith("source.columns: no field") and remedy.startswith(
            "write a field"
        ):
            remedy = f"write a field, such as country_code, or declare {name!r} in [columns]"
        raise BuildError(spec.recipe, error.problem, remedy=remedy) from error


def _check(spec: SourceSpec, field: str, column: object, punctuation: Punctuation) -> None:
    if punctuation.header and (not isinstance(column, str) or not column):
        remedy = "name a column of its header, or write header = false"
        raise BuildError(spec.recipe, f"source.columns.{field} is not a name", remedy=remedy)
    if not punctuation.header and (type(column) is not int or column < 1):
        remedy = "write 1 for the first column; without a header there are no names"
        raise BuildError(spec.recipe, f"source.columns.{field} is not a position", remedy=remedy)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file; ``schema`` are their types if it states them.

    ``names`` come from its header, or are the positions from 1; of typed columns the paths.
    """

    label: str
    names: tuple[str, ...]
    line: int | None = None
    header: bool = True
    schema: pa.Schema | None = None
    first: str = ""  # the first cell of a text
    delimiter: str = ","

    def has(self, column: str) -> bool:
        """Return whether there is such a column."""
        if self.schema is None:
            return column in self.names
        return steps_to(self.schema, column) is not None

    def error(
        self, problem: str, remedy: str, mapping: Mapping[str, str] | None = None
    ) -> BuildError:
        """Return an error about the columns, or about their delimiter if it is another one.

        ``mapping`` are the ``columns`` of a recipe that would read the file.
        """
        options: dict[str, Any] = {"columns": mapping} if mapping else {}
        if delimiter := self._other_delimiter():
            options = {"delimiter": delimiter}
            problem = f"the delimiter is {delimiter!r}"
            remedy = f"add delimiter = {toml_text(delimiter)} to the source in a recipe"
        if self.schema is None and not self._are_named():
            return BuildError(self.label, problem, line=self.line, remedy=remedy)
        error = NearMissError(self.label, problem, line=self.line, remedy=remedy)
        error.options = options
        return error

    def _are_named(self) -> bool:
        names = self.first.split(self._other_delimiter() or "\n")
        names = list(self.names) if len(self.names) > 1 else names
        return len(names) > 1 and all(_NAME.fullmatch(name.strip()) for name in names)

    def _other_delimiter(self) -> str | None:
        """Return the most frequent delimiter of a first line that was read as one cell."""
        others = DELIMITERS.replace(self.delimiter, "")
        delimiter = max(others, key=self.first.count)
        return delimiter if len(self.names) == 1 and delimiter in self.first else None


def use_mapping(columns: Columns, mapping: Mapping[str, str], schema: Schema) -> Mapping[str, str]:
    """Return the recipe's mapping, and the declared columns that a file has under their names.

    Raises BuildError if a file lacks a column of the mapping, or has a column twice.
    """
    column_of = {**_declared(columns, mapping, schema), **mapping}
    for column in column_of.values():
        if not columns.has(column):
            remedy = near_match(column, [name[:_SHOWN] for name in columns.names])
            if not columns.header:
                remedy = f"correct columns: there are {len(columns.names)}"
            raise columns.error(f"no column {column!r}", remedy)
        if columns.names.count(column) > 1:
            raise columns.error(f"column {column!r} twice", "drop one")
    return column_of


def _declared(columns: Columns, mapping: Mapping[str, str], schema: Schema) -> dict[str, str]:
    """Return the columns of own columns that the mapping does not name."""
    mapped, declared = set(mapping.values()), dict[str, str]()
    for name, field in _own_names(schema).items():
        if field in mapping or name in mapped or not columns.has(name):
            continue
        if field in declared:
            raise columns.error(_same(declared[field], name), "drop one")
        declared[field] = name
    return declared


def lists_in(column_of: Mapping[str, str], schema: Schema) -> set[str]:
    """Return the columns of a file that can hold lists: of fields that are lists of texts."""
    types = {name: field.type for name, field in schema.by_source_column.items()}
    return {column for name, column in column_of.items() if types.get(name) == TEXTS}


def match_names(columns: Columns, schema: Schema) -> dict[str, str]:
    """Return the columns of a file by field, as their names say.

    An own column has the name that the recipe declares, or its path or name, as any field has.
    Raises BuildError for an unknown or repeated column, and if there is no range.
    """
    by_field: dict[str, str] = {}
    field_of = {**_FIELD_OF, **_own_names(schema)}
    stated = [name for name in columns.names if name not in DERIVED and not _are_labels(name)]
    if unknown := [name for name in stated if name not in field_of]:
        if columns.schema is not None and {n.partition(".")[0] for n in stated} <= _ERROR_KEYS:
            problem = f"this looks like an error of a server, with the key {stated[0]!r}"
            raise columns.error(problem, "fetch it again")
        mapping = _known_columns(stated, field_of)
        raise columns.error(*_unknown_text(unknown, mapping, schema), mapping)
    for name in stated:
        field = field_of[name]
        if field in by_field:
            former = by_field[field]
            twice = f"column {name!r} twice" if former == name else _same(former, name)
            raise columns.error(twice, "drop one")
        by_field[field] = name
    if tuple(name for name in RANGE_NAMES if name in by_field) not in _RANGES:
        where = "the header" if columns.schema is None else "its columns"
        remedy = f"name the range as network, or as first and last {_OTHERS}"
        raise columns.error(f"no range in {where}", remedy)
    return by_field


def _are_labels(name: str) -> bool:
    return _ROW_LABELS.fullmatch(name) is not None


def _own_names(schema: Schema) -> dict[str, str]:
    return {
        name: field.source_column
        for field in schema.own
        for name in (field.member, field.path, field.name)
    }


def _unknown_text(
    unknown: Sequence[str], mapping: Mapping[str, str], schema: Schema
) -> tuple[str, str]:
    """Return problem and remedy for the unknown columns of a file; ``mapping`` reads the others."""
    listed = [name if len(name) < _SHOWN else name[:_SHOWN] + "…" for name in unknown[:_LISTED]]
    more = f" and {len(unknown) - _LISTED:,} more" if len(unknown) > _LISTED else ""
    plural = "s" if len(unknown) > 1 else ""
    problem = f"unknown column{plural} {', '.join(map(repr, listed))}{more}"
    text = toml_text(mapping) if mapping else ""
    columns = f"in a recipe: columns = {text}" if 0 < len(text) < _MAPPING else ""
    if columns and not set(mapping.values()).isdisjoint(unknown):
        skipped = not set(unknown) <= set(mapping.values())
        keep = "; to keep others, declare them in its [columns]" if skipped else ""
        return problem, f"map the columns {columns}{keep}"
    near = {name: _nearest(name, schema) for name in unknown[:_LISTED]}
    if plural:
        hints = [f"{hint[:-1]} for {name!r}?" for name, hint in near.items() if hint]
    else:
        hints = list(filter(None, near.values()))
    if hints:
        others = _OTHERS if all(near.values()) else _OTHERS_AND_OWN
        return problem, f"{' '.join(hints)} {others}"
    others = "them" if plural else "it"
    remedy = f"to leave {others} out, name the others {columns}" if columns else _MAP
    return problem, f"{remedy}; to keep {others}, declare {others} in its [columns]"


def _known_columns(stated: Sequence[str], field_of: Mapping[str, str]) -> dict[str, str]:
    """Return the ``columns`` of a recipe for the known names of a file, also of other products.

    They are empty if the known names are not a range and at least one field.
    """
    meanings = {name: field_of.get(name) or _meaning(name) for name in stated}
    # own.site_id is site_id in a recipe.
    by_field = {f.removeprefix(OWN_PREFIX): name for name, f in meanings.items() if f}
    ends = tuple(name for name in RANGE_NAMES if name in by_field)
    return by_field if ends in _RANGES and len(by_field) > len(ends) else {}


def _meaning(name: str) -> str | None:
    """Return the field, or the part of a range, that a name of another product means."""
    if not _NAME.fullmatch(name):
        return None
    return _RANGE_WORDS.get(name.casefold()) or near_column(name)


def _nearest(name: str, schema: Schema) -> str:
    is_path = name.startswith(tuple(f"{group}." for group in (*GROUPS, OWN)))
    own = _own_names(schema)
    names = [path for path in (*_PATHS, *own) if "." in path] if is_path else [*_NAMES, *own]
    meaning = _meaning(name)
    return suggestion(meaning) if meaning else near_match(name, names, fallback="")


def _same(one: str, other: str) -> str:
    return f"columns {one!r} and {other!r} are the same field"
