"""Who takes part: how each is opened, how it answers a list of addresses, what it returns.

Strategy: an opened contender turns a list of addresses into a callable that
iterates over the answers. Calls are chained with ``map``, so that no contender
pays for a Python function of ours. Work on the list beforehand is not timed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

Answers = Callable[[], Iterator[object]]
Opened = Callable[[Sequence[str]], Answers]
COUNTRY = "location.country_code"


class RefusedError(Exception):
    """A contender cannot take part here; the text says why."""


@dataclass(frozen=True, slots=True)
class Files:
    """What the contenders read."""

    dataset: Path
    mmdb: Path
    ip2location: Path | None = None


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of the table.

    ``load`` imports, and returns what opens: memory is measured between the two.
    ``start`` is a whole program up to the first answer, with the file and an
    address as arguments; ``reads`` names the file in ``Files``.
    """

    name: str
    returns: str
    load: Callable[[], Callable[[Files], Opened]]
    package: str = ""
    reads: str = ""
    start: str = ""
    kernel: str = ""


def _chained(*functions: Callable[..., object], extra: tuple[object, ...] = ()) -> Opened:
    first, *others = functions

    def opened(addresses: Sequence[str]) -> Answers:
        def answers() -> Iterator[object]:
            found: Iterator[object] = map(first, addresses, *(repeat(each) for each in extra))
            for function in others:
                found = map(function, found)
            return found

        return answers

    return opened


def _own(kernel: str, method: str, *extra: object) -> Callable[[], Callable[[Files], Opened]]:
    def load() -> Callable[[Files], Opened]:
        # Either kernel, whatever the environment says.
        from geolookup import kernel_python
        from geolookup.dataset import Dataset

        chosen: Any = kernel_python.Kernel
        if kernel == "compiled":
            try:
                from geolookup import _kernel
            except ImportError:
                raise RefusedError("the compiled kernel was not built here") from None
            chosen = _kernel.Kernel
        return lambda files: _chained(getattr(chosen(Dataset(files.dataset)), method), extra=extra)

    return load


def _maxminddb(*after: Callable[..., object]) -> Callable[[Files], Opened]:
    import maxminddb

    # The mode says it: the C extension or an error, never the Python reader.
    return lambda files: _chained(
        maxminddb.open_database(files.mmdb, maxminddb.MODE_MMAP_EXT).get, *after
    )


def _rust(method: str = "get", *extra: object, orjson: bool = False) -> Callable[[Files], Opened]:
    import maxminddb_rust

    after: list[Callable[..., object]] = []
    if orjson:
        from orjson import dumps

        after.append(dumps)
    return lambda files: _chained(
        getattr(maxminddb_rust.open_database(files.mmdb), method), *after, extra=extra
    )


def _geoip2() -> Callable[[Files], Opened]:
    from geoip2.database import Reader
    from geoip2.errors import AddressNotFoundError

    def opened(files: Files) -> Opened:
        city = Reader(files.mmdb).city

        def lookup(address: str) -> object:
            try:
                return city(address)
            except AddressNotFoundError:
                return None

        return _chained(lookup)

    return opened


def _geoip2fast() -> Callable[[Files], Opened]:
    from geoip2fast import GeoIP2Fast

    return lambda _files: _chained(GeoIP2Fast(geoip2fast_data_file="geoip2fast-ipv6.dat.gz").lookup)


def _ip2location() -> Callable[[Files], Opened]:
    from IP2Location import IP2Location

    def opened(files: Files) -> Opened:
        if files.ip2location is None:
            raise RefusedError("reads its vendor's BIN files only; none was given (--ip2location)")
        return _chained(IP2Location(str(files.ip2location)).get_all)

    return opened


def _pytricia() -> Callable[[Files], Opened]:
    from pytricia import PyTricia

    from benchmarks.mmdb import networks

    def opened(files: Files) -> Opened:
        tries = {4: PyTricia(32), 6: PyTricia(128)}
        for family, trie in tries.items():
            for row, _, first, length in networks(files.dataset, family):
                trie.insert(first.to_bytes(4 if family == 4 else 16), length, row)
        return lambda texts: _chained(tries[6 if ":" in texts[0] else 4].get)(texts)

    return opened


def _floor() -> Callable[[Files], Opened]:
    from benchmarks.peers_floor import opened

    return opened


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
            _own(kernel, "lookup_json"),
            "geolookup",
            "dataset",
            json_start,
            kernel,
        ),
        Contender(
            f"{name} lookup",
            f"{full}, dict",
            _own(kernel, "lookup"),
            "geolookup",
            "dataset",
            dict_start,
            kernel,
        ),
        Contender(
            f"{name} get", "country code", _own(kernel, "get", COUNTRY), "geolookup", "dataset"
        ),
    ]


_CITY = "city only (11 values)"
CONTENDERS = (
    *_ours("compiled"),
    *_ours("python"),
    Contender(
        "maxminddb (C) get",
        f"{_CITY}, dict",
        _maxminddb,
        "maxminddb",
        "mmdb",
        _MMDB_START.format("maxminddb"),
    ),
    Contender(
        "maxminddb (C) get + json",
        f"{_CITY}, JSON text",
        lambda: _maxminddb(json.dumps),
        "maxminddb",
        "mmdb",
        _JSON_START.format("maxminddb", "json"),
    ),
    Contender(
        "maxminddb-rust get",
        f"{_CITY}, dict",
        _rust,
        "maxminddb-rust",
        "mmdb",
        _MMDB_START.format("maxminddb_rust"),
    ),
    Contender(
        "maxminddb-rust get + orjson",
        f"{_CITY}, JSON bytes",
        lambda: _rust(orjson=True),
        "maxminddb-rust",
        "mmdb",
        _JSON_START.format("maxminddb_rust", "orjson"),
    ),
    Contender(
        "maxminddb-rust get_path",
        "country code",
        lambda: _rust("get_path", ("country", "iso_code")),
        "maxminddb-rust",
        "mmdb",
    ),
    Contender(
        "geoip2 city", f"{_CITY}, model objects", _geoip2, "geoip2", "mmdb", _GEOIP2_START
    ),
    Contender(
        "geoip2fast lookup",
        "country only, of data of its own, object",
        _geoip2fast,
        "geoip2fast",
        "",
        _FAST_START,
    ),
    Contender("IP2Location get_all", "its file's columns", _ip2location, "IP2Location"),
    Contender("pytricia get", "prefix only: a row number", _pytricia, "pytricia"),
    Contender("floor", "the envelope's dict, copied from ready parts", _floor),
)
BY_NAME = {each.name: each for each in CONTENDERS}
