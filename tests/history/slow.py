"""The history of addresses by full copies of all generations: the slow, plain answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import geolookup
from geolookup.errors import PrivateAddressError
from tests.internals.contract import STORED, value_in
from tests.internals.dataset import read_manifest

Address = IPv4Address | IPv6Address


class CopyAnswer(NamedTuple):
    """The answer of a full copy: values by path, source and fields by layer."""

    values: Mapping[str, Any]
    sources: Mapping[str, str | None]
    layer_of: Mapping[str, str]


class SlowChange(NamedTuple):
    """A change: generations and times, the ends of its addresses, and the differences."""

    before: str
    until: str
    after: str
    since: str
    first: str
    last: str
    fields: Mapping[str, tuple[Any, Any]]
    sources: Mapping[str, tuple[Any, Any]]


class Copy(NamedTuple):
    """A full copy of a generation, and the time in which it was in force."""

    path: Path
    begin: str
    end: str  # of the last one: now


def check(
    store: Path, copies: Sequence[Copy], addresses: Sequence[Address], prefixes: Sequence[str]
) -> None:
    """Compare histories with those by ``copies``, the generations that are known in order."""
    with geolookup.open(store) as engine:
        for address in addresses:
            history = engine.history(address)
            assert _as_slow(history) == _changes(copies, [address]), address
            assert history.first.since == copies[0].begin
            first = _answer_of(copies[0].path, address).values
            assert history.first.fields == {
                path: value for path, value in first.items() if value is not None
            }
        for prefix in prefixes:
            listed: list[Address] = [*ip_network(prefix)]
            assert _as_slow(engine.history(prefix)) == _changes(copies, listed), prefix


def _as_slow(history: Any) -> list[SlowChange]:
    return [
        SlowChange(
            change.before_generation,
            change.before_until,
            change.generation,
            change.since,
            change.first,
            change.last,
            change.fields,
            {layer: changed.sources for layer, changed in change.layers.items()},
        )
        for change in history.changes
    ]


_engine = cache(geolookup.open)


@cache
def _answer_of(copy: Path, address: Address) -> CopyAnswer:
    engine = _engine(copy)
    schema = engine.snapshot().dataset.schema
    layer_of = {field.path: field.layer for field in schema.stored}
    try:
        data: Any = engine.data(address)
        values = {field.path: value_in(data, field) for field in STORED}
    except PrivateAddressError:
        values = {field.path: None for field in STORED}
    own = engine.own(address) if schema.own else {}
    values |= {f"own.{name}": value for name, value in (own or {}).items()}
    try:
        layers = engine.explain(address)["layers"]
    except PrivateAddressError:
        layers = {}
    sources = {layer: item and item["source"] for layer, item in layers.items()}
    return CopyAnswer(values, sources, layer_of)


def _changes(copies: Sequence[Copy], addresses: Sequence[Address]) -> list[SlowChange]:
    """Return the changes of adjacent addresses, the newest first."""
    listed: list[SlowChange] = []
    for before, after in reversed(list(pairwise(copies))):
        ids = read_manifest(before.path).generation, read_manifest(after.path).generation
        key = ids[0], before.end, ids[1], after.begin
        joined: list[SlowChange] = []
        following: Address | None = None  # the address after the last of ``joined``
        for address in addresses:
            fields, sources = _differ(
                _answer_of(before.path, address), _answer_of(after.path, address)
            )
            if not fields:
                continue
            change = SlowChange(*key, str(address), str(address), fields, sources)
            if joined and following == address and joined[-1][6:] == change[6:]:
                change = joined.pop()._replace(last=str(address))
            joined.append(change)
            following = address + 1
        listed += joined
    return listed


def _differ(before: CopyAnswer, after: CopyAnswer) -> tuple[dict[str, Any], dict[str, Any]]:
    fields: dict[str, Any] = {}
    sources: dict[Any, Any] = {}
    for path in {**before.layer_of, **after.layer_of}:
        pair = before.values.get(path), after.values.get(path)
        if pair[0] != pair[1]:
            fields[path] = pair
            old, new = before.layer_of.get(path), after.layer_of.get(path)
            deciding = before.sources.get(old or ""), after.sources.get(new or "")
            sources.setdefault(new or old, deciding)
    return fields, sources
