"""DuckDB: SQL functions that answer a vector of rows at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import duckdb
import pyarrow as pa

from geolookup import Engine
from geolookup.contract.fields import FIELDS
from geolookup.contract.localtime import instant
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.tables import in_one
from geolookup.tables.enrich import Enricher
from geolookup.tables.take import of_table

#: The field that each function returns, by the suffix of its name; None: the data member.
FUNCTIONS: dict[str, str | None] = {
    "": None,
    "_country": "location.country_code",
    "_region": "location.region_name",
    "_city": "location.city_name",
    "_zone": "time.zone",
    "_currency": "currency.code",
    "_asn": "network.asn",
    "_error": "error_code",
}

#: As texts: the module of the enumerations depends on the version of DuckDB.
_BY_VECTOR: dict[str, Any] = {"type": "arrow", "null_handling": "special"}


def register(
    connection: duckdb.DuckDBPyConnection,
    engine: Engine,
    *,
    prefix: str = "geo",
    clean: bool = False,
) -> None:
    """Give a connection, and its cursors, SQL functions that answer from an engine.

    ``geo(ip)`` is the data member of the answer as a STRUCT, without ``ip``; the
    others are a member each, see FUNCTIONS. Addresses are VARCHAR, an ENUM,
    UINTEGER (IPv4) or BLOB of 4 or 16 bytes. NULL and addresses without an answer
    give NULL; ``geo_error`` says why (10001, 10002). A second argument is the instant
    to answer for (TIMESTAMPTZ, or Unix time); without it, it is the one at which
    DuckDB hands over a vector. ``clean`` is that of ``Engine.enrich``. Functions of these
    names that were registered before are replaced. A query raises
    duckdb.InvalidInputException for columns of other types and once the engine is closed.
    """
    for suffix, path in FUNCTIONS.items():
        function = _Function(engine, path, clean=clean)
        name = prefix + suffix
        with suppress(duckdb.InvalidInputException):  # not registered before
            connection.remove_function(name)
        connection.create_function(name, function.answer, return_type=function.type(), **_BY_VECTOR)


class _Function:
    """One SQL function; its enricher is reused for vectors of the same second."""

    def __init__(self, engine: Engine, path: str | None, *, clean: bool) -> None:
        self._engine = engine
        self._clean = clean
        self._path = path
        self._cache: tuple[Any, int, Enricher] | None = None

    def answer(self, *columns: pa.ChunkedArray) -> pa.Array:
        """Return the answers for a vector of addresses and, if given, one of instants.

        To DuckDB a function with nothing but ``*columns`` takes any number, of any type.
        """
        if len(columns) > 2:
            raise TypeError(f"{len(columns)} arguments where an address and an instant are wanted")
        addresses, instants = columns if len(columns) == 2 else (columns[0], None)
        batches = self._enricher().batches([(addresses, instants)])
        return self._shape(pa.Table.from_batches(batches))

    def type(self) -> Any:
        """Return the SQL type of the answers, as DuckDB derives it from an empty column."""
        empty = pa.table({"answer": self._shape(self._enricher().table(pa.nulls(0)))})
        with duckdb.connect() as apart:
            return apart.from_arrow(empty).types[0]

    def _enricher(self) -> Enricher:
        # A closed engine raises here; a reloaded engine returns another state.
        state = self._engine.snapshot()
        now = instant(None)
        if self._cache is None or self._cache[0] is not state or self._cache[1] != now:
            fields = of_table(() if self._path is None else (self._path,))
            enricher = Enricher(state, fields, at=now, clean=self._clean, threads=1)
            self._cache = state, now, enricher
        return self._cache[2]

    def _shape(self, answers: pa.Table) -> pa.Array:
        columns = {name: _plain(answers[name]) for name in answers.schema.names}
        if self._path is None:
            return _nest(columns)
        (column,) = columns.values()
        return column


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Decode dictionaries: DuckDB reads a whole one for each vector, 1.1 even a wrong one."""
    return without_dictionary(in_one(column))


def _nest(columns: dict[str, pa.Array]) -> pa.StructArray:
    """Return rows as the contract nests them; null if there is no answer."""
    # location_city_name -> location: {city_name}; "ip_type" has no group, and stays a member.
    fields = [field for field in FIELDS if field.name in columns]
    members: dict[str, pa.Array] = {}
    for group in dict.fromkeys(field.group or field.path for field in fields):
        of_group = {f.member: columns[f.name] for f in fields if f.group == group}
        members[group] = _struct(of_group) if of_group else columns[group]
    return _struct(members, columns["ip_type"].is_null())


def _struct(members: dict[str, pa.Array], mask: pa.Array | None = None) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(members.values()), list(members), mask=mask)
