"""The table of contenders: what each returns, how it is opened and how it is compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.contenders import addresses, answers, columns
from benchmarks.contenders.answers import CITY_FIELDS, COUNTRY, Record
from benchmarks.contenders.opening import Opening

#: What a contender is given: an address a call, a list a call, a table.
ONE, MANY, COLUMN = "one", "many", "column"
#: Three fields, as the README asks for them.
THREE = ("country", "city", "asn")


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of a table.

    ``values`` reads an answer, or of a table all answers with their addresses; None compares
    nothing. ``share`` of the addresses is timed. ``start`` is a whole program up to the first
    answer, with file and address as arguments.
    """

    name: str
    returns: str
    open: Opening
    values: Callable[[Any], Any] | None
    kind: str = ONE
    package: str = "geolookup"
    share: float = 1.0
    families: tuple[int, ...] = (4, 6)
    start: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def reads(self) -> str:
        """The file that it reads, by its name in ``Files``."""
        return "dataset" if self.package == "geolookup" else "mmdb"

    def records(self, inputs: Any, results: Iterable[Any]) -> Iterable[tuple[str, Record]]:
        """Return the addresses and the values of the answers."""
        if self.values is None:
            return []
        if self.kind == COLUMN:
            (table,) = results
            pairs: Iterable[tuple[str, Record]] = self.values(table)
            return pairs
        flat = [item for some in results for item in some] if self.kind == MANY else results
        return zip(inputs, map(self.values, flat), strict=True)


_CITY = "city only (11 values)"
_FULL = "whole envelope (37 values)"
_OPEN = "import sys, geolookup\ngeolookup.open(sys.argv[1])."
_MMDB = "import sys, {0}\n{0}.open_database(sys.argv[1]).get(sys.argv[2])"
_JSON = "import sys, {0}, {1}\n{1}.dumps({0}.open_database(sys.argv[1]).get(sys.argv[2]))"
_ZIG = "import sys, maxminddb_zig as m\nm.Reader(sys.argv[1]).json().lookup(sys.argv[2])"
_GEOIP2 = "import sys, geoip2.database as d\nd.Reader(sys.argv[1]).city(sys.argv[2])"
_PYTHON = {"GEOLOOKUP_KERNEL": "python"}
#: The names that goals and pages use.
JSON, DICT, FIELD = "geolookup lookup_json", "geolookup lookup", "geolookup get"
THREE_FIELDS, MODULE, ANSWER = (
    "geolookup get, three fields",
    "geolookup.get of the module",
    "geolookup answer",
)
C_DICT, RUST_DICT = "maxminddb (C) get", "maxminddb-rust get"
C_JSON, C_ORJSON, RUST_JSON = f"{C_DICT} + json", f"{C_DICT} + orjson", f"{RUST_DICT} + orjson"
RUST_FIELD, ZIG_JSON, ZIG_DICT = (
    "maxminddb-rust get_path",
    "maxminddb-zig json query",
    "maxminddb-zig query",
)
FLOOR_JSON, FLOOR_DICT = "floor of JSON", "floor of dict"

