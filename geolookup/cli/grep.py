"""``geolookup grep``: keeps the lines of a text of which an address meets conditions."""

from __future__ import annotations

import sys

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, note_age, options, text_output

#: Around an address that meets the conditions, as ``grep`` marks what it found.
_MARK = b"\x1b[01;31m", b"\x1b[m"


@click.command(name="grep", short_help="Keep the lines whose addresses meet conditions.")
@click.argument("source", metavar="[FILE]", type=options.PATH, default="-")
@options.conditions
@click.option("--all", "every", is_flag=True, help="All public addresses of a line must meet them.")
@click.option("-v", "--invert-match", "inverted", is_flag=True, help="Keep the other lines.")
@click.option("-c", "--count", is_flag=True, help="Print only how many lines are kept.")
@text_output.color
@options.dataset()
@options.age_notice
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
    """Write the lines of FILE, any text, that have an address which meets all conditions.

    Without FILE, or for -, read standard input. FILE may be compressed (.gz, .bz2, .xz, .zst).
    Conditions are those of `geolookup prefixes`: location.country_code=AT,DE, network.asn>=64512,
    location.city_name^=San, location~48.2,16.4,50km, network.isp=null. A private address meets
    none.

    Exits with 0 if a line was kept, 1 if none was, 2 for misuse or an unusable file.

    Example: geolookup grep --where location.country_code=US access.log
    """
    from geolookup.inline.blocks import blocks_of
    from geolookup.inline.grep import LineFilter, Lines
    from geolookup.prefixes.conditions import conditions_of
    from geolookup.prefixes.select import absent_values, row_masks

    exit_on_signals()
    if not where and not not_:
        fail("name a condition, such as --where location.country_code=AT,DE")
    try:
        conditions = conditions_of(where, not_)
    except ValueError as error:
        fail(str(error))
    mark = _MARK if text_output.is_colored(color) and not inverted else None
    with geolookup.open(dataset) as engine:
        note_age(engine)
        state = engine.snapshot()
        for line in absent_values(state.dataset, conditions):
            click.echo(f"geolookup: {line}", err=True)
        masks = row_masks(state.dataset, conditions)
        lines = Lines(state, LineFilter(masks.chosen, every, inverted, mark), source)
        kept = lines.kept(blocks_of(source))
        text_output.write(part[:0] if count else part for part in kept)
    if count:
        click.echo(lines.count)
    sys.exit(0 if lines.count else 1)
