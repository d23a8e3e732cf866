"""A vendor's files: identified by header or layout, and delivered as tables in documented order.

A file with a header is identified by its columns, never by its name: teams
rename the files. A file without one is given a ``Plan`` by its format.

Rows may refer by a key to other tables: locations, providers, names of autonomous systems. Each is
read whole, once; keys are looked up per distinct value of a batch. A row of it with the wrong
number of cells is an error: it would silently remove a value from many ranges.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.delimited import batches, header_names, whole_table
from geolookup_builder.sources.reading.dictionary_columns import with_values, without
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.key_index import KeyIndex
from geolookup_builder.sources.reading.own_values import (
    NO_OFFERS,
    Offers,
    OwnRequest,
    own_request,
)
from geolookup_builder.sources.reading.reader import Batch, Meaning, SourceTable
from geolookup_builder.sources.reading.sniffing import begins_object
from geolookup_builder.sources.reading.text import Layout

_File = TypeVar("_File")
_UNKNOWN_COLUMNS = Layout((), frozenset(), frozenset())
_SHOWN = 80  # characters of a header, in messages
#: The end of "CLOUDFLARENET - Cloudflare, Inc., US".
_COUNTRY = r", [A-Z]{2}$"
_REMEDY = "give a JSON object or a CSV of AS number and name"


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
    present = [name for name in order if any(name == table for table, _ in files)]
    for name in present:
        title = spec.name if len(present) == 1 else f"{spec.name} ({name})"
        table_files = [file for table, file in files if table == name]
        note = "; ".join(notes) if name == present[0] else ""
        yield SourceTable(title, chain.from_iterable(map(batches_of, table_files)), note)


@dataclass(frozen=True, slots=True)
class Product:
    """One kind of table that a vendor sells: a file with all the columns ``marks``."""

    name: str
    marks: frozenset[str]


def header(member: Member) -> tuple[str, ...]:
    """Return the column names that a CSV states; BuildError for a repeated name."""
    names = header_names(member, _UNKNOWN_COLUMNS)
    for name in names:
        if names.count(name) > 1:
            problem = f"column {header_text([name])} twice"
            raise BuildError(member.label, problem, line=1, remedy="drop one")
    return names


def header_text(names: Sequence[str]) -> str:
    """Return column names for a message, shortened."""
    text = ",".join(names)
    return repr(text if len(text) < _SHOWN else text[:_SHOWN] + "…")


def product_of(names: Sequence[str], products: Sequence[Product]) -> Product | None:
    """Return the first product whose marks are all among the names."""
    return next((product for product in products if product.marks <= set(names)), None)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to read a member without a header: table, layout and meaning of its columns."""

    table: str
    layout: Layout
    meaning: Meaning

    def with_own(self, own: OwnRequest, offers: Offers) -> Plan:
        """Return the plan with the own columns that are asked for."""
        return Plan(self.table, *own.extend(self.layout, self.meaning, offers))


def planned_tables(
    spec: SourceSpec,
    suffixes: tuple[str, ...],
    order: Sequence[str],
    plan: Callable[[Member], Plan],
    offers: Offers = NO_OFFERS,
) -> Iterator[SourceTable]:
    """Yield the tables of a source, in ``order``; every member is planned before any is read.

    ``offers`` are the own columns that the files may have.
    """
    own = own_request(spec)
    files_of_source = members(spec.path, spec.base, suffixes)
    plans = [(member, plan(member).with_own(own, offers)) for member in files_of_source]
    own.check()
    files = [(file_plan.table, (member, file_plan)) for member, file_plan in plans]
    yield from tables(spec, order, files, _planned_batches)


def _planned_batches(file: tuple[Member, Plan]) -> Iterator[Batch]:
    member, plan = file
    return batches(member, plan.layout, plan.meaning)


def stated_fields(
    rows: pa.RecordBatch, fields: Mapping[str, str], *missing: str
) -> dict[str, pa.DictionaryArray]:
    """Return the columns that ``fields`` maps to fields, by field name; ``missing`` is unknown."""
    present = [name for name in rows.schema.names if name in fields]
    return {fields[name]: without(rows.column(name), *missing) for name in present}


def file_option(spec: SourceSpec, key: str) -> str | None:
    """Return an option of the recipe that names a file; None if it is not stated."""
    path = spec.options.get(key)
    if path is not None and (not isinstance(path, str) or not path):
        problem = f"source.{key} is not a file name"
        raise BuildError(spec.recipe, problem, remedy="write a file name")
    return path


