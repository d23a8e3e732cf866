"""BIRD 2: a constant for each family, a set of prefixes with all that they contain.

A list states which addresses have an answer, not which routes exist. So a route has to match
where it lies in a prefix of the list, which ``+`` says, and not only where it equals one.
"""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.protocol import Lists, Syntax, set_name
from geolookup.prefixes.syntaxes.settings import Settings


def _whole(lists: Lists, settings: Settings) -> Iterator[bytes]:
    for family, batches in lists.items():
        yield f"define {set_name(family, settings)} = [".encode()
        separator = b"\n\t"  # BIRD accepts no comma after the last prefix
        for block in lines("\t", batches, "+,\n"):
            yield separator
            separator = b",\n\t"
            yield block[1:-2]
        yield b"\n];\n"


SYNTAX = Syntax("bird", _whole, takes=frozenset({"name"}))
