"""``geolookup plans``: which plans there are."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="plans", short_help="List the plans.")
@click.option(
    "--plans",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Plans file. [default: none]",
)
def command(file: Path | None) -> None:
    """List the built-in plans and those of a plans file (TOML, [plan.NAME] tables).

    Example: geolookup plans --plans plans.toml
    """
    from geolookup.gate import read_plans

    for plan in read_plans(file).values():
        quota = "no quota" if plan.quota is None else f"{plan.quota:,} requests"
        click.echo(f"{plan.name:<16} {plan.rate:,}/s, {quota}")
