"""DuckDB: SQL functions that answer a vector of rows at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import duckdb
import pyarrow as pa

from geolookup import Engine
from geolookup.contract.fields import FIELDS
from geolookup.contract.localtime import instant
from geolookup.contract.paths import names_of, resolve_field
from geolookup.contract.types import ColumnNames
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.kernel.lookups import state_of
from geolookup.tables.dictionaries import in_one
from geolookup.tables.enrich import Enricher
from geolookup.tables.take import of_table

#: The fields of the functions that ``register`` adds by default.
FIELDS_OF_FUNCTIONS = ("country", "region", "city", "zone", "currency", "asn", "error_code")

#: As texts: the module of the enumerations depends on the version of DuckDB.
_BY_VECTOR: dict[str, Any] = {"type": "arrow", "null_handling": "special"}


def register(
    connection: duckdb.DuckDBPyConnection,
    engine: Engine,
    *fields: ColumnNames,
    prefix: str = "geo",
    clean: bool = False,
) -> None:
    """Add SQL functions that answer from an engine to a connection and its cursors.

    ``geo(ip)`` is the data member of the answer as a STRUCT, without ``ip``. The others return one
    field: ``geo_country(ip)``, and so on for each of ``fields``, by default
    ``FIELDS_OF_FUNCTIONS``. They are several arguments or one list, named as in
    ``Engine.enrich``, with dots replaced by underscores: ``geo_location_latitude``. ``currency``
    is its code; other groups are members of ``geo(ip)``. An own column is ``geo_own_site_id(ip)``.

    Addresses are VARCHAR, an ENUM, UINTEGER (IPv4) or BLOB of 4 or 16 bytes. NULL and addresses
    without an answer give NULL; ``geo_error_code`` is 10001 or 10002 for them. A second argument
    is the instant (TIMESTAMPTZ, or Unix time); without it, it is the time at which DuckDB passes a
    vector. ``clean`` is as in ``Engine.enrich``. Functions of the same names are replaced.

    Raises ValueError for an unknown field. A query raises duckdb.InvalidInputException for columns
    of other types, and after the engine is closed.
    """
    functions = {prefix: _Function(engine, None, clean=clean)}
    for name in names_of(fields) or FIELDS_OF_FUNCTIONS:
        field = resolve_field(name, state_of(engine).dataset.schema.columns, "register")
        full_name = f"{prefix}_{str(name).replace('.', '_')}"
        functions[full_name] = _Function(engine, field.path, clean=clean)
    for name, function in functions.items():
        with suppress(duckdb.InvalidInputException):  # not registered before
            connection.remove_function(name)
        connection.create_function(name, function.answer, return_type=function.type(), **_BY_VECTOR)


class _Function:
    """One SQL function of a field, or of the data member; it caches its enricher for a second."""

    def __init__(self, engine: Engine, path: str | None, *, clean: bool) -> None:
        self._engine = engine
        self._clean = clean
        self._path = path
        self._cache: tuple[Any, int, Enricher] | None = None

    def answer(self, *columns: pa.ChunkedArray) -> pa.Array:
        """Return the answers for a vector of addresses, and optionally one of instants.

        DuckDB passes any number of arguments of any type to a function with ``*columns``.
        """
        if len(columns) > 2:
            raise TypeError(f"{len(columns)} arguments; pass an address and optionally an instant")
        inputs = pa.table(list(columns), names=["column", "time_column"][: len(columns)])
        batches = self._enricher().batches(inputs.to_batches())
        return self._shape(pa.Table.from_batches(list(batches)))

    def type(self) -> Any:
        """Return the SQL type of the answers: the type that DuckDB derives from an empty column."""
        inputs = pa.table({"column": pa.nulls(0)})
        empty = pa.table({"answer": self._shape(self._enricher().table(inputs))})
        with duckdb.connect() as connection:
            return connection.from_arrow(empty).types[0]

    def _enricher(self) -> Enricher:
        # A closed engine raises here; a reloaded engine returns another state.
        state = state_of(self._engine)
        now = instant(None)
        if self._cache is None or self._cache[0] is not state or self._cache[1] != now:
            names = () if self._path is None else (self._path,)
            fields = of_table(names, "register", state.dataset.schema)
            enricher = Enricher(state, fields, at=now, clean=self._clean, threads=1)
            self._cache = state, now, enricher
        return self._cache[2]

    def _shape(self, answers: pa.Table) -> pa.Array:
        # Without dictionaries: DuckDB reads a whole one for each vector, and 1.1 a wrong one.
        columns = {name: without_dictionary(in_one(answers[name])) for name in answers.column_names}
        if self._path is None:
            return _nest(columns)
        (column,) = columns.values()
        return column


def _nest(columns: dict[str, pa.Array]) -> pa.StructArray:
    """Return rows nested as in the contract; null for an address without an answer."""
    # location_city_name -> location: {city_name}; "ip_type" has no group, and stays a member.
    fields = [field for field in FIELDS if field.name in columns]
    members: dict[str, pa.Array] = {}
    for group in dict.fromkeys(field.group or field.path for field in fields):
        of_group = {f.member: columns[f.name] for f in fields if f.group == group}
        members[group] = _struct(of_group) if of_group else columns[group]
    return _struct(members, columns["ip_type"].is_null())


def _struct(members: dict[str, pa.Array], mask: pa.Array | None = None) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(members.values()), list(members), mask=mask)
