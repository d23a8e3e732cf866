"""The history of addresses by full copies of all generations: the slow, plain answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import geolookup
from tests.internals.contract import STORED, value_in
from tests.internals.dataset import read_manifest
from tests.internals.kernel import state_of

Address = IPv4Address | IPv6Address


class CopyAnswer(NamedTuple):
    """The answer of a full copy: values by path, source and fields by layer."""

    values: Mapping[str, Any]
    sources: Mapping[str, str | None]
    layer_of: Mapping[str, str]


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
            assert [_facts(change) for change in history.changes] == _changes(copies, address)
            assert {(change.first, change.last) for change in history.changes} <= {
                (str(address), str(address))
            }
            first = _answer_of(copies[0].path, address).values
            known = {path: value for path, value in first.items() if value is not None}
            assert (history.first.since, history.first.fields) == (copies[0].begin, known)
        for prefix in prefixes:
            changes = engine.history(prefix).changes
            for item in ip_network(prefix):
                own = [change for change in changes if _has(change, item)]
                assert [_facts(change) for change in own] == _changes(copies, item), item
            for one, other in pairwise(changes):  # neighbours that changed alike are one
                is_next = ip_address(one.last) + 1 == ip_address(other.first)
                assert not (is_next and _facts(one) == _facts(other)), one


def _has(change: Any, address: Address) -> bool:
    return int(ip_address(change.first)) <= int(address) <= int(ip_address(change.last))


def _facts(change: Any) -> tuple[Any, ...]:
    sources = {layer: changed.sources for layer, changed in change.layers.items()}
    times = change.before_until, change.since
    return change.before_generation, change.generation, *times, change.fields, sources


def _changes(copies: Sequence[Copy], address: Address) -> list[tuple[Any, ...]]:
    """Return the facts of the changes of an address, the newest first."""
    listed: list[tuple[Any, ...]] = []
    for before, after in pairwise(copies):
        fields, sources = _differ(_answer_of(before.path, address), _answer_of(after.path, address))
        if fields:
            ids = (read_manifest(copy.path).generation for copy in (before, after))
            listed.insert(0, (*ids, before.end, after.begin, fields, sources))
    return listed


_engine = cache(geolookup.open)


@cache
def _answer_of(copy: Path, address: Address) -> CopyAnswer:
    engine = _engine(copy)
    schema = state_of(engine).dataset.schema
    layer_of = {field.path: field.layer for field in schema.stored}
    data: Any = engine.lookup(address)["data"]  # None of a private address
    values = {field.path: data and value_in(data, field) for field in STORED}
    is_explained = data is not None or schema.private_layers
    layers = engine.explain(address)["layers"] if is_explained else {}
    own = engine.own(address) if schema.own else {}
    values |= {f"own.{name}": value for name, value in (own or {}).items()}
    sources = {layer: item and item["source"] for layer, item in layers.items()}
    return CopyAnswer(values, sources, layer_of)


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
