"""Prefixes of ranges are the fewest that cover them, checked against ipaddress and netaddr."""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.contract.address import BITS, MAX
from geolookup.prefixes.aggregate import Prefixes, prefixes_of
from geolookup.prefixes.spans import Halves, Spans, joined
from geolookup.prefixes.texts import cidr_texts, range_texts
from tests.tiers import scaled

netaddr = pytest.importorskip("netaddr")

Range = tuple[int, int]
_LOW = (1 << 64) - 1
_ADDRESS: dict[int, Any] = {4: ipaddress.IPv4Address, 6: ipaddress.IPv6Address}


@st.composite
def ranges(draw: st.DrawFn, family: int) -> list[Range]:
    """Return disjoint ranges in order, many of them aligned, some of them adjacent."""
    bits = st.integers(0, BITS[family])
    aligned = st.builds(
        lambda value, shift: value >> shift << shift, st.integers(0, MAX[family]), bits
    )
    near = st.sampled_from((0, 1, MAX[family], 1 << BITS[family] - 1))
    bounds = sorted(draw(st.sets(aligned | near | st.integers(0, MAX[family]), max_size=16)))
    ends = [each - draw(st.sampled_from((0, 1))) for each in bounds[1::2]]
    return [(first, max(first, last)) for first, last in zip(bounds[::2], ends, strict=False)]


drawn = st.sampled_from((4, 6)).flatmap(lambda each: st.tuples(st.just(each), ranges(each)))


def spans_of(family: int, listed: list[Range], codes: list[int] | None = None) -> Spans:
    """Return ranges as columns."""
    first, last = (
        Halves(
            np.array([each[end] >> 64 for each in listed], np.uint64),
            np.array([each[end] & _LOW for each in listed], np.uint64),
        )
        for end in (0, 1)
    )
    return Spans(family, first, last, () if codes is None else (np.array(codes, np.int32),))


def listed_of(spans: Spans) -> list[Range]:
    """Return columns as ranges."""
    columns = (each.tolist() for each in (*spans.first, *spans.last))
    return [(fh << 64 | fl, lh << 64 | ll) for fh, fl, lh, ll in zip(*columns, strict=True)]


def networks(prefixes: Prefixes) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return columns as networks."""
    columns = zip(*(each.tolist() for each in prefixes[1:]), strict=True)
    address = _ADDRESS[prefixes.family]
    return [
        ipaddress.ip_network((address(high << 64 | low), length)) for high, low, length in columns
    ]


@settings(max_examples=scaled(5, 40))
@given(drawn)
def test_prefixes_are_those_of_ipaddress(given_: tuple[int, list[Range]]) -> None:
    family, listed = given_
    address = _ADDRESS[family]
    expected = [
        (network, number)
        for number, (first, last) in enumerate(listed)
        for network in ipaddress.summarize_address_range(address(first), address(last))
    ]
    prefixes, of = prefixes_of(spans_of(family, listed))
    assert list(zip(networks(prefixes), of.tolist(), strict=True)) == expected
    assert cidr_texts(prefixes).to_pylist() == [str(network) for network, _ in expected]


@settings(max_examples=scaled(5, 40))
@given(drawn, st.integers(1, 5))
def test_joined_ranges_are_the_fewest_prefixes(given_: tuple[int, list[Range]], batch: int) -> None:
    family, listed = given_
    batches = [listed[at : at + batch] for at in range(0, len(listed), batch)]
    found = [*joined(spans_of(family, each) for each in batches)]
    texts = [str(each) for spans in found for each in networks(prefixes_of(spans)[0])]
    covered = netaddr.cidr_merge(
        [netaddr.IPRange(*(netaddr.IPAddress(each, family) for each in pair)) for pair in listed]
    )
    assert [ipaddress.ip_network(each) for each in texts] == [
        ipaddress.ip_network((each.first, each.prefixlen))
        if family == 4
        else ipaddress.IPv6Network((each.first, each.prefixlen))
        for each in covered
    ]


@settings(max_examples=scaled(5, 40))
@given(drawn, st.data())
def test_ranges_with_other_codes_stay_apart(
    given_: tuple[int, list[Range]], data: st.DataObject
) -> None:
    family, listed = given_
    codes = data.draw(st.lists(st.integers(0, 1), min_size=len(listed), max_size=len(listed)))
    expected: list[tuple[int, int, int]] = []
    for (first, last), code in zip(listed, codes, strict=True):
        if expected and expected[-1][1:] == (first - 1, code):
            first = expected.pop()[0]
        expected.append((first, last, code))
    found = [*joined([spans_of(family, listed, codes)])]
    assert [
        (*ends, code)
        for spans in found
        for ends, code in zip(listed_of(spans), spans.codes[0].tolist(), strict=True)
    ] == expected


@settings(max_examples=scaled(5, 40))
@given(drawn)
def test_range_texts(given_: tuple[int, list[Range]]) -> None:
    family, listed = given_
    address = _ADDRESS[family]
    expected = [f"{address(first)}-{address(last)}" for first, last in listed]
    # From Python 3.13 on, ipaddress writes mapped addresses with an IPv4 address at their end.
    if not any(last >= 0xFFFF << 32 and first < 1 << 48 for first, last in listed):
        assert range_texts(spans_of(family, listed)).to_pylist() == expected


def test_a_family_ends_a_range() -> None:
    """The last IPv4 address does not touch the first IPv6 address."""
    found = [*joined([spans_of(4, [(1, MAX[4])]), spans_of(6, [(0, 1)])])]
    assert [(each.family, listed_of(each)) for each in found] == [(4, [(1, MAX[4])]), (6, [(0, 1)])]
