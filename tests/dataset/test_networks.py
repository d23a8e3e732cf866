"""The laws of ``Answer.prefix``, as wide as its answer, and of prefixes: all of the known space."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import Build, build_at
from tests.internals.contract import (
    CARRIES_IPV4,
    EMBEDDED,
    MAX,
    PRIVATE,
    PUBLIC,
    canonical,
    embedded_ipv4,
    fields,
    is_private,
    ranges_of,
)
from tests.internals.dataset import Network, public_ranges, public_ranges_module
from tests.internals.kernel import state_of
from tests.strategies import ipv4_values
from tests.tiers import scaled
from tests.walk import walk

CSV = """network,country_code,city_name
0.0.0.0/0,US,
8.8.8.0/24,US,Mountain View
9.255.255.0/24,US,Before ten
11.0.0.0/24,US,After ten
192.0.0.0/24,US,Around anycast
223.255.255.255/32,US,Before multicast
::/1,US,
2001::/16,US,Around Teredo
2003::/64,US,After 6to4
2a00:0:0:1:8000::/65,FR,Before a border of 64 bits
2a00:0:0:2::/64,FR,After it
2a00:0:0:3:ffff:ffff:ffff:ffff/128,FR,The last one before a border
2a00:0:0:4::/128,FR,The first one after it
"""


@pytest.fixture(scope="session")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[geolookup.Engine]:
    folder: Path = tmp_path_factory.mktemp("awkward")
    with geolookup.open(build_at(folder, {"a.csv": CSV})[0]) as engine:
        yield engine


Answer = dict[str, Any] | int


def answer(engine: geolookup.Engine, family: int, value: int) -> Answer:
    data: Any = engine.lookup(canonical(family, value), at=0)
    if not data["success"]:
        return int(data["error_code"])
    members: dict[str, Any] = data["data"]
    del members["ip"]
    return members


def check(engine: geolookup.Engine, family: int, value: int) -> None:
    asked = canonical(family, value)
    expected = answer(engine, family, value)
    if isinstance(expected, int):
        assert engine.answer(asked).prefix is None
        return
    network = prefix(engine, asked)
    assert network.version == family
    assert value in range(int(network[0]), int(network[-1]) + 1)
    for item in inside(network):
        assert answer(engine, family, item) == expected
        assert prefix(engine, canonical(family, item)) == network
    assert is_maximal(engine, network, expected)


def prefix(engine: geolookup.Engine, ip: str) -> Network:
    network = engine.answer(ip).prefix
    assert network is not None
    return network


def inside(network: Network) -> list[int]:
    rng = random.Random(str(network))
    first, last = int(network[0]), int(network[-1])
    return [first, last, (first + last) // 2, *(rng.randint(first, last) for _ in range(6))]


def is_maximal(engine: geolookup.Engine, network: Network, expected: Answer) -> bool:
    """Say whether the next wider network would hold another answer or another kind of space.

    Its other half is looked through at its ends and at every bound that the
    engine and the special-purpose table have in it.
    """
    wider = network.supernet()
    first, last = int(wider[0]), int(wider[-1])
    if crosses_embedding(network.version, first, last):
        return True
    points = {first, last, *bounds(engine, network.version, first, last)}
    return any(answer(engine, network.version, point) != expected for point in points)


def crosses_embedding(family: int, first: int, last: int) -> bool:
    return family == 6 and any(
        begin <= last and end >= first and not (begin <= first and last <= end)
        for begin, end in EMBEDDED
    )


def bounds(engine: geolookup.Engine, family: int, first: int, last: int) -> Iterator[int]:
    carried = embedded_ipv4(first) if family == 6 else None
    if carried is not None:
        shift = 80 if first >> 112 == 0x2002 else 0
        end = embedded_ipv4(last)
        assert end is not None
        for bound in bounds(engine, 4, carried, end):
            yield first ^ (carried ^ bound) << shift
        return
    for begin, end in ranges_of(family, PRIVATE):
        yield from (item for item in (begin, end) if first <= item <= last)
    limit = ipaddress.ip_network((first, (family == 6) * 96 + 32 - (last - first).bit_length()))
    for known in engine.prefixes(within=limit, aggregate=False):
        yield from (int(known[0]), int(known[-1]))
        yield from (
            item for item in (int(known[0]) - 1, int(known[-1]) + 1) if first <= item <= last
        )


@pytest.mark.parametrize("name", ["sample", "awkward"])
def test_around_everything_known_and_special(request: pytest.FixtureRequest, name: str) -> None:
    engine: geolookup.Engine = request.getfixturevalue(name)
    known = list(engine.prefixes(aggregate=False))
    drawn = random.Random(4).sample(known, min(scaled(40, 150), len(known)))
    ranges = [(entry.version, int(entry[0]), int(entry[-1])) for entry in drawn]
    for family in (4, 6):
        special = (*ranges_of(family, PRIVATE), *ranges_of(family, CARRIES_IPV4))
        ranges += [(family, first, last) for first, last in special]
    for family, first, last in ranges:
        for value in {first - 1, first, last, last + 1} - {-1, MAX[family] + 1}:
            check(engine, family, value)
    for other in (None, "", "8.8.8", "8.8.8.0/24", "::1%1"):
        assert engine.answer(other).prefix is None


@given(
    st.sampled_from((0x08080808, 0x01010101, 0x09090909, 0x0A000001, 0xC0000009)) | ipv4_values,
    st.integers(0, (1 << 80) - 1),
)
def test_carrying_addresses(sample: geolookup.Engine, ipv4: int, low: int) -> None:
    for value in (0xFFFF << 32 | ipv4, 0x64FF9B << 96 | ipv4, 0x2002 << 112 | ipv4 << 80 | low):
        check(sample, 6, value)
        if not is_private(4, ipv4):
            width = prefix(sample, canonical(4, ipv4)).prefixlen
            carrying = prefix(sample, canonical(6, value)).prefixlen
            assert carrying == width + (16 if value >> 112 == 0x2002 else 96)


ANY = {"8.8.8.0/24", "1.1.1.0/24", "0.0.0.0/0", "8.0.0.0/5", "2001:4860::/32", "::/0", "2000::/3"}


GROUPS = ["location", "currency", "network"]
Walked = list[tuple[Network, tuple[dict[str, Any], ...]]]


def walked(engine: geolookup.Engine, within: object = None) -> Walked:
    """Return each network of an interval with its groups, compared with a plain walk."""
    listed = list(engine.prefixes(by=GROUPS, within=within, aggregate=False))
    assert listed == [(item, tuple(record.values())) for item, record in walk(engine, within)]
    return listed


def ends(network: Network) -> tuple[int, int]:
    return int(network[0]), int(network[-1])


@pytest.mark.parametrize("batch", [3, 1 << 17])
def test_all_networks(
    sample: geolookup.Engine, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """Disjoint, sorted, IPv4 first; no special-purpose space, and none that carries IPv4."""
    monkeypatch.setattr(public_ranges_module, "BATCH", batch)
    listed = walked(sample)
    networks = [network for network, _ in listed]
    assert len(networks) > 1000
    for before, after in pairwise(networks):
        assert before.version < after.version or ends(before)[1] < ends(after)[0]
    for network, groups in listed:
        first, last = ends(network)
        blocked = ranges_of(network.version, PRIVATE, CARRIES_IPV4)
        assert not any(begin <= last and end >= first for begin, end in blocked)
        data: Any = sample.lookup(network[-1])["data"]
        assert groups == tuple(data[group] for group in GROUPS)
        assert [list(group) for group in groups] == [list(data[group]) for group in GROUPS]
        assert known(groups)
    # An interval is written as few networks: the one around an address is one of them.
    for network in random.Random(5).sample(networks, 300):
        assert prefix(sample, str(network[0])) == network
    assert [*walked(sample, "0.0.0.0/0"), *walked(sample, "::/0")] == listed


def known(groups: tuple[dict[str, Any], ...]) -> bool:
    values = [value for members in groups for value in members.values()]
    return any(value is not None for value in values)


def clipped(networks: Iterable[tuple[Network, Any]], limit: Network) -> list[tuple[Network, Any]]:
    """Return the parts of disjoint networks within a limit; networks nest or are disjoint."""
    actual = []
    for network, record in networks:
        if network.version == limit.version and network.overlaps(limit):
            actual.append(
                (max(network, limit, key=lambda inside_value: inside_value.prefixlen), record)
            )
    return actual


@settings(max_examples=scaled(5, 100))
@given(st.data())
def test_within(sample: geolookup.Engine, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(ANY)))
    limit = ipaddress.ip_network(text)
    length = data.draw(st.integers(limit.prefixlen, limit.max_prefixlen))
    value = data.draw(st.integers(*ends(limit)))
    limit = ipaddress.ip_network((value, length), strict=False)
    everything = walked(sample, limit.supernet(new_prefix=min(8, limit.prefixlen)))
    inside = walked(sample, limit)
    assert inside == walked(sample, str(limit)) == clipped(everything, limit)
    fewest = ipaddress.collapse_addresses([network for network, _ in inside])  # type: ignore[type-var]
    assert list(sample.prefixes(within=limit)) == list(fewest)


def test_within_what_is_left_out_or_no_network(sample: geolookup.Engine) -> None:
    for block in ("10.0.0.0/8", "::ffff:0:0/96", "2002::/16", "ff00::/8", "::1"):
        assert walked(sample, block) == [], block
    for other in ("", "8.8.8", "8.8.8.8/24", "8.8.8.0/33", "x", [], (), 5.5, b"8.8.8.0", object()):
        with pytest.raises(ValueError, match=r"^prefixes: within must be a network") as caught:
            sample.prefixes(within=other)  # at once, not at the first step
        assert caught.value.__cause__ is None


def test_a_full_table_is_cut_at_special_space(build: Build) -> None:
    dataset, _ = build({"a.csv": "network,country_code\n0.0.0.0/0,US\n::/0,US\n"})
    with geolookup.open(dataset) as engine:
        family: Any
        for family in (4, 6):
            networks = list(engine.prefixes(family=family, aggregate=False))
            blocked = ranges_of(family, PRIVATE, CARRIES_IPV4)
            left_out = sum(last - first + 1 for first, last in blocked)
            width = 32 if family == 4 else 128
            assert sum(network.num_addresses for network in networks) == (1 << width) - left_out
    with geolookup.open(build({"a.csv": "network,country_code\n"})[0]) as engine:
        assert list(engine.prefixes()) == []
        assert str(engine.answer("8.8.8.8").prefix) == "8.0.0.0/7"
        assert engine.metadata.counts["locations"] == 0
        assert set(engine.get("8.8.8.8", "network") or ()) == set(fields.NETWORK_MEMBERS[1:])


@pytest.mark.parametrize("family", [4, 6])
def test_ranges_without_a_selector_are_all_of_public_space(
    sample: geolookup.Engine, family: int
) -> None:
    ends: list[tuple[int, int]] = []
    for batch in public_ranges(state_of(sample).dataset, family):
        halves = (half.tolist() for half in batch[1:5] if isinstance(half, np.ndarray))
        for fh, fl, lh, ll in zip(*halves, strict=True):
            first = fh << 64 | fl
            if ends and ends[-1][1] + 1 == first:
                first = ends.pop()[0]
            ends.append((first, lh << 64 | ll))
    assert tuple(ends) == ranges_of(family, PUBLIC)
