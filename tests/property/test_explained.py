"""``explain`` names the sources that the slow oracle finds, and its ranges are whole."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from tests.internals.contract import CARRIES_IPV4, PRIVATE, canonical, ranges_of
from tests.oracle import (
    Address,
    Source,
    SourceRow,
    carried,
    decided,
    is_public,
)
from tests.property.compiled import opened
from tests.range_strategies import addresses, edges, recipes, restricted_recipes
from tests.tiers import scaled

#: Where answers of another kind begin and end, whatever the sources say.
_BOUNDS = {
    ip_address(canonical(family, end))
    for family in (4, 6)
    for kind in (PRIVATE, CARRIES_IPV4)
    for span in ranges_of(family, kind)
    for end in span
}


_CLIPPED = SourceRow(ip_address("9.255.0.0"), ip_address("11.0.0.255"), {"isp": "wide"})
_FOLDED = SourceRow(ip_address("::ffff:9.255.255.0"), ip_address("::ffff:9.255.255.255"), {})
_STRADDLING = SourceRow(
    ip_address("::fffe:ffff:fff0"), ip_address("::ffff:9.255.255.0"), {"isp": "x"}
)
#: A row around private space, an empty one folded over it, and one that is folded in part.
CASES = [
    Source([_CLIPPED, _FOLDED]),
    Source([_STRADDLING], frozenset({"isp"})),
    Source([_STRADDLING], frozenset({"asn"})),
]


@example(CASES, [])
@settings(max_examples=scaled(4, 40), suppress_health_check=list(HealthCheck))
@given(recipes | restricted_recipes, st.lists(addresses, min_size=20, max_size=40))
def test_explain_equals_oracle(listed: list[Source], probes: list[Address]) -> None:
    asked = {item for item in (*probes, *edges(listed)) if is_public(carried(item))}
    asked |= {carried(request) for request in asked}
    with opened(listed) as engine:
        ordered = sorted(asked, key=lambda address: (address.version, int(address)))
        compare(engine, listed, ordered)


def compare(engine: geolookup.Engine, listed: list[Source], asked: Iterable[Address]) -> None:
    truth = {request: decided(listed, carried(request)) for request in asked}
    alike, ranges = {}, {}
    for address in asked:
        explained = engine.explain(str(address))
        assert explained["network"] == str(engine.answer(address).prefix)
        actual = {name: item and item["source"] for name, item in explained["layers"].items()}
        assert actual == {
            layer: f"{number - 1}.csv" if number else None
            for layer, number in truth[address].items()
        }
        alike[explained["same_sources"]] = carried(address)
        for layer, element in explained["layers"].items():
            if element:
                ranges[element["range"], layer] = carried(address)
    for text, address in alike.items():
        check_one_kind(text)
        check_range(text, address, truth)
    for (text, layer), address in ranges.items():
        check_range(text, address, {item: truth[item][layer] for item in truth})


def check_range(text: str, address: Address, truth: dict[Address, Any]) -> None:
    """All in the range is decided alike, and the addresses at either side are not."""
    first, last = (ip_address(end) for end in text.split("-"))
    assert int(first) <= int(address) <= int(last)
    for item, sources in truth.items():
        if item.version == first.version and carried(item) == item:
            beside = int(item) in (int(first) - 1, int(last) + 1)
            if beside or int(first) <= int(item) <= int(last):
                assert (sources != truth[address]) == beside, text


def check_one_kind(text: str) -> None:
    """No special-purpose space begins or ends inside the range."""
    first, last = (ip_address(end) for end in text.split("-"))
    bounds = (int(bound) for bound in _BOUNDS if bound.version == first.version)
    assert not any(int(first) < bound < int(last) for bound in bounds)
