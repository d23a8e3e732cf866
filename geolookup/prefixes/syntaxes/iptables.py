"""iptables: a chain of rules, for ``iptables-restore --noflush`` and ``ip6tables-restore``.

Each rule states its family by ``-4`` or ``-6``, and each program leaves out the other's rules, so
both read the same file. They apply it as a whole. Declaring the chain creates or empties it.
"""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.protocol import Changes, Lists, Syntax
from geolookup.prefixes.syntaxes.settings import Settings


def _whole(lists: Lists, settings: Settings) -> Iterator[bytes]:
    yield f"*filter\n:{settings.name} - [0:0]\n".encode()
    yield from _rules("-A", lists, settings)
    yield b"COMMIT\n"


def _changes(changes: Changes, settings: Settings) -> Iterator[bytes]:
    yield b"*filter\n"
    yield from _rules("-D", changes.removed, settings)
    yield from _rules("-A", changes.added, settings)
    yield b"COMMIT\n"


def _rules(command: str, lists: Lists, settings: Settings) -> Iterator[bytes]:
    for family, batches in lists.items():
        before = f"{command} {settings.name} -{family} -s "
        yield from lines(before, batches, f" -j {settings.target}\n")


SYNTAX = Syntax("iptables", _whole, _changes, frozenset({"name", "target"}))
