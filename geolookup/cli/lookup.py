"""``geolookup lookup``: prints one envelope per address."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator

import click

import geolookup
from geolookup.cli import fail, note_age, options

_FAILED = b'{"success":false'
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
    """Print the envelope of each IP as JSON. Without IP, read addresses from standard input.

    Exits with 0 if every answer is a success, 1 if some answer is an error
    envelope, 2 for misuse or an unusable dataset.

    Example: geolookup lookup 8.8.8.8 2001:4860:4860::8888
    """
    with geolookup.open(dataset) as engine:
        note_age(engine)
        terminal = sys.stdout.isatty()
        show = _as_is if (compact if compact is not None else not terminal) else _indented
        failed = False
        for address in addresses or _standard_input():
            answer = engine.lookup_json(address)
            failed |= answer.startswith(_FAILED)
            sys.stdout.buffer.write(show(answer))
            if terminal:
                sys.stdout.buffer.flush()
        sys.stdout.buffer.flush()
    sys.exit(1 if failed else 0)


def _standard_input() -> Iterator[str]:
    if not sys.stdin:  # a process may be started without it
        fail("standard input is closed; name addresses, or pipe them in")
    lines: Iterable[bytes] = sys.stdin.buffer
    for line in lines:
        address = line.decode("utf-8", "surrogateescape").strip()
        if address:
            yield address


def _as_is(answer: bytes) -> bytes:
    return answer + b"\n"


def _indented(answer: bytes) -> bytes:
    text = json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        text = _TOKEN.sub(_coloured, text)
    return text.encode() + b"\n"


def _coloured(token: re.Match[str]) -> str:
    return click.style(token.group(), fg=_COLOURS[str(token.lastgroup)])
