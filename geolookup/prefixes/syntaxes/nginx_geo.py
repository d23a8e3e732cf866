"""nginx: a ``geo`` block, which gives a variable one value in the list and 0 elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.protocol import Lists, Syntax
from geolookup.prefixes.syntaxes.settings import Settings


def _whole(lists: Lists, settings: Settings) -> Iterator[bytes]:
    yield f"geo ${settings.name} {{\n    default 0;\n".encode()
    for batches in lists.values():
        yield from lines("    ", batches, f" {settings.value};\n")
    yield b"}\n"


SYNTAX = Syntax("nginx-geo", _whole, None, frozenset({"name", "value"}))
