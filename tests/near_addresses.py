"""Addresses where answers change, and texts that are nearly addresses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

from tests.internals.dataset import Dataset


def interval_starts(dataset: Dataset) -> tuple[list[int], list[int]]:
    highs, lows = dataset.ipv6_highs, dataset.ipv6_lows
    return list(dataset.ipv4_starts), [h << 64 | w for h, w in zip(highs, lows, strict=True)]


def addresses(rng: random.Random, dataset: Dataset) -> Iterator[str]:
    """Addresses at and beside the bounds of intervals, anywhere, and carrying IPv4."""
    ipv4, ipv6 = interval_starts(dataset)
    while True:
        step = rng.choice((-1, 0, 1, 200))
        near4 = (rng.choice(ipv4) + step) % (1 << 32)
        near6 = (rng.choice(ipv6) + rng.choice((step, step << 64))) % (1 << 128)
        yield str(IPv4Address(near4))
        yield str(IPv6Address(near6))
        yield str(IPv4Address(rng.getrandbits(32)))
        yield IPv6Address(near6).exploded.upper()
        yield f"::ffff:{IPv4Address(near4)}"
        yield str(IPv6Address(0x2002 << 112 | near4 << 80 | rng.getrandbits(80)))
        yield f"64:ff9b::{IPv4Address(near4)}"


def near_addresses(rng: random.Random, dataset: Dataset) -> Iterator[str]:
    """Addresses, and addresses with a letter put in, taken out or changed."""
    for address in addresses(rng, dataset):
        yield address
        at = rng.randrange(len(address) + 1)  # at the end too: a dot after an address
        letter = rng.choice("0123456789abcdefABCDEFgx:.%/ \0٣é\ud800")
        yield address[:at] + letter + address[at + 1 :]
        yield address[:at] + letter + address[at:]
        yield address[:at] + address[at + 1 :]
        yield "".join(rng.choices("01a2f:.", k=rng.randrange(20)))
