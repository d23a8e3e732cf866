"""``explain`` names the source that the slow oracle finds, and its networks and ranges are whole.

Strategy: as for the answers, few and big examples, asked at random addresses and around the
ends of every range.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.contract.address import canonical
from geolookup.contract.special import CARRIES_IPV4, PRIVATE, ranges_of
from tests.conftest import build_at
from tests.oracle import Address, Source, carried, decided, is_public
from tests.range_strategies import addresses, as_csv, edges, recipe, recipes
from tests.tiers import scaled

#: Where answers of another kind begin and end, whatever the sources say.
_BOUNDS = {
    ip_address(canonical(family, end))
    for family in (4, 6)
    for kind in (PRIVATE, CARRIES_IPV4)
    for span in ranges_of(family, kind)
    for end in span
}


@settings(max_examples=scaled(5, 60), suppress_health_check=list(HealthCheck))
@given(recipes, st.lists(addresses, min_size=20, max_size=40))
def test_explain_equals_oracle(listed: list[Source], probes: list[Address]) -> None:
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(each) for n, each in enumerate(listed)}
    with TemporaryDirectory() as folder:
        output, _ = build_at(Path(folder), files, recipe(listed))
        with geolookup.open(output) as engine:
            compare(engine, listed, {*probes, *edges(listed)})


def compare(engine: geolookup.Engine, listed: list[Source], probes: Iterable[Address]) -> None:
    asked = {each for each in probes if is_public(carried(each))}
    asked |= {carried(each) for each in asked}
    truth = {each: decided(listed, carried(each)) for each in asked}
    networks, ranges = {}, {}
    for address in asked:
        explained = engine.explain(str(address))
        found = {name: each and each["source"] for name, each in explained["layers"].items()}
        assert found == {
            layer: f"{number - 1}.csv" if number else None
            for layer, number in truth[address].items()
        }
        networks[explained["network"]] = address
        for layer, each in explained["layers"].items():
            if each:
                ranges[each["range"], layer] = carried(address)
    for text, address in networks.items():
        check_network(text, address, truth)
    for (text, layer), address in ranges.items():
        check_range(text, address, layer, truth)


def check_network(text: str, address: Address, truth: dict[Address, Any]) -> None:
    """All inside is decided alike, and something in the network twice as wide is not."""
    network = ip_network(text)
    assert address in network
    assert all(truth[each] == truth[address] for each in truth if each in network)
    if network.prefixlen and carried(address) == address:
        wider = network.supernet()
        others = [each for each in truth if each in wider and truth[each] != truth[address]]
        assert others or any(each in wider for each in _BOUNDS), text


def check_range(text: str, address: Address, layer: str, truth: dict[Address, Any]) -> None:
    """One source decides the layer in the whole range, and another or none at either side."""
    first, last = (ip_address(end) for end in text.split("-"))
    assert int(first) <= int(address) <= int(last)
    for each in truth:
        if each.version == first.version and carried(each) == each:
            beside = int(each) in (int(first) - 1, int(last) + 1)
            if beside or int(first) <= int(each) <= int(last):
                assert (truth[each][layer] != truth[address][layer]) == beside, text
