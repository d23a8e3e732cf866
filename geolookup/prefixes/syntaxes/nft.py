"""nftables: a set of a table for each family, for ``nft -f``, which applies a file as a whole.

The prefixes of a list are disjoint, so the sets need no ``auto-merge``. Without it an element of
the set is a prefix of the list, so that a later file can delete it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from geolookup.prefixes.syntaxes.lines import groups, lines
from geolookup.prefixes.syntaxes.protocol import Changes, Lists, Syntax, set_name
from geolookup.prefixes.syntaxes.settings import Settings

#: The most elements of a command. To load 100,000 elements, nft 1.0.6 takes half as long again in
#: commands of 1,000, and not less time in a single command.
_SIZE = 10_000
_TYPES = {4: "ipv4_addr", 6: "ipv6_addr"}


def _whole(lists: Lists, settings: Settings) -> Iterator[bytes]:
    """Create what is missing, empty the sets and fill them."""
    yield f"add table inet {settings.table}\n".encode()
    for family, batches in lists.items():
        place = _place(family, settings)
        yield f"add set {place} {{ type {_TYPES[family]}; flags interval; }}\n".encode()
        yield f"flush set {place}\n".encode()
        yield from _elements("add", place, batches)


def _changes(changes: Changes, settings: Settings) -> Iterator[bytes]:
    """Delete first: the kernel refuses an element that overlaps another."""
    for command, lists in (("delete", changes.removed), ("add", changes.added)):
        for family, batches in lists.items():
            yield from _elements(command, _place(family, settings), batches)


def _place(family: int, settings: Settings) -> str:
    return f"inet {settings.table} {set_name(family, settings)}"


def _elements(command: str, place: str, batches: Iterable[pa.Array]) -> Iterator[bytes]:
    for group in groups(batches, _SIZE):
        yield f"{command} element {place} {{\n".encode()
        yield from lines("\t", [group], ",\n")
        yield b"}\n"


SYNTAX = Syntax("nft", _whole, _changes, frozenset({"name", "table"}))
