"""Lists of prefixes for the tests of syntaxes, and what a syntax writes of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

import pyarrow as pa

from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.prefixes.syntaxes.protocol import Changes, Lists
from geolookup.prefixes.syntaxes.settings import Settings

USUAL = Settings()


def drawn(seed: int, size: int) -> dict[int, list[str]]:
    """Disjoint prefixes of both families in address order."""
    chance = random.Random(seed)
    return {4: _drawn(chance, 4, 24, 1 << 24, size), 6: _drawn(chance, 6, 48, 0x2A << 120, size)}


def _drawn(chance: random.Random, family: int, usual: int, start: int, size: int) -> list[str]:
    bits, found, at = (32 if family == 4 else 128), list[str](), start
    for _ in range(size):
        length = chance.choice((usual - 4, usual - 1, usual, usual, usual + 1, bits))
        step = 1 << bits - length
        at = -(-at // step) * step
        found.append(
            f"{ip_address(at) if family == 4 else ip_network((at, bits)).network_address}/{length}"
        )
        at += step * chance.choice((1, 1, 2, 5))
    return found


def lists(prefixes: dict[int, list[str]], batch: int = 7) -> Lists:
    """The prefixes as the syntaxes take them, in batches."""
    return {
        family: [
            pa.array(texts[start : start + batch], pa.string())
            for start in range(0, len(texts), batch)
        ]
        for family, texts in prefixes.items()
    }


def changes(old: dict[int, list[str]], new: dict[int, list[str]]) -> Changes:
    """What differs between two lists of the same families."""
    return Changes(lists(_without(new, old)), lists(_without(old, new)))


def _without(some: dict[int, list[str]], others: dict[int, list[str]]) -> dict[int, list[str]]:
    return {
        family: [each for each in texts if each not in set(others[family])]
        for family, texts in some.items()
    }


def whole_text(name: str, prefixes: dict[int, list[str]], settings: Settings = USUAL) -> str:
    return _text(SYNTAXES[name].whole(lists(prefixes), settings))


def changes_text(
    name: str,
    old: dict[int, list[str]],
    new: dict[int, list[str]],
    settings: Settings = USUAL,
) -> str:
    writes = SYNTAXES[name].changes
    assert writes is not None
    return _text(writes(changes(old, new), settings))


def _text(blocks: Iterable[bytes]) -> str:
    return b"".join(blocks).decode("ascii")


def members(prefixes: dict[int, list[str]]) -> list[str]:
    """The first and the last address of each prefix."""
    networks = [ip_network(each) for texts in prefixes.values() for each in texts]
    return [str(each) for network in networks for each in (network[0], network[-1])]


def neighbours(prefixes: dict[int, list[str]]) -> list[str]:
    """The addresses beside the prefixes that are in none of them."""
    networks = [ip_network(each) for texts in prefixes.values() for each in texts]
    inside = set(members(prefixes))
    beside = [each for network in networks for each in (network[0] - 1, network[-1] + 1)]
    return [str(each) for each in beside if str(each) not in inside]
