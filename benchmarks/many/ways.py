"""The ways to answer many addresses: calls for many, single calls, and other readers in a loop.

A way answers a list of addresses and drops the answers: the time does not include memory for all of
them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import geolookup
from benchmarks.peers.libraries import Files, Opened, Opening, maxminddb, rust, with_orjson

Way = Callable[[list[str]], None]
FIELDS: tuple[geolookup.FieldName, ...] = (
    "country",
    "city",
    "asn",
)
LINES, SINGLE_JSON = "json_lines", "lookup_json"
DICTS, SINGLE_DICT = "lookup_many", "lookup"
VALUES, SINGLE_VALUES = "get_many, three fields", "get, three fields"
RUST_MANY = "maxminddb-rust get_many"


def ways(engine: geolookup.Engine, mmdb: Path | None, size: int) -> dict[str, Way]:
    """Return every way by its name, with ``size`` addresses a call.

    Readers that are not installed are left out.
    """
    return {
        SINGLE_JSON: _one_by_one(engine.lookup_json),
        "lookup_many_json": _call(engine.lookup_many_json, size),
        LINES: lambda ips: _drain(engine.json_lines(ips)),
        SINGLE_DICT: _one_by_one(engine.lookup),
        DICTS: _call(engine.lookup_many, size),
        SINGLE_VALUES: _one_by_one(lambda ip: engine.get(ip, *FIELDS)),
        VALUES: _call(lambda ips: engine.get_many(ips, FIELDS), size),
        **(dict(_others(mmdb, size)) if mmdb else {}),
    }


def _others(mmdb: Path, size: int) -> Iterator[tuple[str, Way]]:
    loads: dict[str, Callable[[], Opening]] = {
        "maxminddb (C) get": maxminddb,
        "maxminddb-rust get": rust,
        "maxminddb (C) get + orjson": lambda: with_orjson(maxminddb),
        "maxminddb-rust get + orjson": lambda: with_orjson(rust),
    }
    for name, load in loads.items():
        with suppress(ImportError):
            yield name, _ask(load()(Files(mmdb, mmdb)))
    with suppress(ImportError):
        from maxminddb_rust import open_database

        yield RUST_MANY, _call(open_database(mmdb).get_many, size)


def _ask(reader: Opened) -> Way:
    return lambda ips: _drain(reader(ips)())


def _one_by_one(lookup: Callable[[str], object]) -> Way:
    return lambda ips: _drain(map(lookup, ips))


def _call(call: Callable[[list[str]], object], size: int) -> Way:
    return lambda ips: _drain(map(call, (ips[at : at + size] for at in range(0, len(ips), size))))


def _drain(answers: Iterable[object]) -> None:
    deque(answers, 0)  # of no length: drops each answer at once
