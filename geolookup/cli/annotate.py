"""``geolookup annotate``: writes a text with a tag after each address."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, note_age, options, text_output
from geolookup.cli.answer_cells import shown
from geolookup.cli.terminal_text import charset, in_charset, without_controls
from geolookup.errors import line_text

_COLOUR = "cyan"
_TEMPLATE = "{location.country_code} AS{network.asn}"


@click.command(name="annotate", short_help="Add a tag to each address in a text.")
@click.argument("source", metavar="[FILE]", type=options.PATH, default="-")
@click.option(
    "--template",
    metavar="TEXT",
    default=_TEMPLATE,
    show_default=True,
    help="Text of a tag, with paths of fields in braces.",
)
@click.option("--follow", is_flag=True, help="Wait for more lines of FILE, also after a rotation.")
@text_output.color
@options.dataset()
@options.age_notice
def annotate(source: str, template: str, follow: bool, color: str, dataset: str | None) -> None:
    """Write FILE, any text, with a tag in brackets after each of its addresses.

    Without FILE, or for -, read standard input; what has arrived is written at once. FILE may be
    compressed (.gz, .bz2, .xz, .zst). Except for the tags, all bytes stay as they are.

    A value that is unknown is written as -, the tag of an address of which nothing is known
    as [unknown], and that of a private one as [private]. --template takes members of
    location, currency and network, and time.zone; {{ and }} are braces.

    --follow begins with the last 10 lines. It reads on when the file is truncated, and when
    another one takes its name.

    Example: geolookup annotate access.log
    """
    from geolookup.inline.annotate import Tags, Template, annotated

    exit_on_signals()
    try:
        made = Template(template, shown)
    except ValueError as error:
        fail(f"--template: {error}")
    written = _written(is_colored=text_output.is_colored(color))
    with geolookup.open(dataset) as engine:
        note_age(engine)
        state = engine.snapshot()
        blocks = _blocks(source, follow=follow)
        text_output.write(annotated(state, blocks, Tags(state, made, written)))


def _written(*, is_colored: bool) -> Callable[[str], bytes]:
    """Return a function from a tag to its bytes, which are of one line, with a blank before it."""
    encoding = charset() if sys.stdout.isatty() else "utf-8"
    before, after = " [", "]"
    if is_colored:
        before, after = f" {click.style('[', fg=_COLOUR, reset=False)}", click.style("]")

    def written(tag: str) -> bytes:
        if not (tag.isascii() and tag.isprintable()):
            tag = in_charset(without_controls(line_text(tag)), encoding)
        return f"{before}{tag}{after}".encode(encoding)

    return written


def _blocks(source: str, *, follow: bool) -> Iterator[bytes]:
    from geolookup.inline.blocks import STANDARD, appended, blocks_of

    if not follow:
        return blocks_of(source)
    if source == STANDARD:
        fail("--follow is for a file: name it; standard input is read until it ends")
    return appended(source, sys.stdout.fileno(), _tell)


def _tell(text: str) -> None:
    click.echo(f"geolookup: {text}", err=True)