def columns_option(
    spec: SourceSpec, choices: Sequence[str], mandatory: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the recipe's ``columns``, checked, or None; ``-`` skips a column."""
    columns = spec.options.get("columns")
    if columns is None or isinstance(columns, dict):  # a table maps own columns
        return None
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise BuildError(spec.recipe, "source.columns is not a list of names", remedy="list them")
    for name in columns:
        if name != "-" and name not in choices:
            problem = f"unknown column {name!r} in columns"
            raise BuildError(spec.recipe, problem, remedy=near_match(name, (*choices, "-")))
        if name != "-" and columns.count(name) > 1:
            raise BuildError(spec.recipe, f"column {name!r} twice in columns", remedy="drop one")
    for name in mandatory:
        if name not in columns:
            raise BuildError(spec.recipe, f"no {name} in columns", remedy=f"add {name!r}")
    # Names must be distinct: "-" twice becomes "- 2" and "- 5".
    return tuple(f"- {at}" if name == "-" else name for at, name in enumerate(columns))


@dataclass(frozen=True)
class KeyedTable:
    """Columns of texts by key; of equal keys the first row is used."""

    keys: pa.Array
    columns: Mapping[str, pa.Array]

    def rows(self, keys: pa.DictionaryArray) -> pa.Array:
        """Return the row of each key; null if there is none."""
        # By distinct key its row, then by row of the batch.
        return self.index.rows(keys.dictionary.cast(pa.string())).take(keys.indices)

    @cached_property
    def index(self) -> KeyIndex:
        """The rows by key, prepared when the first batch needs them."""
        return KeyIndex(self.keys)


def concatenate(tables: list[KeyedTable]) -> KeyedTable:
    """Return one table from tables with the same columns; earlier tables take precedence."""
    names = tables[0].columns
    return KeyedTable(
        pa.concat_arrays([table.keys for table in tables]),
        {name: pa.concat_arrays([table.columns[name] for table in tables]) for name in names},
    )


def load_keyed(
    member: Member, names: tuple[str, ...], key: str, columns: tuple[str, ...]
) -> KeyedTable:
    """Read ``columns`` of a CSV with the header ``names``; columns that it lacks are null."""
    layout = Layout(names, frozenset({key, *columns} & set(names)), frozenset())
    table = whole_table(member, layout)
    absent = pa.nulls(len(table), pa.string())
    return KeyedTable(
        _combine_chunks(table[key]),
        {name: _combine_chunks(table[name]) if name in names else absent for name in columns},
    )


@dataclass(frozen=True, slots=True)
class AsNames:
    """AS numbers in digits, and the name of each."""

    numbers: pa.Array
    names: pa.Array

    def of(self, asn: pa.DictionaryArray) -> pa.DictionaryArray:
        """Return the name of each AS number; null if there is none."""
        return with_values(asn, self.names.take(pc.index_in(_digits(asn.dictionary), self.numbers)))


def as_fields(asn: pa.DictionaryArray, names: AsNames | None) -> dict[str, pa.DictionaryArray]:
    """Return the fields of AS numbers: the names too, if the recipe states a file of them."""
    return {"asn": asn} if names is None else {"asn": asn, "asn_organization": names.of(asn)}


def load_as_names(spec: SourceSpec) -> AsNames | None:
    """Read the file that the recipe's ``names`` states, JSON or CSV; None if it states none."""
    path = file_option(spec, "names")
    if path is None:
        return None
    files = members(path, spec.base, (".json", ".csv"))
    if len(files) > 1:
        raise BuildError(spec.base / path, "more than one file", remedy="name one file of names")
    table = _from_json(files[0]) if begins_object(files[0]) else _from_csv(files[0])
    if not pc.any(pc.match_substring_regex(table.numbers, "^[0-9]+$")).as_py():
        raise BuildError(files[0].label, "no AS numbers in it", remedy=_REMEDY)
    return table


def _from_json(member: Member) -> AsNames:
    with member.open() as stream:
        text = stream.read()
    try:
        document: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
        names = pa.array(list(document.values()), pa.string())
        numbers = pa.array(list(document), pa.string())
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
        raise BuildError(member.label, problem, line=error.lineno, remedy=_REMEDY) from error
    except (
        ValueError,
        TypeError,
        RecursionError,
    ) as error:  # not UTF-8, or names that are not texts
        problem = f"not a JSON object of names ({type(error).__name__})"
        raise BuildError(member.label, problem, remedy=_REMEDY) from error
    # Not in a CSV: there ", SA" may be the end of a company's name.
    return AsNames(_digits(numbers), pc.replace_substring_regex(names, _COUNTRY, ""))


def _from_csv(member: Member) -> AsNames:
    columns = ("asn", "name")
    table = whole_table(member, Layout(columns, frozenset(columns), frozenset(), header=False))
    return AsNames(_digits(_combine_chunks(table["asn"])), _combine_chunks(table["name"]))


def _combine_chunks(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _digits(numbers: pa.Array) -> pa.Array:
    # "AS13335" -> "13335".
    return pc.replace_substring_regex(numbers.cast(pa.string()), r"^\s*[Aa][Ss]", "")
