"""The recipe's mapping of a foreign CSV: which of its columns is which of our fields.

Strategy: everything that the recipe can say wrong is found before a file is opened; the file's
own header is held against the mapping afterwards, with the near match for what it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.schema import FIELDS
from geolookup_builder.sources.reading import sniff
from geolookup_builder.sources.reading.delimited import first_record
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout

RANGES = (("network",), ("first", "last"))
_RANGE_NAMES = ("network", "first", "last")
_EXAMPLE = 'write columns = { network = "cidr", country_code = "country" }'
_LETTERS = 50


@dataclass(frozen=True, slots=True)
class Punctuation:
    """How the recipe says that the file is written."""

    delimiter: str
    header: bool

    def layout(self, names: tuple[str, ...], texts: set[str], wanted: set[str]) -> Layout:
        """Return the layout of a file with these columns."""
        found = frozenset(texts), frozenset(wanted)
        return Layout(names, *found, header=self.header, delimiter=self.delimiter)


def punctuation(spec: SourceSpec) -> Punctuation:
    """Return ``delimiter`` and ``header`` of the recipe, checked."""
    delimiter, header = spec.options.get("delimiter", ","), spec.options.get("header", True)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not _parts(delimiter):
        problem = f"source.delimiter cannot be {delimiter!r}"
        raise BuildError(spec.recipe, problem, remedy='write one character, such as ";" or "\\t"')
    if not isinstance(header, bool):
        problem = "source.header is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write header = false")
    if not header and "columns" not in spec.options:
        remedy = "write columns = { network = 1, country_code = 2 }"
        raise BuildError(spec.recipe, "source.header is false without columns", remedy=remedy)
    return Punctuation(delimiter, header)


def _parts(letter: str) -> bool:
    """Return whether a letter can part cells: an ASCII one that no range or number is made of."""
    return letter.isascii() and not letter.isalnum() and letter not in '"\r\n\0.:/+-'


def mapping(spec: SourceSpec, written: Punctuation) -> dict[str, str] | None:
    """Return the recipe's ``columns``: our name to that of the file, or its position; else None."""
    stated = spec.options.get("columns")
    if stated is None:
        return None
    if not isinstance(stated, dict) or not stated:
        raise BuildError(spec.recipe, "source.columns is no table of names", remedy=_EXAMPLE)
    for ours, theirs in stated.items():
        _check(spec, ours, theirs, written)
    ranges = [name for name in _RANGE_NAMES if name in stated]
    if tuple(ranges) not in RANGES:
        remedy = "name one column as network, or two as first and last"
        raise BuildError(spec.recipe, "no range in columns", remedy=remedy)
    for ours, theirs in stated.items():
        if [*stated.values()].count(theirs) > 1 and (ours in ranges):
            problem = f"column {theirs!r} is the range and something else in columns"
            raise BuildError(spec.recipe, problem, remedy="keep one of them")
    return {ours: str(theirs) for ours, theirs in stated.items()}


def _check(spec: SourceSpec, ours: str, theirs: object, written: Punctuation) -> None:
    known = (*_RANGE_NAMES, *FIELDS)
    if ours not in known:
        problem = f"unknown field {ours!r} in columns"
        raise BuildError(spec.recipe, problem, remedy=near_match(ours, known))
    if written.header and (not isinstance(theirs, str) or not theirs):
        remedy = "name a column of its header, or write header = false"
        raise BuildError(spec.recipe, f"source.columns.{ours} is not a name", remedy=remedy)
    if not written.header and (type(theirs) is not int or theirs < 1):
        remedy = "write 1 for the first column; without a header there are no names"
        raise BuildError(spec.recipe, f"source.columns.{ours} is not a position", remedy=remedy)


def _names(member: Member, written: Punctuation) -> list[str]:
    """Return what the columns are called: their positions where there is no header."""
    if written.header:
        return first_record(member, written.layout((), set(), set()))[0]
    width = sniff.sample(member, written.delimiter).width
    return [str(at) for at in range(1, width + 1)]


def mapped_layout(member: Member, written: Punctuation, columns: Mapping[str, str]) -> Layout:
    """Return the layout of a file; BuildError where it lacks a column of the mapping."""
    names = _names(member, written)
    for theirs in columns.values():
        if theirs not in names:
            problem = f"no column {theirs!r}"
            remedy = near_match(theirs, [name[:_LETTERS] for name in names])
            if not written.header:
                remedy = f"correct columns: there are {len(names)}"
            raise BuildError(member.label, problem, line=1, remedy=remedy)
        if names.count(theirs) > 1:
            raise BuildError(member.label, f"column {theirs!r} twice", line=1, remedy="drop one")
    texts = {columns[name] for name in _RANGE_NAMES if name in columns}
    return written.layout(tuple(names), texts, set(columns.values()) - texts)
