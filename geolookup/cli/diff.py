"""``geolookup diff``: compares two datasets by addresses."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

import geolookup
from geolookup.cli import options


@click.command(name="diff", short_help="Compare two datasets.")
@click.argument("old")
@click.argument("new")
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(
    old: str,
    new: str,
    fail_if: tuple[str, ...],
    traffic: str | None,
    traffic_count: str | None,
    ip_column: str,
    input_format: str | None,
    delimiter: str | None,
    header: bool,
    top: int,
    as_json: bool,
) -> None:
    """Report which answers differ between OLD and NEW, counted in addresses or in requests.

    FILE is any table that `geolookup enrich` reads, or one address a line (.txt);
    --ip-column, --input-format, --delimiter and --no-header describe it. Exits
    with 0 if no gate fails, 1 if one does, 2 for misuse, a malformed gate, or an
    unusable dataset or FILE.

    Example: geolookup diff mydata mydata-new --fail-if "country_moved > 2%"
    """
    from geolookup.comparison import lines, verdict_line

    found = geolookup.diff(
        old,
        new,
        fail_if=fail_if,
        traffic=traffic,
        traffic_count=traffic_count,
        ip_column=ip_column,
        input_format=input_format,
        delimiter=delimiter,
        header=header,
        top=top,
    )
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(lines(found)))
    for verdict in found.failed:
        click.echo(verdict_line(verdict), err=True)
    sys.exit(1 if found.failed else 0)
