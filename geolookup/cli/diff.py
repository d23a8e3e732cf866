"""``geolookup diff``: two datasets compared by addresses."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click


@click.command(name="diff", short_help="Compare two datasets.")
@click.argument("old")
@click.argument("new")
@click.option(
    "--fail-if",
    "conditions",
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
    conditions: tuple[str, ...],
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
    from geolookup import comparison as diff

    gates = [diff.parse_gate(text) for text in conditions]
    asked = diff.Traffic(traffic, traffic_address, traffic_count) if traffic else None
    comparison = diff.compare(old, new, asked, most_movers=top)
    verdicts = [diff.judge(gate, comparison) for gate in gates]
    if as_json:
        found = {**asdict(comparison), "gates": [asdict(verdict) for verdict in verdicts]}
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(diff.lines(comparison)))
    failed = [verdict for verdict in verdicts if verdict.failed]
    for verdict in failed:
        click.echo(diff.verdict_line(verdict), err=True)
    sys.exit(1 if failed else 0)
