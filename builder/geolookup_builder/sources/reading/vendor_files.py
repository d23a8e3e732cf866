"""A vendor's files: identified by header or layout, and delivered as tables in documented order.

A file with a header is identified by its columns, never by its name: teams
rename what they fetch. A file without one is given a ``Plan`` by its format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import pyarrow as pa

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.delimited import batches, first_record
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.reader import Batch, Meaning, SourceTable
from geolookup_builder.sources.reading.text import Layout

_File = TypeVar("_File")
_UNKNOWN_COLUMNS = Layout((), frozenset(), frozenset())
_SHOWN = 80  # characters of a header, in messages


def tables(
    spec: SourceSpec,
    order: Sequence[str],
    files: Sequence[tuple[str, _File]],
    batches_of: Callable[[_File], Iterator[Batch]],
    notes: Sequence[str] = (),
) -> Iterator[SourceTable]:
    """Yield a table for each name in ``order`` that has files; the first carries the notes.

    ``files`` are table names and files. Of one table, the files keep their order.
    """
    present = [name for name in order if any(name == each for each, _ in files)]
    for name in present:
        shown = spec.name if len(present) == 1 else f"{spec.name} ({name})"
        chosen = [file for each, file in files if each == name]
        note = "; ".join(notes) if name == present[0] else ""
        yield SourceTable(shown, chain.from_iterable(map(batches_of, chosen)), note)


@dataclass(frozen=True, slots=True)
class Product:
    """One kind of table that a vendor sells: a file with all the columns ``marks``."""

    name: str
    marks: frozenset[str]


def header(member: Member) -> tuple[str, ...]:
    """Return the column names that a CSV states; BuildError for a repeated name."""
    names, _ = first_record(member, _UNKNOWN_COLUMNS)
    for name in names:
        if names.count(name) > 1:
            problem = f"column {shown_header([name])} twice"
            raise BuildError(member.label, problem, line=1, remedy="drop one")
    return tuple(names)


def shown_header(names: Sequence[str]) -> str:
    """Return column names for a message, shortened."""
    text = ",".join(names)
    return repr(text if len(text) < _SHOWN else text[:_SHOWN] + "…")


def product_of(names: Sequence[str], products: Sequence[Product]) -> Product | None:
    """Return the first product whose marks are all among the names."""
    return next((each for each in products if each.marks <= set(names)), None)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to read a member without a header: its table, its layout and what its columns mean."""

    table: str
    layout: Layout
    meaning: Meaning


def planned_tables(
    spec: SourceSpec,
    suffixes: tuple[str, ...],
    order: Sequence[str],
    plan: Callable[[Member], Plan],
) -> Iterator[SourceTable]:
    """Yield the tables of a source, in ``order``; every member is planned before any is read."""
    planned = [(member, plan(member)) for member in members(spec.path, spec.base, suffixes)]
    files = [(each.table, (member, each)) for member, each in planned]
    yield from tables(spec, order, files, _planned_batches)


def _planned_batches(file: tuple[Member, Plan]) -> Iterator[Batch]:
    member, plan = file
    return batches(member, plan.layout, plan.meaning)


def stated_fields(rows: pa.RecordBatch, fields: Mapping[str, str]) -> dict[str, pa.DictionaryArray]:
    """Return the columns that ``fields`` maps to fields, by field name."""
    present = [name for name in rows.schema.names if name in fields]
    return {fields[name]: rows.column(name) for name in present}


def columns_option(
    spec: SourceSpec, known: Sequence[str], needed: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the recipe's ``columns``, checked, or None; ``-`` skips a column."""
    listed = spec.options.get("columns")
    if listed is None:
        return None
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise BuildError(spec.recipe, "source.columns is not a list of names", remedy="list them")
    for name in listed:
        if name != "-" and name not in known:
            problem = f"unknown column {name!r} in columns"
            raise BuildError(spec.recipe, problem, remedy=near_match(name, (*known, "-")))
        if name != "-" and listed.count(name) > 1:
            raise BuildError(spec.recipe, f"column {name!r} twice in columns", remedy="drop one")
    for name in needed:
        if name not in listed:
            raise BuildError(spec.recipe, f"no {name} in columns", remedy=f"add {name!r}")
    return tuple(f"- {at}" if name == "-" else name for at, name in enumerate(listed))
