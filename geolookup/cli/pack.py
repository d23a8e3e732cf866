"""``geolookup pack`` and ``geolookup unpack``: convert a dataset to one file and back."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, options

_archive = click.argument("archive", metavar="FILE.tar.zst", type=click.Path(path_type=Path))


@click.command(name="pack", short_help="Pack a dataset into one file.")
@click.argument("dataset", type=click.Path(path_type=Path))
@_archive
@click.option(
    "--base",
    metavar="OLD",
    type=click.Path(path_type=Path),
    help="Pack only what changed against this dataset or store, which the receiver has.",
)
@options.sign
@click.option("--force", is_flag=True, help="Replace an existing file.")
def pack(
    dataset: Path, archive: Path, base: Path | None, sign: tuple[str, ...], force: bool
) -> None:
    """Pack DATASET, or the current generation of a store, into one compressed file.

    The same dataset gives the same bytes. With --base the file is a delta, which
    `geolookup unpack --base` and `geolookup publish` apply. It is smallest where
    DATASET was built with `--base OLD` too. --sign signs the dataset in the file, and
    leaves DATASET as it is. Exits with 2 and writes no file if a
    dataset is damaged.

    Example: geolookup pack mydata mydata.tar.zst
    """
    exit_on_signals()
    size = geolookup.pack(dataset, archive, base=base, sign=sign, force=force)
    click.echo(f"{archive}: {size:,} bytes")


@click.command(name="unpack", short_help="Unpack a packed dataset.")
@_archive
@click.argument("output", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--base",
    metavar="OLD",
    type=click.Path(path_type=Path),
    help="The dataset that a delta was packed against, or a store that has it.",
)
@options.trusted
@click.option("--force", is_flag=True, help="Replace an existing dataset.")
def unpack(
    archive: Path, output: Path, base: Path | None, trusted: tuple[str, ...] | None, force: bool
) -> None:
    """Unpack a file of `geolookup pack` into the new folder DIR.

    Verifies the dataset as `geolookup verify` does. A delta needs the dataset that it
    was packed against (--base). Exits with 2 and leaves DIR unchanged if anything is
    missing, damaged or unexpected, or if none of the keys of --trusted has signed
    the dataset.

    Example: geolookup unpack mydata.tar.zst mydata
    """
    exit_on_signals()
    geolookup.unpack(archive, output, base=base, trusted=trusted, force=force)
    click.echo(f"dataset {output}")
