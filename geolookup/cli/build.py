"""``geolookup build`` and ``check``: a recipe compiled into a dataset, or only read."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

import geolookup
from geolookup.cli import json_text, options, say
from geolookup.cli.command import command
from geolookup.errors import QualityError

_LIMIT = options.Parsed(lambda text: int(text) if text.isdecimal() else text)
#: Options of both commands.
_limits = options.group(
    options.option(
        "--max-rejects LIMIT",
        "Most rejected rows of each source: a number, or a share of its rows such as 5%."
        " [default: as RECIPE says, or 1%]",
        _LIMIT,
    ),
    options.option(
        "--max-nulled LIMIT",
        "Most invalid values of each field of a source: a number, or a share of its values."
        " [default: as RECIPE says, or 1%]",
        _LIMIT,
    ),
    options.max_memory,
    options.cache,
)


@command("build")
@click.argument("recipe", type=options.PATH)
@options.dataset_output
@options.option(
    "--rejects FILE",
    "Write rejected rows, invalid values and rows far outside their country to this CSV:"
    " file, line, reason, text.",
    click.Path(dir_okay=False),
)
@_limits
@options.option("--offline", "Use only the cached copies of remote sources.")
@options.signing_keys()
@options.as_json("Print the report as JSON.")
def build(as_json: bool, **values: Any) -> None:
    """Compile the sources that RECIPE names into a dataset.

    RECIPE is a recipe file (.toml), the name of a packaged recipe (`geolookup
    recipes`), or a file or folder of data, whose format is then detected.
    Prints a line for each source, then its counters that are not zero. Exits with 2,
    leaving no dataset, if a source cannot be used or has no usable row, with 1 if the
    dataset does not meet the demands of [quality] in RECIPE.

    Example: geolookup build recipe.toml --output mydata
    """
    try:
        report = geolookup.build(**values)
    except QualityError as error:
        if as_json:
            print_report(error.report, as_json=True)
        for problem in error.problems:
            say(f"geolookup: {problem}")
        sys.exit(1)
    print_report(report, as_json=as_json)


@command("check")
@click.argument("recipe", type=options.PATH)
@_limits
@options.option(
    "--against STORE",
    "Store or dataset to compare with: rows of each source, lost values, gates of [update].",
    options.PATH,
)
@options.as_json("Print the report as JSON.")
def check(as_json: bool, **values: Any) -> None:
    """Build RECIPE without leaving a dataset, and print a report.

    RECIPE is as for `geolookup build`. Prints for each source its files, its format, its
    fields, the columns that are not read, the numbers of rows, the first bad rows, and the
    problem that would end a build, with the remedy. Without a problem, also coverage, size,
    memory, and the demands of [quality]. Downloads nothing. Exits with 1 if `build` or, with
    --against, `update` would fail, or a source must be downloaded first.

    Example: geolookup check recipe.toml
    """
    report = geolookup.check(**values)
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
