"""Files without a header: how each is planned, and their rows as tables of one source.

Strategy: a format plans each member (its table, layout and meaning) before anything is
read; members of one table follow each other, and tables follow in the order that the
format documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.delimited import Meaning, batches
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.reader import Batch, SourceTable


@dataclass(frozen=True, slots=True)
class Plan:
    """How a member is read: the table it is part of, how it is cut, what its columns mean."""

    table: str
    layout: Layout
    meaning: Meaning


def tables(
    spec: SourceSpec,
    suffixes: tuple[str, ...],
    order: Sequence[str],
    plan: Callable[[Member], Plan],
) -> Iterator[SourceTable]:
    """Yield the tables that the members of a source make up, in ``order``."""
    planned = [(member, plan(member)) for member in members(spec.path, spec.base, suffixes)]
    present = [name for name in order if any(each.table == name for _, each in planned)]
    for name in present:
        shown = spec.name if len(present) == 1 else f"{spec.name} ({name})"
        chosen = [(member, each) for member, each in planned if each.table == name]
        yield SourceTable(shown, _batches(chosen))


def _batches(planned: list[tuple[Member, Plan]]) -> Iterator[Batch]:
    for member, plan in planned:
        yield from batches(member, plan.layout, plan.meaning)


def file_names(member: Member) -> list[str]:
    """Return what the member is called, its own name before that of its archive."""
    return [re.split(r"[/\\]", part)[-1] for part in reversed(member.label.split("!"))]


def stated(rows: pa.RecordBatch, fields: Mapping[str, str]) -> dict[str, pa.DictionaryArray]:
    """Return the columns that are fields, under the names of the fields."""
    present = [name for name in rows.schema.names if name in fields]
    return {fields[name]: rows.column(name) for name in present}


def columns_option(
    spec: SourceSpec, known: Sequence[str], needed: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the recipe's ``columns``, checked, or None; ``-`` is a column to pass over."""
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
