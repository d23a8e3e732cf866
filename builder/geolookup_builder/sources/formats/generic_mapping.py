"""The recipe's mapping of a CSV with other column names to the fields of the contract.

The mapping itself is checked before a file is opened. The header of each file is
then checked against it, with a near match for a missing column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.schema import FIELDS
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.delimited import first_record
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.text import Layout

RANGES = (("network",), ("first", "last"))
_RANGE_NAMES = ("network", "first", "last")
_EXAMPLE = 'write columns = { network = "cidr", country_code = "country" }'
_SHOWN = 50  # characters of a column name, in messages


@dataclass(frozen=True, slots=True)
class Punctuation:
    """Delimiter and header of a file, as the recipe states them."""

    delimiter: str
    header: bool

    def layout(self, names: tuple[str, ...], texts: set[str], wanted: set[str]) -> Layout:
        """Return the layout of a file with these columns."""
        found = frozenset(texts), frozenset(wanted)
        return Layout(names, *found, header=self.header, delimiter=self.delimiter)


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


def mapping(spec: SourceSpec, written: Punctuation) -> dict[str, str] | None:
    """Return the recipe's ``columns``: field to column name or position in the file; else None."""
    stated = spec.options.get("columns")
    if stated is None:
        return None
    if not isinstance(stated, dict) or not stated:
        raise BuildError(spec.recipe, "source.columns is not a table of names", remedy=_EXAMPLE)
    for field, column in stated.items():
        _check(spec, field, column, written)
    ranges = [name for name in _RANGE_NAMES if name in stated]
    if tuple(ranges) not in RANGES:
        remedy = "name one column as network, or two as first and last"
        raise BuildError(spec.recipe, "no range in columns", remedy=remedy)
    for field, column in stated.items():
        if [*stated.values()].count(column) > 1 and (field in ranges):
            problem = f"column {column!r} is the range and something else in columns"
            raise BuildError(spec.recipe, problem, remedy="keep one of them")
    return {field: str(column) for field, column in stated.items()}


def _check(spec: SourceSpec, field: str, column: object, written: Punctuation) -> None:
    known = (*_RANGE_NAMES, *FIELDS)
    if field not in known:
        problem = f"unknown field {field!r} in columns"
        raise BuildError(spec.recipe, problem, remedy=near_match(field, known))
    if written.header and (not isinstance(column, str) or not column):
        remedy = "name a column of its header, or write header = false"
        raise BuildError(spec.recipe, f"source.columns.{field} is not a name", remedy=remedy)
    if not written.header and (type(column) is not int or column < 1):
        remedy = "write 1 for the first column; without a header there are no names"
        raise BuildError(spec.recipe, f"source.columns.{field} is not a position", remedy=remedy)


def _names(member: Member, written: Punctuation) -> list[str]:
    """Return the column names; without a header these are the positions from 1."""
    if written.header:
        return first_record(member, written.layout((), set(), set()))[0]
    width = sniffing.sample(member, written.delimiter).width
    return [str(at) for at in range(1, width + 1)]


def mapped_layout(member: Member, written: Punctuation, columns: Mapping[str, str]) -> Layout:
    """Return the layout of a file; BuildError where it lacks a column of the mapping."""
    names = _names(member, written)
    for column in columns.values():
        if column not in names:
            problem = f"no column {column!r}"
            remedy = near_match(column, [name[:_SHOWN] for name in names])
            if not written.header:
                remedy = f"correct columns: there are {len(names)}"
            raise BuildError(member.label, problem, line=1, remedy=remedy)
        if names.count(column) > 1:
            raise BuildError(member.label, f"column {column!r} twice", line=1, remedy="drop one")
    texts = {columns[name] for name in _RANGE_NAMES if name in columns}
    return written.layout(tuple(names), texts, set(columns.values()) - texts)
