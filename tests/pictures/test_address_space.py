"""Cells and addresses against ipaddress, and the populated part of IPv6 against its definition."""

from __future__ import annotations

import ipaddress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.dataset.intervals import Addresses
from geolookup.pictures.address_space import IPV4, Space, space_of
from geolookup.pictures.views import UNKNOWN, View, view_of
from tests.pictures.random_views import starts_in, view_lists

IPV6 = Space(6, 17, 80, 112, (0x2001 << 112, 0x2A00 << 112, 0x2A01 << 112))


@pytest.mark.parametrize("space", [IPV4, IPV4.coarser(4), IPV6, IPV6.coarser(3)], ids=str)
@given(data=st.data())
def test_a_cell_is_a_network_of_its_block(space: Space, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, space.filled - 1))
    address = space.first_address(cell)
    kind = ipaddress.IPv4Network if space.family == 4 else ipaddress.IPv6Network
    width = 32 if space.family == 4 else 128
    network = kind((address, width - space.cell_bits))
    blocks = [kind((block, width - space.block_bits)) for block in space.blocks]
    (at,) = (at for at, block in enumerate(blocks) if network.subnet_of(block))  # type: ignore[arg-type]
    assert cell // space.cells_per_block == at
    assert space.cell(int(network[0])) == space.cell(int(network[-1])) == cell


def test_outside_the_blocks() -> None:
    for text in ("::", "2000:ffff::", "2002::", "2a02::", "ffff::"):
        assert IPV6.cell(int(ipaddress.ip_address(text))) is None, text
    with pytest.raises(IndexError):
        IPV6.first_address(IPV6.filled)


def test_all_and_nothing_known_of_ipv6() -> None:
    def space(label: int) -> Space:
        values = np.array([label], np.uint32)
        return space_of([view_of("v", "V", "", Addresses.of(6, [0]), values, ["A"])])

    everything = space(2)
    assert (everything.order, everything.block_bits) == (24, 112)
    assert len(everything.blocks) == 1 << 16
    assert space(1).blocks == ()


def _known(view: View) -> list[tuple[int, int]]:
    starts = starts_in(view)
    ends = [*starts[1:], 1 << 128]
    known = (view.values > UNKNOWN).tolist()
    return [(a, b - 1) for a, b, is_known in zip(starts, ends, known, strict=True) if is_known]


def _touched(known: list[tuple[int, int]], length: int) -> set[int]:
    shift = 128 - length
    return {block for a, b in known for block in range(a >> shift, (b >> shift) + 1)}


def _side(blocks: int, length: int) -> int:
    order = 0
    while 4**order < blocks << 48 - length:
        order += 1
    return order


@given(view_lists(6, most=3))
def test_the_blocks_are_those_that_need_the_smallest_square(views: list[View]) -> None:
    known = [each for view in views for each in _known(view)]
    space = space_of(views)
    needed = {length: _side(len(_touched(known, length)), length) for length in (16, 18, 20)}
    assert space.order <= min(needed.values())
    length = 128 - space.block_bits
    assert length not in needed or space.order == needed[length]
    assert all(needed[shorter] > space.order for shorter in needed if shorter < length)
    if length <= 20:
        assert list(space.blocks) == sorted(n << space.block_bits for n in _touched(known, length))
