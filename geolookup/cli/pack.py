"""``geolookup pack``: a dataset as one file."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="pack", short_help="Pack a dataset into one file.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE.tar.zst", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
def command(dataset: Path, file: Path, force: bool) -> None:
    """Pack DATASET into one compressed file, to be moved elsewhere.

    The same dataset gives the same bytes. Exits with 2, leaving no file, if
    the dataset is damaged.

    Example: geolookup pack mydata mydata.tar.zst
    """
    from geolookup.store.pack import pack

    end_orderly()
    click.echo(f"{file}: {pack(dataset, file, force=force):,} bytes")
