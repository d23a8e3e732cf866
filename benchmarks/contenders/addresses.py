"""How each library answers single addresses, or lists of them.

An opened contender turns a list of addresses into a callable that iterates over the answers. Calls
are chained with ``map``: no contender pays for a Python function of ours. Work on the list
beforehand is not timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any

from benchmarks.contenders.opening import Files, Opened, Opening, RefusedError

Calls = Callable[..., Any]
#: Addresses of a call for many.
TOGETHER = 100


def _chain(*functions: Calls, extra: tuple[object, ...] = ()) -> Opened:
    first, *functions_after = functions

    def prepare(addresses: Sequence[str]) -> Callable[[], Iterator[object]]:
        def answers() -> Iterator[object]:
            results: Iterator[object] = map(first, addresses, *(repeat(value) for value in extra))
            for function in functions_after:
                results = map(function, results)
            return results

        return answers

    return prepare


def _together(call: Calls) -> Opened:
    """Answer lists of ``TOGETHER`` addresses, a call for each."""

    def prepare(addresses: Sequence[str]) -> Callable[[], Iterator[object]]:
        lists = [addresses[at : at + TOGETHER] for at in range(0, len(addresses), TOGETHER)]
        return lambda: map(call, lists)

    return prepare


def own(method: str, *extra: object) -> Opening:
    """A method of the engine."""

    def open_files(files: Files) -> Opened:
        import geolookup

        wanted = os.environ.get("GEOLOOKUP_KERNEL", "compiled")
        if geolookup.Engine.kernel != wanted:
            raise RefusedError(f"the {wanted} kernel was not built here")
        return _chain(getattr(geolookup.open(files.dataset), method), extra=extra)

    return open_files


def own_together(method: str, *extra: object) -> Opening:
    """A method of the engine for many addresses."""

    def open_files(files: Files) -> Opened:
        import geolookup

        call = getattr(geolookup.open(files.dataset), method)
        return _together(lambda addresses: call(addresses, *extra))

    return open_files


def own_lines(files: Files) -> Opened:
    """Blocks of JSON lines."""
    import geolookup

    engine = geolookup.open(files.dataset)
    return lambda addresses: lambda: engine.json_lines(addresses)


def own_module(name: str, *extra: object) -> Opening:
    """A function of the module; it answers from the dataset of the environment."""

    def open_files(files: Files) -> Opened:
        os.environ["GEOLOOKUP_DATASET"] = str(files.dataset)
        import geolookup

        return _chain(getattr(geolookup, name), extra=extra)

    return open_files


def maxminddb(after: Sequence[Calls] = ()) -> Opening:
    """The C extension, or an error: never the Python reader."""

    def open_files(files: Files) -> Opened:
        import maxminddb

        return _chain(maxminddb.open_database(files.mmdb, maxminddb.MODE_MMAP_EXT).get, *after)

    return open_files


def rust(method: str = "get", *extra: object, after: Sequence[Calls] = ()) -> Opening:
    """A method of the Rust reader."""

    def open_files(files: Files) -> Opened:
        import maxminddb_rust

        reader = maxminddb_rust.open_database(files.mmdb)
        return _chain(getattr(reader, method), *after, extra=extra)

    return open_files


def rust_together(method: str, *extra: object) -> Opening:
    """A method of the Rust reader for many addresses."""

    def open_files(files: Files) -> Opened:
        import maxminddb_rust

        call = getattr(maxminddb_rust.open_database(files.mmdb), method)
        return _together(lambda addresses: call(addresses, *extra))

    return open_files


def zig(kind: str, fields: str | None = None) -> Opening:
    """The Zig reader: ``json`` answers texts, ``query`` read-only mappings that it keeps."""

    def open_files(files: Files) -> Opened:
        import maxminddb_zig

        query = getattr(maxminddb_zig.Reader(str(files.mmdb)), kind)
        return _chain((query(fields) if fields else query()).lookup)

    return open_files


def with_orjson(reader: Callable[..., Opening]) -> Opening:
    """Encode what a reader answers as JSON bytes."""

    def open_files(files: Files) -> Opened:
        from orjson import dumps

        return reader(after=[dumps])(files)

    return open_files


def geoip2() -> Opening:
    """Model objects; an unknown address is an exception there."""

    def open_files(files: Files) -> Opened:
        from geoip2.database import Reader
        from geoip2.errors import AddressNotFoundError

        city = Reader(files.mmdb).city

        def lookup(address: str) -> object:
            try:
                return city(address)
            except AddressNotFoundError:
                return None

        return _chain(lookup)

    return open_files


def floor_of_json(files: Files) -> Opened:
    """What the machine needs for the same bytes, in C; IPv4 only."""
    from benchmarks.peers.floor import open_steps

    return open_steps(files)


def floor_of_dict(files: Files) -> Opened:
    """The envelope's dict, copied from parts that are ready."""
    from benchmarks.peers.floor import open_ready

    return open_ready(files)
