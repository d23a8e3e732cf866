"""What the commands that pass text through share: blocks of bytes, and colours in them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from geolookup.cli.answer_formats import has_colours

if TYPE_CHECKING:
    from collections.abc import Iterable

    from geolookup.dataset.intervals import U8

color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours in the text; auto: on a terminal, unless $NO_COLOR is set.",
)


def is_colored(choice: str) -> bool:
    """Return whether ``--color`` asks for colours."""
    return has_colours() if choice == "auto" else choice == "always"


def write(parts: Iterable[U8]) -> None:
    """Write parts of a text to standard output, each at once."""
    for part in parts:
        if len(part):
            sys.stdout.buffer.write(part.data)
            sys.stdout.buffer.flush()
