"""``geolookup pack`` and ``geolookup unpack``: convert a dataset to one file and back."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals

_archive = click.argument("archive", metavar="FILE.tar.zst", type=click.Path(path_type=Path))


@click.command(name="pack", short_help="Pack a dataset into one file.")
@click.argument("dataset", type=click.Path(path_type=Path))
@_archive
@click.option("--force", is_flag=True, help="Replace an existing file.")
def pack(dataset: Path, archive: Path, force: bool) -> None:
    """Pack DATASET, or the current generation of a store, into one compressed file.

    The same dataset gives the same bytes. Exits with 2 and writes no file if the
    dataset is damaged.

    Example: geolookup pack mydata mydata.tar.zst
    """
    exit_on_signals()
    click.echo(f"{archive}: {geolookup.pack(dataset, archive, force=force):,} bytes")


@click.command(name="unpack", short_help="Unpack a packed dataset.")
@_archive
@click.argument("output", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace an existing dataset.")
def unpack(archive: Path, output: Path, force: bool) -> None:
    """Unpack a file of `geolookup pack` into the new folder DIR.

    Verifies the dataset as `geolookup verify` does. Exits with 2 and leaves DIR
    unchanged if anything is missing, damaged or unexpected.

    Example: geolookup unpack mydata.tar.zst mydata
    """
    exit_on_signals()
    geolookup.unpack(archive, output, force=force)
    click.echo(f"dataset {output}")
