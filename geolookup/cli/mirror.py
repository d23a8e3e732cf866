"""``geolookup mirror``: a store as a static folder that other stores follow."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, fail
from geolookup.mirrors.listing import DELTAS, MOST_DELTAS


@click.command(name="mirror", short_help="Write a folder from which other stores follow a store.")
@click.argument("store", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--generations",
    "deltas",
    metavar="N",
    type=click.IntRange(0, MOST_DELTAS),
    default=DELTAS,
    show_default=True,
    help="Write a delta from each of the last N other generations of STORE.",
)
@click.option(
    "--sign",
    metavar="KEY",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of a private key that signs the index; repeatable.",
)
@click.option(
    "--expires",
    metavar="AGE",
    help="Time for which followers accept the index, such as 36h, 7d or 2w. [default: no limit]",
)
def mirror(
    store: Path, folder: Path, deltas: int, sign: tuple[Path, ...], expires: str | None
) -> None:
    """Write the current generation of STORE into DIR, for any web server or bucket.

    DIR gets an archive of the current generation and of the one before it, deltas
    to the current one, and last a small index; readers find what they need at every
    moment. Archives that are there and right are not written again. Generations that
    were withdrawn are named. Exits with 2 and leaves the index unchanged if a follower
    would refuse the generation: unsigned, or signed before the one that DIR has.

    Example: geolookup mirror /srv/geo /srv/www/geo --sign /etc/geolookup/key
    """
    exit_on_signals()
    try:
        found = geolookup.mirror(store, folder, deltas=deltas, sign=sign, expires=expires)
    except ValueError as error:
        fail(str(error))
    for file in found.added:
        click.echo(f"{file.path}: {file.bytes:,} bytes")
    click.echo(f"generation {found.index.current} {found.state} in {folder}")
