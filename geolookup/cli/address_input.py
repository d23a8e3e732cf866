"""The addresses of ``geolookup lookup``: its arguments, or the lines of standard input.

Strategy: standard input is read in blocks, and a block is answered when it has arrived. The
numbers of lines are computed for errors only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from geolookup.cli import fail, say

if TYPE_CHECKING:
    from io import BufferedReader
    from typing import Protocol

    from geolookup.kernel.python_state import Lines

    class Block(Protocol):
        """Addresses that are answered together."""

        def answer(self, lines: Lines, second: int) -> int:
            """Write the envelopes; return the number of error envelopes."""

        def positions(self) -> Iterator[str]:
            """Yield the position of each address in the input."""

        def addresses(self) -> Iterator[object]:
            """Yield each address."""


#: The most bytes of standard input to read before their answers are printed.
_BLOCK = 4096
#: Bytes of a line that are kept; a longer one is a malformed address.
_LONGEST_LINE = 1 << 20
STANDARD_INPUT = "-"
_PROMPT = "reading addresses from standard input, one per line; Ctrl-D ends it"


class ArgumentAddresses:
    """Addresses that are arguments, in the form in which they are looked up."""

    def __init__(self, addresses: Iterable[object]) -> None:
        self._addresses = list(addresses)

    def answer(self, lines: Lines, second: int) -> int:
        """See ``Block``."""
        return lines.add(self._addresses, second)

    def positions(self) -> Iterator[str]:
        """See ``Block``."""
        return (f"argument {number}" for number in range(1, len(self._addresses) + 1))

    def addresses(self) -> Iterator[object]:
        """See ``Block``."""
        return iter(self._addresses)


class InputLines:
    """Whole lines of standard input; ``first`` is the number of the first, from 1."""

    def __init__(self, text: bytes, first: int) -> None:
        self._text, self._first = text, first

    def answer(self, lines: Lines, second: int) -> int:
        """See ``Block``."""
        return lines.add_text(self._text, second)

    def positions(self) -> Iterator[str]:
        """See ``Block``; empty lines have no answer."""
        for number, line in enumerate(self._text.split(b"\n"), self._first):
            if _strip(line):
                yield f"line {number}"

    def addresses(self) -> Iterator[str]:
        """See ``Block``."""
        return filter(None, map(_strip, self._text.split(b"\n")))


class CleanLines(InputLines):
    """Whole lines of standard input; ``clean_text`` reads the address in each."""

    def answer(self, lines: Lines, second: int) -> int:
        """See ``Block``."""
        return lines.add(_clean(self.addresses()), second)


def _clean(texts: Iterable[str]) -> list[object]:
    from geolookup.contract.cleaning import clean_text  # here: its patterns take long to compile

    return list(map(clean_text, texts))


def _strip(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape").strip()


def blocks(addresses: tuple[str, ...], *, clean: bool) -> Iterator[Block]:
    """Return the blocks of the arguments; without any, or for ``-``, of standard input."""
    if addresses and addresses != (STANDARD_INPUT,):
        if STANDARD_INPUT in addresses:
            fail("- is standard input; name either - or addresses")
        return iter((ArgumentAddresses(_clean(addresses) if clean else addresses),))
    if not sys.stdin:  # a process may be started without it
        fail("standard input is closed; name addresses, or pipe them in")
    if sys.stdin.isatty():
        say(f"geolookup: {_PROMPT}")
    return read_blocks(
        cast("BufferedReader", sys.stdin.buffer), CleanLines if clean else InputLines
    )


def read_blocks(source: BufferedReader, of_lines: type[InputLines] = InputLines) -> Iterator[Block]:
    """Yield the lines of a stream as they arrive."""
    partial: list[bytes] = []  # the parts of a line whose end has not arrived
    partial_size = 0  # bytes of these
    number = 1  # of the line that begins next
    while block := source.read1(_BLOCK):
        whole, line_feed, tail = block.rpartition(b"\n")
        if line_feed:
            yield of_lines(b"".join((*partial, whole)), number)
            number += block.count(b"\n")
            partial, partial_size = [], 0
        partial.append(tail)
        partial_size += len(tail)
        if partial_size > _LONGEST_LINE:
            partial, partial_size = [b"?"], 0  # with whatever follows, no address
    yield of_lines(b"".join(partial), number)
