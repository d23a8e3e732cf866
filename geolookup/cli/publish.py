"""``geolookup publish``: a dataset becomes the one that a store answers from."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="publish", short_help="Make a dataset the current one of a store.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--copy", is_flag=True, help="Copy the files where they could be hard-linked.")
def command(dataset: Path, store: Path, copy: bool) -> None:
    """Verify DATASET, put it into STORE, and have STORE point to it.

    STORE is made where it is not there. A generation that is in it already
    becomes the current one again. Exits with 2, leaving STORE as it was, if
    the dataset is damaged.

    Example: geolookup publish mydata /srv/geo
    """
    from geolookup.store.publish import publish

    end_orderly()
    click.echo(f"generation {publish(dataset, store, copy=copy)}")
