"""Prefixes of ranges are the fewest that cover them, as those of ``ipaddress``."""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.internals.contract import BITS, MAX
from tests.internals.dataset import Addresses
from tests.internals.prefixes import Spans, cidr_texts, join, prefixes_of, range_texts
from tests.prefixes.brute_force import Network, collapsed
from tests.tiers import scaled

Range = tuple[int, int]
_K = 1 << 64
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
    ends = [bound - draw(st.sampled_from((0, 1))) for bound in bounds[1::2]]
    listed = [(first, max(first, last)) for first, last in zip(bounds[::2], ends, strict=False)]
    # A range cut in two is two adjacent ranges.
    return [part for entry in listed for part in _cut(entry, draw(st.integers(0, MAX[family])))]


def _cut(whole: Range, at: int) -> list[Range]:
    first, last = whole
    at = first + at % (last - first + 1)
    return [(first, at), (at + 1, last)] if at < last else [whole]


drawn = st.sampled_from((4, 6)).flatmap(lambda family: st.tuples(st.just(family), ranges(family)))


def spans_of(family: int, listed: list[Range], codes: list[int] | None = None) -> Spans:
    """Return ranges as columns."""
    firsts, lasts = (Addresses.of(6, [entry[end] for entry in listed]) for end in (0, 1))
    return Spans(family, firsts, lasts, () if codes is None else (np.array(codes, np.int32),))


def listed_of(spans: Spans) -> list[Range]:
    """Return columns as ranges."""
    return [(spans.first.item(at), spans.last.item(at)) for at in range(len(spans))]


def split(spans: Spans) -> list[tuple[Network, int]]:
    """Return the prefixes of ranges as networks, each with the number of its range."""
    prefixes, of = prefixes_of(spans)
    address = _ADDRESS[prefixes.family]
    networks = [
        ipaddress.ip_network((address(prefixes.first.item(at)), length))
        for at, length in enumerate(prefixes.lengths.tolist())
    ]
    assert cidr_texts(prefixes).to_pylist() == [str(network) for network in networks]
    return list(zip(networks, of.tolist(), strict=True))


def joined_networks(family: int, listed: list[Range], batch: int = 16) -> list[Network]:
    """Return the prefixes of ranges that come in batches, adjacent ones joined."""
    batches = [listed[at : at + batch] for at in range(0, len(listed), batch)]
    result = join(spans_of(family, item) for item in batches)
    return [network for spans in result for network, _ in split(spans)]


def _known(test: Any) -> Any:
    """Add the ends of the space and of 64 bits, siblings, neighbours that are none, and gaps."""
    for family, most in MAX.items():
        half, first = most >> 1, 1 << BITS[family] - 8
        for listed in (
            *([], [(0, most)], [(0, 0)], [(most, most)], [(1, most)], [(0, most - 1)]),
            *([(0, half), (half + 1, most)], [(first, 2 * first - 1), (2 * first, 3 * first - 1)]),
            *([(8, 9), (11, 15)], [(8, 9), (10, 10), (11, 15)]),
        ):
            test = example((family, listed), 1)(test)
    for listed in ([(_K - 1, _K)], [(0, _K)], [(0, _K - 1), (_K, 2 * _K - 1)], [(_K, 3 * _K - 1)]):
        test = example((6, listed), 2)(test)
    return test


@settings(max_examples=scaled(10, 60))
@_known
@given(drawn, st.integers(1, 5))
def test_any_ranges(family_and_ranges: tuple[int, list[Range]], batch: int) -> None:
    family, listed = family_and_ranges
    address = _ADDRESS[family]
    each = [
        (network, at)
        for at, ends in enumerate(listed)
        for network in ipaddress.summarize_address_range(*map(address, ends))
    ]
    assert split(spans_of(family, listed)) == each
    assert joined_networks(family, listed, batch) == collapsed(network for network, _ in each)


@settings(max_examples=scaled(10, 60))
@given(drawn, st.data())
def test_ranges_with_other_codes_stay_apart(
    family_and_ranges: tuple[int, list[Range]], data: st.DataObject
) -> None:
    family, listed = family_and_ranges
    codes = data.draw(st.lists(st.integers(0, 1), min_size=len(listed), max_size=len(listed)))
    expected: list[tuple[int, int, int]] = []
    for (first, last), code in zip(listed, codes, strict=True):
        if expected and expected[-1][1:] == (first - 1, code):
            first = expected.pop()[0]
        expected.append((first, last, code))
    actual = [*join([spans_of(family, listed, codes)])]
    assert [
        (*ends, code)
        for spans in actual
        for ends, code in zip(listed_of(spans), spans.codes[0].tolist(), strict=True)
    ] == expected


@settings(max_examples=scaled(5, 40))
@given(drawn)
def test_range_texts(family_and_ranges: tuple[int, list[Range]]) -> None:
    family, listed = family_and_ranges
    listed += [] if family == 4 else [(0xFFFF << 32, (0xFFFF << 32) + 0x10002)]
    expected = [f"{_text(family, first)}-{_text(family, last)}" for first, last in listed]
    assert range_texts(spans_of(family, listed)).to_pylist() == expected


def _text(family: int, value: int) -> str:
    if family == 6 and value >> 32 == 0xFFFF:  # from Python 3.13 on, ipaddress writes 1.2.3.4
        return f"::ffff:{value >> 16 & 0xFFFF:x}:{value & 0xFFFF:x}"
    return str(_ADDRESS[family](value))
