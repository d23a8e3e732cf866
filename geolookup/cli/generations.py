"""``geolookup generations``: what a store has published."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click


@click.command(name="generations", short_help="List the generations of a store.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(store: Path, as_json: bool) -> None:
    """List the generations of STORE, the latest first, and which one answers.

    Example: geolookup generations /srv/geo
    """
    from geolookup.store.generations import generations

    listed = generations(store)
    if as_json:
        click.echo(json.dumps([asdict(each) for each in listed], indent=2))
        return
    for each in listed:
        state = "current" if each.current else "withdrawn" if each.withdrawn else ""
        click.echo(f"{each.generation}  {each.at}  {state}".rstrip())
