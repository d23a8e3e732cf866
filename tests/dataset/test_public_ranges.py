"""Public ranges hold the addresses and rows that ``networks`` and lookups give."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

import numpy as np
import pytest

import geolookup
from geolookup.contract.special import PUBLIC, ranges_of
from geolookup.dataset import public_ranges as module
from geolookup.dataset.public_ranges import Ranges, known, public_ranges

Row = tuple[int, int, int, int]


def rows(batches: Iterator[Ranges]) -> list[Row]:
    """Return first and last address and the rows of each range."""
    return [
        (fh << 64 | fl, lh << 64 | ll, location, network)
        for batch in batches
        for fh, fl, lh, ll, location, network in zip(*(c.tolist() for c in batch[1:]), strict=True)
    ]


def expected(engine: geolookup.Engine, family: int, within: object = None) -> list[Row]:
    """Return the same of each network that ``networks`` yields."""
    state = engine._open_state()
    found = []
    for network, _ in engine.networks(within):
        if network.version == family:
            first, last = int(network[0]), int(network[-1])
            at = state.interval_ipv4(first) if family == 4 else state.interval_ipv6(first)
            location, of_network = state.rows(family, at)
            found.append((first, last, location, of_network))
    return found


def merged(listed: list[Row]) -> list[Row]:
    """Join adjacent ranges with equal rows."""
    found: list[Row] = []
    for first, last, *both in listed:
        if found and found[-1][1] + 1 == first and found[-1][2:] == tuple(both):
            first = found.pop()[0]
        found.append((first, last, both[0], both[1]))
    return found


@pytest.mark.parametrize("family", [4, 6])
def test_known_ranges_are_those_of_networks(
    sample: geolookup.Engine, monkeypatch: pytest.MonkeyPatch, family: int
) -> None:
    dataset = sample._open_state().dataset
    for within in (None, "8.0.0.0/7", "2001:4860::/30", "10.0.0.0/8"):
        wanted = merged(expected(sample, family, within))
        for batch in (3, 1 << 17):
            monkeypatch.setattr(module, "_BATCH", batch)
            assert merged(rows(public_ranges(dataset, family, within, known))) == wanted, within


@pytest.mark.parametrize("family", [4, 6])
def test_all_ranges_are_public_space(sample: geolookup.Engine, family: int) -> None:
    dataset = sample._open_state().dataset
    found = rows(public_ranges(dataset, family))
    everything = merged([(first, last, 0, 0) for first, last, *_ in found])
    assert tuple((first, last) for first, last, *_ in everything) == ranges_of(family, PUBLIC)
    batch = next(public_ranges(dataset, family))
    assert [each.dtype for each in batch[1:]] == [np.uint64] * 4 + [np.uint32] * 2


def test_parts(sample: geolookup.Engine) -> None:
    """Within a part of an interval, and chosen ranges only."""
    dataset = sample._open_state().dataset
    network = ipaddress.ip_network("8.8.8.8/31")
    found = rows(public_ranges(dataset, 4, network))
    assert [each[:2] for each in found] == [(int(network[0]), int(network[-1]))]
    assert rows(public_ranges(dataset, 6, network)) == []
    with pytest.raises(ValueError, match="within must be a network"):
        public_ranges(dataset, 4, "8.8.8.8/8")
    everything = rows(public_ranges(dataset, 4))
    chosen = rows(public_ranges(dataset, 4, None, lambda location, _: location == 3))
    assert chosen == [each for each in everything if each[2] == 3] != []
