"""The laws of ``networks``: disjoint, sorted, all of the known public space and nothing else."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from geolookup.contract import fields
from geolookup.contract.address import canonical, embedded_ipv4
from geolookup.contract.special import CARRIES_IPV4, PRIVATE, ranges_of
from geolookup.dataset.networks import Network
from tests.conftest import Build
from tests.strategies import ipv4_values, ipv6_values

ANY = {"8.8.8.0/24", "1.1.1.0/24", "0.0.0.0/0", "8.0.0.0/5", "2001:4860::/32", "::/0", "2000::/3"}


def ends(network: Network) -> tuple[int, int]:
    return int(network[0]), int(network[-1])


def test_all_networks(sample: geolookup.Engine) -> None:
    """Disjoint, sorted, IPv4 first; no special-purpose space, and none that carries IPv4."""
    listed = list(sample.networks())
    networks = [network for network, _ in listed]
    assert len(networks) > 1000
    for before, after in pairwise(networks):
        assert before.version < after.version or ends(before)[1] < ends(after)[0]
    for network, record in listed:
        first, last = ends(network)
        blocked = ranges_of(network.version, PRIVATE, CARRIES_IPV4)
        assert not any(begin <= last and end >= first for begin, end in blocked)
        data: Any = sample.data(network[-1])
        assert list(record) == ["location", "currency", "network"]
        assert record == {member: data[member] for member in record}
        assert known(record)
    # An interval is written as few networks: the one around an address is one of them.
    for network in random.Random(5).sample(networks, 300):
        assert sample.network(network[0]) == network
    assert [*sample.networks("0.0.0.0/0"), *sample.networks("::/0")] == listed
    assert list(sample.networks(None)) == listed


def known(record: dict[str, Any]) -> bool:
    values = [value for members in record.values() for value in members.values()]
    return any(value is not None for value in values)


@given(ipv4_values, ipv6_values)
def test_what_is_left_out_is_unknown(sample: geolookup.Engine, ipv4: int, ipv6: int) -> None:
    for family, value in ((4, ipv4), (6, ipv6)):
        answer = sample.lookup(canonical(family, value))
        if not answer["success"] or (family == 6 and embedded_ipv4(value) is not None):
            continue
        found = list(sample.networks(canonical(family, value)))
        record = {member: answer["data"][member] for member in ("location", "currency", "network")}
        assert [each for _, each in found] == ([record] if known(record) else [])


def clipped(networks: Iterable[tuple[Network, Any]], limit: Network) -> list[tuple[Network, Any]]:
    """Return what of disjoint networks lies within a limit; networks nest or are disjoint."""
    found = []
    for network, record in networks:
        if network.version == limit.version and network.overlaps(limit):
            found.append((max(network, limit, key=lambda each: each.prefixlen), record))
    return found


@given(st.data())
def test_within(sample: geolookup.Engine, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(ANY)))
    limit = ipaddress.ip_network(text)
    length = data.draw(st.integers(limit.prefixlen, limit.max_prefixlen))
    value = data.draw(st.integers(*ends(limit)))
    limit = ipaddress.ip_network((value, length), strict=False)
    everything = list(sample.networks(limit.supernet(new_prefix=min(8, limit.prefixlen))))
    assert list(sample.networks(limit)) == clipped(everything, limit)
    assert list(sample.networks(str(limit))) == clipped(everything, limit)


def test_within_what_is_left_out_or_no_network(sample: geolookup.Engine) -> None:
    for block in ("10.0.0.0/8", "::ffff:0:0/96", "2002::/16", "ff00::/8", "::1"):
        assert list(sample.networks(block)) == [], block
    for other in ("", "8.8.8", "8.8.8.8/24", "8.8.8.0/33", "x", [], (), 5.5, b"8.8.8.0", object()):
        with pytest.raises(ValueError, match=r"^within must be a network") as caught:
            sample.networks(other)  # at once, not at the first step
        assert caught.value.__cause__ is None


def test_a_full_table_is_cut_at_special_space(build: Build) -> None:
    dataset, _ = build({"a.csv": "network,country_code\n0.0.0.0/0,US\n::/0,US\n"})
    with geolookup.open(dataset) as engine:
        for family in (4, 6):
            networks = [n for n, _ in engine.networks() if n.version == family]
            blocked = ranges_of(family, PRIVATE, CARRIES_IPV4)
            left_out = sum(last - first + 1 for first, last in blocked)
            width = 32 if family == 4 else 128
            assert sum(network.num_addresses for network in networks) == (1 << width) - left_out
    with geolookup.open(build({"a.csv": "network,country_code\n"})[0]) as engine:
        assert list(engine.networks()) == []
        assert str(engine.network("8.8.8.8")) == "8.0.0.0/7"
        assert engine.metadata.counts["locations"] == 0
        assert set(engine.data("8.8.8.8")["network"]) == set(fields.NETWORK_MEMBERS[1:])