_ONE_ADDRESS = (
    Contender(
        JSON,
        f"{_FULL}, JSON bytes",
        addresses.own("lookup_json"),
        answers.envelope,
        start=f"{_OPEN}lookup_json(sys.argv[2])",
    ),
    Contender(
        DICT,
        f"{_FULL}, dict",
        addresses.own("lookup"),
        answers.envelope,
        start=f"{_OPEN}lookup(sys.argv[2])",
    ),
    Contender(FIELD, "country code", addresses.own("get", COUNTRY), answers.country),
    Contender(
        THREE_FIELDS,
        "three values",
        addresses.own("get", *THREE),
        answers.country_first,
    ),
    Contender(ANSWER, "whole answer, object", addresses.own("answer"), None),
    Contender(MODULE, "country code", addresses.own_module("get", COUNTRY), answers.country),
    Contender(
        f"{JSON}, Python kernel",
        f"{_FULL}, JSON bytes",
        addresses.own("lookup_json"),
        answers.envelope,
        share=0.1,
        start=f"{_OPEN}lookup_json(sys.argv[2])",
        environment=_PYTHON,
    ),
    Contender(
        f"{DICT}, Python kernel",
        f"{_FULL}, dict",
        addresses.own("lookup"),
        answers.envelope,
        share=0.1,
        environment=_PYTHON,
    ),
    Contender(
        C_DICT,
        f"{_CITY}, dict",
        addresses.maxminddb(),
        answers.mmdb,
        package="maxminddb",
        start=_MMDB.format("maxminddb"),
    ),
    Contender(
        C_JSON,
        f"{_CITY}, JSON text",
        addresses.maxminddb([json.dumps]),
        answers.mmdb,
        package="maxminddb",
        start=_JSON.format("maxminddb", "json"),
    ),
    Contender(
        C_ORJSON,
        f"{_CITY}, JSON bytes",
        addresses.with_orjson(addresses.maxminddb),
        answers.mmdb,
        package="maxminddb",
    ),
    Contender(
        RUST_DICT,
        f"{_CITY}, dict",
        addresses.rust(),
        answers.mmdb,
        package="maxminddb-rust",
        start=_MMDB.format("maxminddb_rust"),
    ),
    Contender(
        RUST_JSON,
        f"{_CITY}, JSON bytes",
        addresses.with_orjson(addresses.rust),
        answers.mmdb,
        package="maxminddb-rust",
        start=_JSON.format("maxminddb_rust", "orjson"),
    ),
    Contender(
        RUST_FIELD,
        "country code",
        addresses.rust("get_path", ("country", "iso_code")),
        answers.country,
        package="maxminddb-rust",
    ),
    Contender(
        ZIG_JSON,
        f"{_CITY}, JSON text, and the network",
        addresses.zig("json"),
        answers.with_network,
        package="maxminddb-zig",
        start=_ZIG,
    ),
    Contender(
        ZIG_DICT,
        f"{_CITY}, read-only mapping that it keeps, and the network",
        addresses.zig("query"),
        answers.with_network,
        package="maxminddb-zig",
    ),
    Contender(
        f"{ZIG_DICT}, country",
        "country, such a mapping, and the network",
        addresses.zig("query", "country"),
        answers.with_network_country,
        package="maxminddb-zig",
    ),
    Contender(
        "geoip2 city",
        f"{_CITY}, model objects",
        addresses.geoip2(),
        answers.mmdb,
        package="geoip2",
        share=0.3,
        start=_GEOIP2,
    ),
    Contender(
        FLOOR_JSON,
        "as many bytes, in C: parse, dependent reads, copy",
        addresses.floor_of_json,
        None,
        families=(4,),
    ),
    Contender(
        FLOOR_DICT,
        "the envelope's dict, copied from ready parts",
        addresses.floor_of_dict,
        answers.envelope,
    ),
)
#: Calls for many addresses.
LINES, DICTS, ONE_EACH, THREE_EACH = (
    "geolookup json_lines",
    "geolookup lookup_many",
    "geolookup get_many",
    "geolookup get_many, three fields",
)
RUST_EACH = "maxminddb-rust get_many_path"
_MANY = (
    Contender(
        "geolookup lookup_many_json",
        f"{_FULL}, JSON bytes",
        addresses.own_together("lookup_many_json"),
        answers.envelope,
        MANY,
    ),
    Contender(LINES, f"{_FULL}, blocks of JSON lines", addresses.own_lines, None, MANY),
    Contender(
        DICTS, f"{_FULL}, dict", addresses.own_together("lookup_many"), answers.envelope, MANY
    ),
    Contender(
        ONE_EACH, "country code", addresses.own_together("get_many", COUNTRY), answers.country, MANY
    ),
    Contender(
        THREE_EACH,
        "three values",
        addresses.own_together("get_many", THREE),
        answers.country_first,
        MANY,
    ),
    Contender(
        "maxminddb-rust get_many",
        f"{_CITY}, dict",
        addresses.rust_together("get_many"),
        answers.mmdb,
        MANY,
        "maxminddb-rust",
    ),
    Contender(
        RUST_EACH,
        "country code",
        addresses.rust_together("get_many_path", ("country", "iso_code")),
        answers.country,
        MANY,
        "maxminddb-rust",
    ),
)
#: Columns: one field, and the fields that a record of the MMDB has.
OWN_ONE, OWN_CITY = "geolookup enrich, one field", "geolookup enrich, eleven fields"
POLARS_ONE, POLARS_CITY = "maxminddb-polars, one field", "maxminddb-polars, whole record"
_COLUMNS = (
    Contender(OWN_ONE, "country code", columns.own((COUNTRY,)), answers.own_columns, COLUMN),
    Contender(OWN_CITY, _CITY, columns.own(CITY_FIELDS), answers.own_columns, COLUMN),
    Contender(
        POLARS_ONE,
        "country code",
        columns.maxminddb_polars(whole_record=False),
        answers.country_column,
        COLUMN,
        "maxminddb-polars",
        0.3,
    ),
    Contender(
        POLARS_CITY,
        _CITY,
        columns.maxminddb_polars(whole_record=True),
        answers.mmdb_column,
        COLUMN,
        "maxminddb-polars",
        0.05,
    ),
    Contender(
        "polars-maxminddb, one field",
        "name of the country",
        columns.polars_maxminddb(),
        answers.country_name_column,
        COLUMN,
        "polars-maxminddb",
        0.1,
    ),
    Contender(
        "polars-iptools, whole record",
        "twelve values, a struct",
        columns.polars_iptools(),
        answers.iptools_column,
        COLUMN,
        "polars-iptools",
        0.1,
        (4,),
    ),
    Contender(
        "maxminddb (C), loop, one field",
        "country code",
        columns.maxminddb_loop,
        answers.country_column,
        COLUMN,
        "maxminddb",
        0.1,
    ),
    Contender(
        "DuckDB, ASOF join, one field",
        "country code",
        columns.duckdb_join,
        answers.country_column,
        COLUMN,
        "duckdb",
        0.3,
        (4,),
    ),
)
CONTENDERS = (*_ONE_ADDRESS, *_MANY, *_COLUMNS)
BY_NAME = {contender.name: contender for contender in CONTENDERS}
