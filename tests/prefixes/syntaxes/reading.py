"""Lists of prefixes, and the texts of them and of their changes in each syntax."""

from __future__ import annotations

import random
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

import pyarrow as pa

from tests.internals.prefixes import SYNTAXES, Lists, checked_names

USUAL = checked_names()


def drawn(seed: int, size: int) -> dict[int, list[str]]:
    """Disjoint prefixes of both families in address order."""
    chance = random.Random(seed)
    return {4: _drawn(chance, 4, 24, 1 << 24, size), 6: _drawn(chance, 6, 48, 0x2A << 120, size)}


def _drawn(chance: random.Random, family: int, usual: int, start: int, size: int) -> list[str]:
    bits, actual, at = (32 if family == 4 else 128), list[str](), start
    for _ in range(size):
        length = chance.choice((usual - 4, usual - 1, usual, usual, usual + 1, bits))
        step = 1 << bits - length
        at = -(-at // step) * step
        actual.append(
            f"{ip_address(at) if family == 4 else ip_network((at, bits)).network_address}/{length}"
        )
        at += step * chance.choice((1, 1, 2, 5))
    return actual


def lists(prefixes: dict[int, list[str]], batch: int = 7) -> Lists:
    """The prefixes as the syntaxes take them, in batches."""
    return {
        family: [
            pa.array(texts[start : start + batch], pa.string())
            for start in range(0, len(texts), batch)
        ]
        for family, texts in prefixes.items()
    }


def _without(some: dict[int, list[str]], others: dict[int, list[str]]) -> dict[int, list[str]]:
    return {
        family: [text for text in texts if text not in set(others[family])]
        for family, texts in some.items()
    }


def whole_text(
    name: str, prefixes: dict[int, list[str]], names: dict[str, str] = USUAL, batch: int = 7
) -> str:
    return _text(SYNTAXES[name].text(lists(prefixes, batch), names))


def changes_text(
    name: str,
    old: dict[int, list[str]],
    new: dict[int, list[str]],
    names: dict[str, str] = USUAL,
) -> str:
    return _text(SYNTAXES[name].text(lists(_without(new, old)), names, lists(_without(old, new))))


def _text(blocks: Iterable[bytes]) -> str:
    return b"".join(blocks).decode("ascii")
