"""``geolookup annotate`` and ``grep``: any text, tagged or filtered by the addresses in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import click

from geolookup.cli import exit_on_signals, fail, options, require_output
from geolookup.cli.command import command
from geolookup.cli.terminal_text import (
    charset,
    has_colours,
    in_charset,
    style,
    value_text,
)
from geolookup.errors import line_text
from geolookup.kernel.lookups import state_of
from geolookup.terminal import own_sequence

_COLOUR = "cyan"
_TEMPLATE = "{country} AS{asn}"
#: Around an address that meets the conditions, as ``grep`` marks a match.
_MARK = "\x1b[01;31m", "\x1b[m"
_color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours in the text; auto: on a terminal, unless $NO_COLOR is set.",
)


@command("annotate")
@click.argument("source", metavar="[FILE]", type=options.PATH, default="-")
@click.option(
    "--template",
    metavar="TEXT",
    default=_TEMPLATE,
    show_default=True,
    help="Text of a tag, with fields in braces.",
)
@_color
@options.dataset
def annotate(source: str, template: str, color: str, dataset: str | None) -> None:
    """Write FILE, any text, with a tag in brackets after each of its addresses.

    Without FILE, or for -, read standard input, and write each part as it arrives. FILE may be
    compressed (.gz, .bz2, .xz, .zst). Only tags are added; no other byte changes.

    An unknown value is written as -. The tag of an unknown address is [unknown], of a
    private one [private]. --template takes the fields that a dataset stores; {{ and }}
    are braces.

    Example: geolookup annotate access.log
    """
    from geolookup.inline import blocks_of
    from geolookup.inline.annotate import Tags, annotate_blocks

    exit_on_signals()
    require_output("annotate writes the text to it")
    encode = _tag_encoder(is_colored=_is_colored(color))
    with options.open_dataset(dataset) as engine:
        state = state_of(engine)
        try:
            tags = Tags(state, template, "--template", value_text, encode)
        except ValueError as error:
            fail(str(error))
        options.note_age(engine)
        _write(annotate_blocks(blocks_of(source), tags))


def _tag_encoder(*, is_colored: bool) -> Callable[[str], bytes]:
    """Return a function from a tag to its bytes: one line, with a blank before it."""
    encoding = charset() if sys.stdout.isatty() else "utf-8"

    def encode(tag: str) -> bytes:
        if not (tag.isascii() and tag.isprintable()):
            tag = in_charset(line_text(tag), encoding)
        bracketed = style(f"[{tag}]", fg=_COLOUR) if is_colored else f"[{tag}]"
        return f" {bracketed}".encode(encoding)

    return encode


@command("grep")
@click.argument("source", metavar="[FILE]", type=options.PATH, default="-")
@options.where
@options.not_
@click.option("--all", "every", is_flag=True, help="All public addresses of a line must meet them.")
@click.option("-v", "--invert-match", "inverted", is_flag=True, help="Keep the other lines.")
@click.option("-c", "--count", is_flag=True, help="Print only the number of kept lines.")
@_color
@options.dataset
def grep(
    source: str,
    where: tuple[str, ...],
    not_: tuple[str, ...],
    every: bool,
    inverted: bool,
    count: bool,
    color: str,
    dataset: str | None,
) -> None:
    """Write the lines of FILE, any text, with an address that meets all conditions.

    Without FILE, or for -, read standard input. FILE may be compressed (.gz, .bz2, .xz, .zst).
    A condition is one of `geolookup prefixes`: country=AT,DE, asn>=64512, city^=San,
    location~48.2,16.4,50km, isp=null. A private address meets
    none, unless a condition names an own column and own columns are known for it.

    Exits with 0 if a line was kept, 1 if none was, 2 for misuse or an unusable file.

    Example: geolookup grep --where country=US access.log
    """
    from geolookup.cli.conditions import note_absent_values, read_conditions
    from geolookup.inline import blocks_of
    from geolookup.inline.grep import LineFilter
    from geolookup.prefixes.select import meeting
    from geolookup.tables.row_tables import row_tables

    exit_on_signals()
    require_output("grep writes lines to it")
    if not where and not not_:
        fail("grep needs a condition, such as --where country=AT,DE")
    before, after = (own_sequence(sequence, sys.stdout).encode() for sequence in _MARK)
    mark = (before, after) if _is_colored(color) and not inverted else None
    with options.open_dataset(dataset) as engine:
        state = state_of(engine)
        conditions = read_conditions(state.dataset, where, "--where", not_)
        options.note_age(engine)
        note_absent_values(state.dataset, conditions)
        masks = meeting(row_tables(state.dataset), conditions)
        lines = LineFilter(state, masks, source, every=every, inverted=inverted, mark=mark)
        _write(b"" if count else part for part in lines.matching(blocks_of(source)))
    if count:
        click.echo(lines.count)
    sys.exit(0 if lines.count else 1)


def _is_colored(choice: str) -> bool:
    """Return whether ``--color`` asks for colours."""
    return has_colours() if choice == "auto" else choice == "always"


def _write(parts: Iterable[bytes]) -> None:
    """Write parts of a text to standard output, each at once."""
    for part in parts:
        if part:
            sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
