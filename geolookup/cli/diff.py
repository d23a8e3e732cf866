"""``geolookup diff``: two datasets compared by addresses."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

import geolookup


@click.command(name="diff", short_help="Compare two datasets.")
@click.argument("old")
@click.argument("new")
@click.option(
    "--fail-if",
    metavar="GATE",
    multiple=True,
    help="Exit with 1 if this holds, as in 'country_moved > 2%'; may be repeated.",
)
@click.option(
    "--traffic",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Count addresses as often as they are in this .csv, .parquet, .arrow or list of lines.",
)
@click.option(
    "--traffic-address",
    metavar="COLUMN",
    default="address",
    show_default=True,
    help="Its column of addresses.",
)
@click.option(
    "--traffic-count",
    metavar="COLUMN",
    help="Its column of requests. [default: each row is one]",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many networks to name that moved most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(
    old: str,
    new: str,
    fail_if: tuple[str, ...],
    traffic: Path | None,
    traffic_address: str,
    traffic_count: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Say what NEW answers otherwise than OLD, counted in addresses or in requests.

    Exits with 0 if no gate fails, 1 if one does, 2 for misuse, a gate that is
    none, or an unusable dataset.

    Example: geolookup diff mydata mydata-new --fail-if "country_moved > 2%"
    """
    from geolookup.comparison import lines, verdict_line

    found = geolookup.diff(
        old,
        new,
        fail_if=fail_if,
        traffic=traffic,
        traffic_address=traffic_address,
        traffic_count=traffic_count,
        top=top,
    )
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(lines(found)))
    for verdict in found.failed:
        click.echo(verdict_line(verdict), err=True)
    sys.exit(1 if found.failed else 0)
