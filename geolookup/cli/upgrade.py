"""``geolookup upgrade``: converts a dataset of the former format version to the current one."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals


@click.command(name="upgrade", short_help="Convert a dataset to the current format version.")
@click.argument("dataset", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--output", metavar="DIR", type=click.Path(path_type=Path), help="Write a new dataset there."
)
@click.option("--force", is_flag=True, help="Replace an existing dataset at --output.")
def upgrade(dataset: Path, output: Path | None, force: bool) -> None:
    """Convert a dataset that an older geolookup built, so that this one reads it.

    DIR is a dataset, which is replaced, or a store: then its current generation is
    converted and published. With --output, DIR stays as it is. Digests and
    checksums are verified first. The answers are the same, and the result is what
    `geolookup build` would write. A dataset of the current version stays as it is.
    Exits with 2 and changes nothing if the dataset is damaged.

    Example: geolookup upgrade mydata
    """
    from geolookup.updates.upgrade import is_current

    exit_on_signals()
    was_current = output is None and is_current(dataset)
    generation = geolookup.upgrade(dataset, output=output, force=force)
    click.echo(f"generation {generation}{' is of the current version already' * was_current}")
