"""``geolookup recipes``: lists and prints the packaged recipes."""

from __future__ import annotations

import click


@click.group(
    name="recipes", short_help="List and print packaged recipes.", invoke_without_command=True
)
@click.pass_context
def recipes(context: click.Context) -> None:
    """List the packaged recipes, each with what it describes.

    `geolookup build`, `download` and `update` take their names.

    Example: geolookup recipes show maxmind-geolite2 > recipe.toml
    """
    from geolookup_builder import packaged

    if context.invoked_subcommand is None:
        names = packaged.names()
        width = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{width}}  {packaged.summary(name)}")


@recipes.command(name="show", short_help="Print a packaged recipe.")
@click.argument("name")
def show(name: str) -> None:
    """Print the packaged recipe NAME, to be read or to be changed as a file of your own.

    Example: geolookup recipes show world
    """
    from geolookup_builder import packaged

    click.echo(packaged.text(name), nl=False)
