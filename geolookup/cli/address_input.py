"""The addresses of ``geolookup lookup``: its arguments, or the lines of standard input.

Strategy: standard input is read in blocks, and a block is answered when it has arrived. Its lines
are split, and their numbers computed, only for formats and errors that need them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from geolookup.cli import fail, say

if TYPE_CHECKING:
    from io import BufferedReader

    from geolookup.kernel.python_state import Lines

#: The most bytes of standard input to read before their answers are printed.
_BLOCK = 4096
#: Bytes of a line that are kept; a longer one is a malformed address.
_LONGEST_LINE = 1 << 20
STANDARD_INPUT = "-"
_PROMPT = "reading addresses from standard input, one per line; Ctrl-D ends it"


class Block:
    """Addresses that are answered together: arguments, or whole lines of standard input.

    ``first`` is the number of the first line, from 1. Empty lines have no answer. With ``clean``,
    ``contract.cleaning`` reads the address in each text.
    """

    def __init__(self, source: Sequence[str] | bytes, first: int = 1, *, clean: bool) -> None:
        self._source, self._first, self._clean = source, first, clean
        self.is_lines = isinstance(source, bytes)

    def answer(self, lines: Lines, second: int) -> int:
        """Write the envelopes; return the number of error envelopes."""
        if isinstance(self._source, bytes) and not self._clean:
            return lines.add([*filter(None, self._texts())], second)
        return lines.add([address for _, address in self.items()], second)

    def items(self) -> Iterator[tuple[str, object]]:
        """Yield the position of each address in the input, and the address."""
        unit = "line" if self.is_lines else "argument"
        for number, text in enumerate(self._texts(), self._first):
            if text or not self.is_lines:
                yield f"{unit} {number}", _clean(text) if self._clean else text

    def _texts(self) -> Sequence[str]:
        if not isinstance(self._source, bytes):
            return self._source
        lines = self._source.decode("utf-8", "surrogateescape").split("\n")
        return [*map(str.strip, lines)]


def _clean(text: str) -> object:
    from geolookup.contract.cleaning import clean_text  # here: its patterns take long to compile

    return clean_text(text)


def blocks(addresses: tuple[str, ...], *, clean: bool = False) -> Iterator[Block]:
    """Return the blocks of the arguments; without any, or for ``-``, of standard input."""
    if addresses and addresses != (STANDARD_INPUT,):
        if STANDARD_INPUT in addresses:
            fail("- is standard input; name either - or addresses")
        return iter((Block(addresses, clean=clean),))
    if not sys.stdin:  # a process may be started without it
        fail("standard input is closed; name addresses, or pipe them in")
    if sys.stdin.isatty():
        say(f"geolookup: {_PROMPT}")
    return read_blocks(cast("BufferedReader", sys.stdin.buffer), clean=clean)


def read_blocks(source: BufferedReader, *, clean: bool = False) -> Iterator[Block]:
    """Yield the lines of a stream as they arrive."""
    partial: list[bytes] = []  # the parts of a line whose end has not arrived
    partial_size = 0  # bytes of these
    number = 1  # of the line that begins next
    while block := source.read1(_BLOCK):
        whole, line_feed, tail = block.rpartition(b"\n")
        if line_feed:
            yield Block(b"".join((*partial, whole)), number, clean=clean)
            number += block.count(b"\n")
            partial, partial_size = [], 0
        partial.append(tail)
        partial_size += len(tail)
        if partial_size > _LONGEST_LINE:
            partial, partial_size = [b"?"], 0  # with whatever follows, no address
    yield Block(b"".join(partial), number, clean=clean)
