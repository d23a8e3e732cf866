"""Who takes part, what each returns, and the whole program that gets a first answer from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.peers import libraries

_COUNTRY = "location.country_code"


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of the table.

    ``load`` imports, and returns what opens: memory is measured between the two.
    ``start`` is a whole program up to the first answer, with the file and an
    address as arguments; ``reads`` names the file in ``Files``.
    """

    name: str
    returns: str
    load: Callable[[], libraries.Opening]
    package: str = ""
    reads: str = ""
    start: str = ""
    kernel: str = ""


_OWN_START = (
    "import sys, geolookup\ngeolookup.open(sys.argv[1]).lookup_json(sys.argv[2])",
    "import sys, geolookup\ngeolookup.open(sys.argv[1]).lookup(sys.argv[2])",
)
_MMDB_START = "import sys, {0}\n{0}.open_database(sys.argv[1]).get(sys.argv[2])"
_JSON_START = "import sys, {0}, {1}\n{1}.dumps({0}.open_database(sys.argv[1]).get(sys.argv[2]))"
_GEOIP2_START = "import sys, geoip2.database as d\nd.Reader(sys.argv[1]).city(sys.argv[2])"
_FAST_START = "import sys, geoip2fast as g\ng.GeoIP2Fast().lookup(sys.argv[2])"


def _ours(kernel: str) -> list[Contender]:
    name, full = f"geolookup ({kernel})", "whole envelope (37 values)"
    json_start, dict_start = _OWN_START
    return [
        Contender(
            f"{name} lookup_json",
            f"{full}, JSON bytes",
            libraries.own(kernel, "lookup_json"),
            "geolookup",
            "dataset",
            json_start,
            kernel,
        ),
        Contender(
            f"{name} lookup",
            f"{full}, dict",
            libraries.own(kernel, "lookup"),
            "geolookup",
            "dataset",
            dict_start,
            kernel,
        ),
        Contender(
            f"{name} get",
            "country code",
            libraries.own(kernel, "get", _COUNTRY),
            "geolookup",
            "dataset",
        ),
    ]


_CITY = "city only (11 values)"
CONTENDERS = (
    *_ours("compiled"),
    *_ours("python"),
    Contender(
        "maxminddb (C) get",
        f"{_CITY}, dict",
        libraries.maxminddb,
        "maxminddb",
        "mmdb",
        _MMDB_START.format("maxminddb"),
    ),
    Contender(
        "maxminddb (C) get + json",
        f"{_CITY}, JSON text",
        lambda: libraries.maxminddb([json.dumps]),
        "maxminddb",
        "mmdb",
        _JSON_START.format("maxminddb", "json"),
    ),
    Contender(
        "maxminddb (C) get + orjson",
        f"{_CITY}, JSON bytes",
        lambda: libraries.with_orjson(libraries.maxminddb),
        "maxminddb",
        "mmdb",
        _JSON_START.format("maxminddb", "orjson"),
    ),
    Contender(
        "maxminddb-rust get",
        f"{_CITY}, dict",
        libraries.rust,
        "maxminddb-rust",
        "mmdb",
        _MMDB_START.format("maxminddb_rust"),
    ),
    Contender(
        "maxminddb-rust get + orjson",
        f"{_CITY}, JSON bytes",
        lambda: libraries.with_orjson(libraries.rust),
        "maxminddb-rust",
        "mmdb",
        _JSON_START.format("maxminddb_rust", "orjson"),
    ),
    Contender(
        "maxminddb-rust get_path",
        "country code",
        lambda: libraries.rust("get_path", ("country", "iso_code")),
        "maxminddb-rust",
        "mmdb",
    ),
    Contender(
        "geoip2 city", f"{_CITY}, model objects", libraries.geoip2, "geoip2", "mmdb", _GEOIP2_START
    ),
    Contender(
        "geoip2fast lookup",
        "country only, of data of its own, object",
        libraries.geoip2fast,
        "geoip2fast",
        "",
        _FAST_START,
    ),
    Contender("IP2Location get_all", "its file's columns", libraries.ip2location, "IP2Location"),
    Contender("pytricia get", "prefix only: a row number", libraries.pytricia, "pytricia"),
    Contender("floor", "the envelope's dict, copied from ready parts", libraries.floor),
)
BY_NAME = {contender.name: contender for contender in CONTENDERS}
