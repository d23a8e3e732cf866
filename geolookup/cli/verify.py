"""``geolookup verify``: whether a dataset is whole."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_DAMAGED = 1


@click.command(name="verify", short_help="Check that a dataset is whole.")
@click.argument("dataset", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--deep", is_flag=True, help="Check what the columns say as well.")
def command(dataset: Path, deep: bool) -> None:
    """Read every byte of DATASET and say whether it is whole.

    Manifest, sizes and digests, the places of all columns, their order, and
    where their row numbers lead. With --deep also the JSON texts beside the
    columns, coverage, the generation id, and a sample of lookups. Exits with 1
    if anything is damaged, with a line for each damage on standard error.

    Example: geolookup verify mydata --deep
    """
    from geolookup.integrity import examine

    report = examine(dataset, deep=deep)
    for damage in report.damages:
        click.echo(f"geolookup: {damage}", err=True)
    if report.damages:
        sys.exit(_DAMAGED)
    click.echo(f"{dataset}: whole, {report.files} files, {report.bytes:,} bytes")
    click.echo(f"generation {report.generation}")
