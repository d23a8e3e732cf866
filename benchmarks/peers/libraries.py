"""How each library is opened, and how it answers a list of addresses.

Strategy: an opened contender turns a list of addresses into a callable that
iterates over the answers. Calls are chained with ``map``, so that no contender
pays for a Python function of ours. Work on the list beforehand is not timed.
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


def own(kernel: str, method: str, *extra: object) -> Callable[[], Opening]:
    """Return what loads one of our kernels, whatever the environment says."""

    def load() -> Opening:
        from geolookup.dataset.files import Dataset
        from geolookup.kernel import python as kernel_python

        chosen: Any = kernel_python.Kernel
        if kernel == "compiled":
            try:
                chosen = import_module("geolookup.kernel._compiled").Kernel
            except ImportError:
                raise RefusedError("the compiled kernel was not built here") from None
        return lambda files: _chained(getattr(chosen(Dataset(files.dataset)), method), extra=extra)

    return load


def maxminddb(after: Sequence[Callable[..., object]] = ()) -> Opening:
    """The C extension, or an error: never the Python reader."""
    import maxminddb

    return lambda files: _chained(
        maxminddb.open_database(files.mmdb, maxminddb.MODE_MMAP_EXT).get, *after
    )


def rust(
    method: str = "get", *extra: object, after: Sequence[Callable[..., object]] = ()
) -> Opening:
    """Give the records of the Rust reader, or what another method of it gives."""
    import maxminddb_rust

    return lambda files: _chained(
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

    def opened(files: Files) -> Opened:
        city = Reader(files.mmdb).city

        def lookup(address: str) -> object:
            try:
                return city(address)
            except AddressNotFoundError:
                return None

        return _chained(lookup)

    return opened


def geoip2fast() -> Opening:
    """Read the countries that come with the package; it reads no other format."""
    from geoip2fast import GeoIP2Fast

    return lambda _files: _chained(GeoIP2Fast(geoip2fast_data_file="geoip2fast-ipv6.dat.gz").lookup)


def ip2location() -> Opening:
    """Read a BIN file, where one is given."""
    from IP2Location import IP2Location

    def opened(files: Files) -> Opened:
        if files.ip2location is None:
            raise RefusedError("reads its vendor's BIN files only; none was given (--ip2location)")
        return _chained(IP2Location(str(files.ip2location)).get_all)

    return opened


def pytricia() -> Opening:
    """Hold the prefixes of the MMDB, each with the number of its record."""
    from pytricia import PyTricia

    from benchmarks.data.mmdb import networks

    def opened(files: Files) -> Opened:
        tries = {4: PyTricia(32), 6: PyTricia(128)}
        for family, trie in tries.items():
            for row, _, first, length in networks(files.dataset, family):
                trie.insert(first.to_bytes(4 if family == 4 else 16), length, row)
        return lambda texts: _chained(tries[6 if ":" in texts[0] else 4].get)(texts)

    return opened


def floor() -> Opening:
    """Copy parts that are ready."""
    from benchmarks.peers.floor import opened

    return opened
