"""``geolookup rollback``: a store answers from the generation before the current one."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="rollback", short_help="Go back to the generation before.")
@click.argument("store", type=click.Path(path_type=Path))
def command(store: Path) -> None:
    """Withdraw the current generation of STORE; the one before it answers again.

    Again goes one further back. Exits with 2, leaving STORE as it was, if there
    is none before, or a damaged one.

    Example: geolookup rollback /srv/geo
    """
    from geolookup.store.rollback import rollback

    end_orderly()
    click.echo(f"generation {rollback(store)}")
