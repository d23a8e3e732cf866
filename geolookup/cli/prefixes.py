"""``geolookup prefixes``: the fewest prefixes whose answers meet conditions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, note_age, options

#: Only the names, so that --help does not import Arrow; a test compares them with the registry.
FORMATS = (
    "cidr",
    "range",
    "csv",
    "json",
    "nft",
    "ipset",
    "nginx-geo",
    "iptables",
    "haproxy",
    "pf",
    "bird",
    "cisco",
    "squid",
)


@click.command(name="prefixes", short_help="List the prefixes whose answers meet conditions.")
@click.option(
    "--where",
    metavar="CONDITION",
    multiple=True,
    help="Condition on the answer, such as location.country_code=AT,DE; repeatable: all are met.",
)
@click.option(
    "--not",
    "not_",
    metavar="CONDITION",
    multiple=True,
    help="Condition that is not met; repeatable: none is met.",
)
@click.option("--within", metavar="PREFIX", help="Only addresses of this prefix.")
@click.option(
    "--family", type=click.Choice(["4", "6"]), help="Only IPv4 or IPv6. [default: both, IPv4 first]"
)
@click.option(
    "--no-aggregate",
    "aggregate",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Do not join adjacent ranges of the dataset that meet the conditions.",
)
@click.option(
    "--by",
    "by",
    metavar="PATH,...",
    multiple=True,
    callback=options.separated,
    shell_complete=options.complete_paths,
    help="Fields whose values keep ranges apart; csv and json have the value of each prefix.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="cidr",
    show_default=True,
    help="Syntax to write.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write, completely or not at all. [default: standard output]",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@options.dataset()
@options.age_notice
def prefixes(
    where: tuple[str, ...],
    not_: tuple[str, ...],
    within: str | None,
    family: str | None,
    aggregate: bool,
    by: tuple[str, ...],
    form: str,
    output: Path | None,
    force: bool,
    dataset: str | None,
) -> None:
    """List the fewest prefixes whose answers meet all conditions.

    A condition is PATH=VALUE,... for one of several values, null for unknown; > >= <
    <= compare numbers, ^= takes the beginning of a text, and location~48.2,16.4,50km
    or location~SOUTH,WEST,NORTH,EAST a place. Short names of fields such as country
    and asn will do. Prefixes are in address order, IPv4 first. Special-purpose space
    is left out, and networks about which nothing is known.

    Example: geolookup prefixes --where country=AT,DE --not asn=15169 --format nft
    """
    from geolookup.prefixes.answers import lists
    from geolookup.prefixes.row_masks import absent_values
    from geolookup.prefixes.select import Selection, question
    from geolookup.prefixes.syntaxes import SYNTAXES
    from geolookup.prefixes.syntaxes.settings import Settings

    exit_on_signals()
    syntax = SYNTAXES[form]
    if by and syntax.entries != "row":
        fail(f"--by is for csv and json: {form} has no place for values")
    only = None if family is None else int(family)
    try:
        asked = question(where, not_=not_, within=within, family=only, aggregate=aggregate, by=by)
    except ValueError as error:
        fail(str(error))
    with geolookup.open(dataset) as engine, _opened(output, force=force) as stream:
        data = engine._open_state().dataset  # noqa: SLF001 - as adapters do
        for line in absent_values(data, asked.conditions):
            click.echo(f"geolookup: {line}", err=True)
        for block in syntax.whole(lists(Selection(data, asked), syntax.entries), Settings()):
            stream.write(block)
        note_age(engine)


@contextmanager
def _opened(output: Path | None, *, force: bool) -> Iterator[BinaryIO]:
    """Yield a stream; a file gets its name only if the block succeeds."""
    from geolookup.filesystem.atomic import check_file, staged_file

    if output is None:
        yield sys.stdout.buffer
        return
    check_file(output, force=force)
    with staged_file(output) as fresh, fresh.open("wb") as stream:
        yield stream
