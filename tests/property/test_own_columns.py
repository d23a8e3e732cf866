"""Own columns of random recipes: their values, provenance and explanations, as in the oracle."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from tests.internals.dataset import Addresses, read, starts_of
from tests.internals.dataset import layout as fmt
from tests.oracle import Address, OwnColumn, Source, SourceRow, carried, is_public, own_decided
from tests.property.compiled import opened
from tests.range_strategies import addresses, edges, own_recipes
from tests.tiers import scaled

_SITE = OwnColumn("site_id", "text", private=True)
_RISK = OwnColumn("risk", "integer")


def row(first: str, last: str, **cells: str) -> SourceRow:
    named = {f"own.{name}": cell for name, cell in cells.items()}
    return SourceRow(ip_address(first), ip_address(last), named)


#: A row around private space, known there in one of its layers, and one folded over its end.
CASE = (
    [_SITE, _RISK],
    [
        Source([row("9.255.0.0", "11.0.0.255", site_id="wide", risk="5")]),
        Source([row("::ffff:10.255.255.0", "::ffff:11.0.0.1", site_id="folded", risk="x")]),
    ],
)


#: The upper source ends within a range whose values the lower one repeats.
REPEATED = (
    [_SITE],
    [
        Source([row("8.8.8.4", "8.8.8.7", site_id="a")]),
        Source([row("8.8.8.0", "8.8.8.15", site_id="a")]),
    ],
)


@example(CASE, [])
@example(REPEATED, [])
@settings(max_examples=scaled(4, 40), suppress_health_check=list(HealthCheck))
@given(
    own_recipes(),
    st.lists(addresses, min_size=20, max_size=40),
)
def test_own_columns_equal_the_oracle(
    drawn: tuple[list[OwnColumn], list[Source]], probes: list[Address]
) -> None:
    """Of private addresses too."""
    columns, listed = drawn
    has_private = any(column.private for column in columns)
    truth = {one: own_decided(listed, columns, str(one)) for one in {*probes, *edges(listed)}}
    with opened(listed, columns=columns) as engine:
        geolookup.verify(engine.path)
        for address, decided in truth.items():
            values = {name: item for _, of in decided.values() for name, item in of.items()}
            assert engine.own(address) == {c.name: values.get(c.name) for c in columns}, address
            if is_public(carried(address)) or has_private:
                explained = engine.explain(address)
                check_explained(explained, decided, columns)
                check_ranges(explained, listed, columns, truth)
        intervals = {4: read(engine.path / fmt.IPV4)[0], 6: read(engine.path / fmt.IPV6)[0]}
    # Private space has no row of the contract's tables, whatever the source states there.
    for address in {carried(item) for item in (*probes, *edges(listed))}:
        if not is_public(address):
            batch = intervals[address.version]
            value = Addresses.of(address.version, [int(address)])
            at = int(starts_of(batch).search(value)[0]) - 1
            assert [batch[link][at].as_py() for link in ("location", "network")] == [0, 0], address


def check_explained(
    explained: Any, decided: dict[str, tuple[int, dict[str, Any]]], columns: list[OwnColumn]
) -> None:
    for layer, (number, values) in decided.items():
        item = explained["layers"][layer]
        assert (item and item["source"]) == (f"{number - 1}.csv" if number else None)
        known = {f"own.{name}": value for name, value in values.items()}
        assert (item["values"] if item else {}) == known
    if not is_public(carried(ip_address(explained["ip"]))):
        public = explained["layers"].keys() - {c.layer for c in columns if c.private}
        assert not any(explained["layers"][layer] for layer in public)


def check_ranges(
    explained: Any,
    listed: list[Source],
    columns: list[OwnColumn],
    truth: dict[Address, dict[str, tuple[int, dict[str, Any]]]],
) -> None:
    """All in a range is decided alike; at either side values or the kind of space differ."""
    asked = ip_address(explained["ip"])
    address = carried(asked)
    assert asked in ip_network(explained["network"])
    for layer, decided in own_decided(listed, columns, str(address)).items():
        item = explained["layers"][layer]
        if item is None:
            continue
        assert address in ip_network(item["prefix"])
        first, last = map(ip_address, item["same_values"].split("-"))
        assert int(first) <= int(address) <= int(last)
        for one, of in truth.items():
            if one.version == first.version and int(first) <= int(one) <= int(last):
                assert of[layer] == decided, (layer, one)
        for number in {int(first) - 1, int(last) + 1} - {-1, 1 << first.max_prefixlen}:
            outside = type(first)(number)
            is_other = carried(outside) != outside or is_public(outside) != is_public(address)
            assert is_other or own_decided(listed, columns, str(outside))[layer] != decided
