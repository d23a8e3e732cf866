"""``geolookup unpack``: the dataset of a packed file."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="unpack", short_help="Unpack a packed dataset.")
@click.argument("file", metavar="FILE.tar.zst", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a dataset that is there already.")
def command(file: Path, folder: Path, force: bool) -> None:
    """Unpack the dataset of a file that `geolookup pack` wrote into the new folder DIR.

    Sizes and digests are checked against the manifest. Exits with 2, leaving
    what was there, if anything is missing, damaged or too much.

    Example: geolookup unpack mydata.tar.zst mydata
    """
    from geolookup.store.pack import unpack

    end_orderly()
    unpack(file, folder, force=force)
    click.echo(f"dataset {folder}")
