"""``geolookup recipes``: lists and prints the packaged recipes."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(
    name="recipes", short_help="List, print and copy packaged recipes.", invoke_without_command=True
)
@click.pass_context
def recipes(context: click.Context) -> None:
    """List the packaged recipes, each with what it describes.

    `geolookup build`, `download` and `update` take their names.

    Example: geolookup recipes copy maxmind-geolite2
    """
    from geolookup_builder import loading

    if context.invoked_subcommand is None:
        names = loading.names()
        width = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{width}}  {loading.summary(name)}")


@recipes.command(name="show", short_help="Print a packaged recipe.")
@click.argument("name")
def show(name: str) -> None:
    """Print the packaged recipe NAME.

    Example: geolookup recipes show world
    """
    from geolookup_builder import loading

    click.echo(loading.text(name), nl=False)


@recipes.command(name="copy", short_help="Copy a packaged recipe, to be changed.")
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
def copy(name: str, folder: Path) -> None:
    """Copy the packaged recipe NAME, and the files that come with it, into FOLDER.

    FOLDER is by default the current one. No file is replaced. The name of the copy is
    printed; `geolookup build` and `update` take it.

    Example: geolookup recipes copy world
    """
    from geolookup_builder import loading

    click.echo(loading.copy(name, folder))
