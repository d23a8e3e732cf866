"""How each library is opened, and how it answers a list of addresses.

Strategy: an opened contender turns a list of addresses into a callable that
iterates over the answers. Calls are chained with ``map``: no contender pays for a Python function
of ours. Work on the list beforehand is not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any

Answers = Callable[[], Iterator[object]]
Opened = Callable[[Sequence[str]], Answers]


class RefusedError(Exception):
    """A contender cannot take part here; the text says why."""


@dataclass(frozen=True, slots=True)
class Files:
    """What the contenders read."""

    dataset: Path
    mmdb: Path
    ip2location: Path | None = None


Opening = Callable[[Files], Opened]


def _chain(*functions: Callable[..., object], extra: tuple[object, ...] = ()) -> Opened:
    first, *functions_after = functions

    def prepare(addresses: Sequence[str]) -> Answers:
        def answers() -> Iterator[object]:
            results: Iterator[object] = map(first, addresses, *(repeat(value) for value in extra))
            for function in functions_after:
                results = map(function, results)
            return results

        return answers

    return prepare


def own(kernel: str, method: str, *extra: object) -> Callable[[], Opening]:
    """Return what loads one of our kernels, whatever the environment says."""

    def load() -> Opening:
        from geolookup.dataset.files import Dataset
        from geolookup.kernel import python as kernel_python

        factory: Any = kernel_python.Kernel
        if kernel == "compiled":
            try:
                factory = import_module("geolookup.kernel._compiled").Kernel
            except ImportError:
                raise RefusedError("the compiled kernel was not built here") from None
        return lambda files: _chain(getattr(factory(Dataset(files.dataset)), method), extra=extra)

    return load


def maxminddb(after: Sequence[Callable[..., object]] = ()) -> Opening:
    """The C extension, or an error: never the Python reader."""
    import maxminddb

    return lambda files: _chain(
        maxminddb.open_database(files.mmdb, maxminddb.MODE_MMAP_EXT).get, *after
    )


def rust(
    method: str = "get", *extra: object, after: Sequence[Callable[..., object]] = ()
) -> Opening:
    """Give the records of the Rust reader, or what another method of it gives."""
    import maxminddb_rust

    return lambda files: _chain(
        getattr(maxminddb_rust.open_database(files.mmdb), method), *after, extra=extra
    )


def with_orjson(load: Callable[..., Opening]) -> Opening:
    """Encode what a reader gives as JSON bytes."""
    from orjson import dumps

    return load(after=[dumps])


def geoip2() -> Opening:
    """Turn records into model objects; an unknown address is an exception there."""
    from geoip2.database import Reader
    from geoip2.errors import AddressNotFoundError

    def open_files(files: Files) -> Opened:
        city = Reader(files.mmdb).city

        def lookup(address: str) -> object:
            try:
                return city(address)
            except AddressNotFoundError:
                return None

        return _chain(lookup)

    return open_files


def geoip2fast() -> Opening:
    """Read the countries that come with the package; it reads no other format."""
    from geoip2fast import GeoIP2Fast

    return lambda _files: _chain(GeoIP2Fast(geoip2fast_data_file="geoip2fast-ipv6.dat.gz").lookup)


def ip2location() -> Opening:
    """Read a BIN file, where one is given."""
    from IP2Location import IP2Location

    def open_files(files: Files) -> Opened:
        if files.ip2location is None:
            raise RefusedError("reads its vendor's BIN files only; none was given (--ip2location)")
        return _chain(IP2Location(str(files.ip2location)).get_all)

    return open_files


def pytricia() -> Opening:
    """Hold the prefixes of the MMDB, each with the number of its record."""
    from pytricia import PyTricia

    from benchmarks.data.mmdb import networks

    def open_files(files: Files) -> Opened:
        tries = {4: PyTricia(32), 6: PyTricia(128)}
        for family, trie in tries.items():
            for row, _, first, length in networks(files.dataset, family):
                trie.insert(first.to_bytes(4 if family == 4 else 16), length, row)
        return lambda texts: _chain(tries[6 if ":" in texts[0] else 4].get)(texts)

    return open_files


def floor() -> Opening:
    """Copy parts that are ready."""
    from benchmarks.peers.floor import open_floor

    return open_floor
