"""``geolookup build``: a recipe to a dataset."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import end_orderly


@click.command(name="build", short_help="Compile a recipe into a dataset.")
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option(
    "--output",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to make.",
)
@click.option("--force", is_flag=True, help="Replace a dataset that is there already.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV to write the rejected rows to: file, line, reason, text.",
)
@click.option(
    "--max-rejects",
    metavar="N",
    type=click.IntRange(min=0),
    help="Rejected rows a source may have. [default: 1 % of its rows]",
)
@click.option(
    "--cache",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of fetched files. [default: $GEOLOOKUP_CACHE, else the user's cache folder]",
)
@click.option("--offline", is_flag=True, help="Take remote sources from the cache only.")
def build(
    recipe: Path,
    output: Path,
    force: bool,
    rejects: Path | None,
    max_rejects: int | None,
    cache: Path | None,
    offline: bool,
) -> None:
    """Compile the sources that RECIPE names into a dataset.

    Prints a report. Rejected rows have no valid range. Duplicate rows have the
    range of a later row. Clipped addresses are private, folded ones IPv4-mapped,
    excluded ones 6to4 or NAT64. Nulled values are invalid. Covered addresses
    have a value. Exits with 2, leaving no dataset, if a source cannot be used.

    Example: geolookup build recipe.toml --output mydata
    """
    from geolookup_builder.compile import Options, compile_dataset

    from geolookup.progress import Progress

    end_orderly()
    options = Options(force, rejects, max_rejects, cache, offline)
    report = compile_dataset(recipe, output, options, Progress())
    click.echo("\n".join(report.lines()))
