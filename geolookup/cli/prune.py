"""``geolookup prune``: old generations leave a store."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="prune", short_help="Remove old generations from a store.")
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Keep the N last published ones.",
)
def command(store: Path, keep: int) -> None:
    """Remove all but the N last published generations of STORE, and print what was removed.

    The current one is always kept, and the one before it unless N is 1. What
    runs on a removed generation goes on answering from it.

    Example: geolookup prune /srv/geo --keep 3
    """
    from geolookup.store.prune import prune

    end_orderly()
    for generation in prune(store, keep):
        click.echo(f"removed {generation}")
