"""An entry a line: prefixes, ranges, and the files that pf and Squid name in their configuration.

Neither tool reads changes. ``pfctl -T replace`` compares the file with the table by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.protocol import Changes, Lists, Syntax
from geolookup.prefixes.syntaxes.settings import Settings


def whole(lists: Lists, _settings: Settings) -> Iterator[bytes]:
    """Yield the lines of all lists."""
    for batches in lists.values():
        yield from lines("", batches)


def _signed(changes: Changes, _settings: Settings) -> Iterator[bytes]:
    """Yield the removed prefixes with ``-`` before each, then the added ones with ``+``."""
    for sign, lists in (("-", changes.removed), ("+", changes.added)):
        for batches in lists.values():
            yield from lines(sign, batches)


CIDR = Syntax("cidr", whole, _signed)
RANGE = Syntax("range", whole, entries="range")
PF = Syntax("pf", whole)
SQUID = Syntax("squid", whole)
