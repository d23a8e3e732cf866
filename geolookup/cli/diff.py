"""``geolookup diff``: compares two datasets by addresses."""

from __future__ import annotations

from typing import Any

import click

import geolookup
from geolookup.cli import options, print_judged


@click.command(name="diff", short_help="Compare two datasets.")
@click.argument("old", type=options.PATH)
@click.argument("new", type=options.PATH)
@click.option(
    "--fail-if",
    metavar="GATE",
    multiple=True,
    help="Exit with 1 if this is true, such as 'country_moved > 2%'; repeatable.",
)
@click.option(
    "--traffic",
    metavar="FILE",
    help="Weight addresses by their requests in a table file, a folder of them, or -.",
)
@options.traffic_count
@options.table_input
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of networks to list, by moved addresses.",
)
@options.as_json()
def diff(
    old: str,
    new: str,
    as_json: bool,
    **wanted: Any,
) -> None:
    """Report which answers differ between OLD and NEW, counted in addresses or in requests.

    OLD and NEW are datasets, or stores: then their current generations are compared.
    FILE is any table that `geolookup enrich` reads, or one address a line (.txt);
    --ip-column, --input-format, --delimiter and --no-header describe it. Exits
    with 0 if no gate fails, 1 if one does, 2 for misuse, a malformed gate, or an
    unusable dataset or FILE.

    Example: geolookup diff mydata mydata-new --fail-if "country_moved > 2%"
    """
    from geolookup.comparison.report import lines

    found = geolookup.diff(old, new, **wanted)
    print_judged(found, lines(found), as_json=as_json)
