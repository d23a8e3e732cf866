"""``geolookup download``: what a recipe names elsewhere, into the cache."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="download", short_help="Fetch the remote sources of a recipe.")
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option(
    "--cache",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to fetch into. [default: $GEOLOOKUP_CACHE, else the user's cache folder]",
)
def download(recipe: Path, cache: Path | None) -> None:
    """Fetch the sources of RECIPE that have an address, as far as they have changed.

    Says one line per source. What fails leaves the file that was there before,
    is resumed by the next run, and makes the exit status 1.

    Example: geolookup download recipe.toml
    """
    from geolookup_builder.recipe import load
    from geolookup_builder.remote.cache import default_folder
    from geolookup_builder.remote.transfer import fetch
    from geolookup_builder.sources import FORMATS, auto

    from geolookup.errors import GeoLookupError
    from geolookup.progress import Progress

    end_orderly()
    sources = load(recipe, auto.options(FORMATS)).sources
    progress, failed = Progress(), False
    for spec in sources:
        if spec.remote is None:
            continue
        try:
            with progress.stage(f"fetching {spec.name}"):
                fetched = fetch(spec.remote, spec.sha256, cache or default_folder(), progress)
        except GeoLookupError as error:
            failed = True
            click.echo(f"geolookup: {spec.name}: {error}", err=True)
        else:
            click.echo(f"{spec.name}: {fetched}")
    sys.exit(1 if failed else 0)
