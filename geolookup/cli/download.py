"""``geolookup download``: downloads the remote sources of a recipe into the cache."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from geolookup.cli import exit_on_signals, options


@click.command(name="download", short_help="Download the remote sources of a recipe.")
@click.argument("recipe", type=options.PATH)
@options.cache
def download(recipe: str, cache: Path | None) -> None:
    """Download the remote sources of RECIPE that have changed.

    RECIPE is a recipe file or the name of a packaged recipe (`geolookup recipes`).
    Prints one line per source, or that none is remote. A failed download keeps the
    old file, and the next run resumes it. Exits with 1 if a download failed.

    Example: geolookup download recipe.toml
    """
    from geolookup_builder import downloads
    from geolookup_builder.loading import load

    from geolookup.errors import GeoLookupError
    from geolookup.progress import Progress

    exit_on_signals()
    sources = load(recipe).sources
    if all(spec.remote is None for spec in sources):
        click.echo(f"{recipe}: no remote sources, nothing to download")
    progress, failed = Progress(), False
    for spec in sources:
        if spec.remote is None:
            continue
        try:
            fetched = downloads.download(spec, spec.remote, cache, progress)
        except GeoLookupError as error:
            failed = True
            click.echo(f"geolookup: {spec.name}: {error}", err=True)
        else:
            click.echo(f"{spec.name}: {fetched}")
    sys.exit(1 if failed else 0)
