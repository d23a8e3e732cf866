"""``geolookup build`` and ``check``: a recipe compiled into a dataset, or only read."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from geolookup.cli import json_text, key_options, options, quantities
from geolookup.cli.command import command
from geolookup.errors import QualityError


@command("build")
@click.argument("recipe", type=options.PATH)
@options.output("Folder to create.", "DIR")
@options.force("an existing dataset")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write rejected rows, invalid values and rows far outside their country to this CSV:"
    " file, line, reason, text.",
)
@quantities.max_rejects
@quantities.max_nulled
@quantities.max_memory
@options.cache
@click.option("--offline", is_flag=True, help="Use only the cached copies of remote sources.")
@key_options.signing_keys()
@options.as_json("Print the report as JSON.")
def build(
    recipe: str, output: Path, signing_keys: tuple[str, ...], as_json: bool, **values: Any
) -> None:
    """Compile the sources that RECIPE names into a dataset.

    RECIPE is a recipe file (.toml), the name of a packaged recipe (`geolookup
    recipes`), or a file or folder of data, whose format is then detected.

    Prints a report: one line for each source, then its counters that are not zero.
    Rejected rows have no valid range. Duplicate rows have the range of a later
    row. Covered rows lose all addresses to more specific rows. Clipped addresses
    are special-purpose, folded ones IPv4-mapped, excluded ones 6to4 or NAT64. Nulled
    values are invalid. Far rows have coordinates over 100 km outside their country. Coverage
    counts addresses with a value. Exits with 2, leaving no dataset, if a source cannot
    be used or has no usable row, with 1 if the dataset does not meet the demands of
    [quality] in RECIPE.

    Example: geolookup build recipe.toml --output mydata
    """
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.limits import Options
    from geolookup_builder.recipe.loading import load

    from geolookup.progress import current
    from geolookup.signing.keys import read_signing_keys

    build_options = Options(**values, signing_keys=read_signing_keys(signing_keys))
    try:
        report, _ = compile_recipe(load(recipe), output, build_options, current())
    except QualityError as error:
        if as_json:
            print_report(error.report, as_json=True)
        for problem in error.problems:
            click.echo(f"geolookup: {problem}", err=True)
        sys.exit(1)
    print_report(report, as_json=as_json)


@command("check")
@click.argument("recipe", type=options.PATH)
@quantities.max_rejects
@quantities.max_nulled
@quantities.max_memory
@options.cache
@click.option(
    "--against",
    metavar="STORE",
    type=options.PATH,
    help="Store or dataset to compare with: rows of each source, lost values, gates of [update].",
)
@options.as_json("Print the report as JSON.")
def check(recipe: str, against: str | None, as_json: bool, **limits: Any) -> None:
    """Build RECIPE without leaving a dataset, and print a report.

    RECIPE is a recipe file (.toml), the name of a packaged recipe (`geolookup
    recipes`), or a file or folder of data, whose format is then detected.

    Prints for each source its files with their sizes, its format and why it was
    detected, its fields, the columns that are not read, the numbers of rows, the first
    bad rows, and the problem that would end a build. For unknown columns or another
    delimiter it prints the recipe or the options to write. If no source has a problem, it
    prints the coverage and the size of the dataset, the memory that a build takes, and the
    demands of [quality] that are met and not met. The dataset is written to a temporary
    folder, and removed. Downloads nothing: it asks only for the sizes of files that are not
    in the cache. Exits with 1 if `build` or, with --against, `update` would fail, or a
    source must be downloaded first.

    Example: geolookup check recipe.toml
    """
    from geolookup_builder.check import check_recipe
    from geolookup_builder.limits import Options

    from geolookup.progress import current

    report = check_recipe(recipe, Options(**limits), current(), against)
    print_report(report, as_json=as_json)
    sys.exit(1 if report.has_problem or report.is_refused else 0)


def print_report(report: Any, *, as_json: bool) -> None:
    """Print the report of a build or a check."""
    click.echo(json_text(report, _members) if as_json else "\n".join(report.lines()))


def _members(report: Any) -> object:
    """Return the members of a report; ``asdict`` counts the items of a ``Counter`` anew."""
    if isinstance(report, Path):
        return str(report)
    return {field.name: getattr(report, field.name) for field in fields(report)}
