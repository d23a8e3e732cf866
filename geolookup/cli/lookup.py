"""``geolookup lookup``: prints one envelope per address."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import click

import geolookup
from geolookup.cli import fail, note_age, options
from geolookup.contract.localtime import instant
from geolookup.errors import DatasetError

if TYPE_CHECKING:
    from io import BufferedReader

    from geolookup.kernel.protocol import Lines

#: The most bytes of standard input to read before their answers are printed.
_BLOCK = 4096
#: Bytes of a line that are kept; a longer one is a malformed address.
_LONGEST_LINE = 1 << 20
_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)'
)
_COLOURS = {"key": "blue", "text": "green", "word": "cyan"}


@click.command(name="lookup", short_help="Look addresses up.")
@click.argument("addresses", metavar="[IP]...", nargs=-1)
@options.dataset()
@options.age_notice
@click.option(
    "--compact/--indent",
    default=None,
    help="One line per answer, or indented. [default: indented on a terminal]",
)
def lookup(addresses: tuple[str, ...], dataset: str | None, compact: bool | None) -> None:
    """Print the envelope of each IP as JSON.

    Without IP, read addresses from standard input, one per line. Answers are printed in the
    order of the addresses, as soon as their lines have arrived. Empty lines are skipped.

    Exits with 0 if every answer is a success, 1 if some answer is an error
    envelope, 2 for misuse or an unusable dataset.

    Example: geolookup lookup 8.8.8.8 2001:4860:4860::8888
    """
    with geolookup.open(dataset) as engine:
        note_age(engine)
        show = _as_is if _is_compact(compact) else _indented
        lines = engine._open_state().lines()  # noqa: SLF001 - as adapters do
        adding = _add_named(lines, addresses) if addresses else _add_piped(lines)
        failures = 0
        try:
            for failed in adding:
                failures += failed
                _print(show(lines.take()))
        except DatasetError:
            _print(show(lines.take()))  # the answers before the damaged row
            raise
    sys.exit(1 if failures else 0)


def _is_compact(chosen: bool | None) -> bool:
    return not sys.stdout.isatty() if chosen is None else chosen


def _print(lines: bytes) -> None:
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()


def _add_named(lines: Lines, addresses: tuple[str, ...]) -> Iterator[int]:
    """Add the answers for the arguments; yield the number of error envelopes."""
    yield lines.add(list(addresses), instant(None))


def _add_piped(lines: Lines) -> Iterator[int]:
    """Add the answers for standard input, a block at a time, as ``_add_named`` does."""
    if not sys.stdin:  # a process may be started without it
        fail("standard input is closed; name addresses, or pipe them in")
    source = cast("BufferedReader", sys.stdin.buffer)
    partial: list[bytes] = []  # the parts of a line whose end has not arrived
    kept = 0  # bytes of these
    while block := source.read1(_BLOCK):
        whole, line_feed, rest = block.rpartition(b"\n")
        if line_feed:
            yield lines.add_text(b"".join((*partial, whole)), instant(None))
            partial, kept = [], 0
        partial.append(rest)
        kept += len(rest)
        if kept > _LONGEST_LINE:
            partial, kept = [b"?"], 0  # with whatever follows, no address
    yield lines.add_text(b"".join(partial), instant(None))


def _as_is(lines: bytes) -> bytes:
    return lines


def _indented(lines: bytes) -> bytes:
    answers = map(json.loads, lines.splitlines())
    text = "".join(json.dumps(each, ensure_ascii=False, indent=2) + "\n" for each in answers)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        text = _TOKEN.sub(_coloured, text)
    return text.encode()


def _coloured(token: re.Match[str]) -> str:
    return click.style(token.group(), fg=_COLOURS[str(token.lastgroup)])
