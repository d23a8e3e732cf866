"""``geolookup annotate`` and ``grep``: any text, tagged or filtered by the addresses in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from geolookup.cli import fail, options, require_output
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.cli.terminal_text import charset, has_colours, in_charset, style, value_text
from geolookup.errors import line_text
from geolookup.kernel.lookups import state_of
from geolookup.progress import Progress
from geolookup.terminal import own_sequence

if TYPE_CHECKING:
    pass

#: Around an address that meets the conditions, as ``grep`` marks a match.
_MARK = "\x1b[01;31m", "\x1b[m"


def _is_colored(_context: object, _option: object, choice: str) -> bool:
    return has_colours() if choice == "auto" else choice == "always"


_source = click.argument("source", metavar="[FILE]", type=options.PATH, default="-")
#: What both commands end with.
_text_options = options.group(
    option(
        "--color",
        "Colours in the text; auto: on a terminal, unless $NO_COLOR is set.",
        click.Choice(["auto", "always", "never"]),
        default="auto",
        callback=_is_colored,
    ),
    options.dataset,
)


@command("annotate")
@_source
@option("--template TEXT", "Text of a tag, with fields in braces.", default="{country} AS{asn}")
@_text_options
def annotate(source: str, template: str, color: bool, dataset: str | None) -> None:
    """Write FILE, any text, with a tag in brackets after each of its addresses.

    Without FILE, or for -, read standard input, and write each part as it arrives. FILE may be
    compressed (.gz, .bz2, .xz, .zst). Only tags are added; no other byte changes. An unknown
    value is written as -. The tag of an unknown address is [unknown], of a private one
    [private]. --template has fields that a dataset stores; {{ and }} are braces.

    Example: geolookup annotate access.log
    """
    from geolookup.inline.annotate import Tags, annotate_blocks

    require_output("the text is written there")
    with options.open_dataset(dataset) as engine:
        state = state_of(engine)
        tags = Tags(state, template, "--template", value_text, partial(_encode, color=color))
        _write(annotate_blocks(_blocks(source), tags))


def _encode(tag: str, *, color: bool) -> bytes:
    """Return a tag as bytes: one line, with a blank before it."""
    encoding = charset() if sys.stdout.isatty() else "utf-8"
    if not (tag.isascii() and tag.isprintable()):
        tag = in_charset(line_text(tag), encoding)
    return f" {style(f'[{tag}]', fg='cyan') if color else f'[{tag}]'}".encode(encoding)


@command("grep")
@_source
@options.where
@options.not_
@option("--all", "All public addresses of a line must meet them.", name="every")
@option("-v, --invert-match", "Keep the other lines.", name="inverted")
@option("-c, --count", "Print only the number of kept lines.")
@_text_options
def grep(source: str, dataset: str | None, color: bool, count: bool, **values: Any) -> None:
    """Write the lines of FILE, any text, with an address that meets all conditions.

    Without FILE, or for -, read standard input. FILE may be compressed (.gz, .bz2, .xz, .zst).
    A condition is one of `geolookup prefixes`: country=AT,DE, asn>=64512, city^=San,
    location~48.2,16.4,50km, isp=null. A private address meets none, unless a condition names
    an own column and own columns are known for it. Exits with 0 if a line was kept, 1 if
    none was, 2 for misuse or an unusable file.

    Example: geolookup grep --where country=US access.log
    """
    from geolookup.inline.grep import LineFilter
    from geolookup.prefixes.conditions import conditions_of
    from geolookup.prefixes.select import meeting
    from geolookup.tables.row_tables import row_tables

    where, not_ = values.pop("where"), values.pop("not_")
    if not where and not not_:
        fail("grep needs a condition, such as --where country=AT,DE")
    require_output("the text is written there")
    with options.open_dataset(dataset) as engine:
        state = state_of(engine)
        conditions = conditions_of([*where, {"not": not_}], "grep", state.dataset.schema)
        options.note_absent_values(state.dataset, conditions)
        masks = meeting(row_tables(state.dataset), conditions)
        before, after = (own_sequence(sequence, sys.stdout).encode() for sequence in _MARK)
        mark = (before, after) if color and not values["inverted"] else None
        lines = LineFilter(state, masks, source, mark=mark, **values)
        kept = lines.matching(_blocks(source, is_shown=count))
        _write(b"" if count else part for part in kept)
    if count:
        click.echo(lines.count)
    sys.exit(0 if lines.count else 1)


def _blocks(source: str, *, is_shown: bool = False) -> Iterator[bytes]:
    """Yield the blocks of a text; show the progress, unless a terminal or pipe gets the text."""
    from geolookup.filesystem.unpacking import compression
    from geolookup.inline import blocks_of

    progress = Progress(silent=not (is_shown or sys.stdout.seekable()))
    is_sized = os.path.isfile(source) and not compression(source)  # noqa: PTH113 - takes any name
    done, total = 0, os.path.getsize(source) if is_sized else None  # noqa: PTH202
    with progress.stage(f"reading {source}"):
        for block in blocks_of(source):
            done += len(block)
            progress.bytes(done, total)
            yield block


def _write(parts: Iterable[bytes]) -> None:
    """Write parts of a text to standard output, each at once."""
    for part in parts:
        if part:
            sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
