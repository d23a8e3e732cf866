"""``geolookup build``, ``check`` and ``slice``: datasets from recipes and from other datasets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import geolookup
from geolookup.cli import json_text, options, say
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.errors import QualityError, line_text
from geolookup.store.paths import dataset_path

_LIMIT = options.Parsed(lambda text: int(text) if text.isdecimal() else text)
#: Options of both commands.
_limits = options.group(
    option(
        "--max-rejected LIMIT",
        "Most rejected rows of each source: a number, or a share of its rows such as 5%."
        " [default: as RECIPE says, or 1%]",
        _LIMIT,
    ),
    option(
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
@option(
    "--rejects FILE",
    "Write rejected rows, invalid values and rows far outside their country to this CSV:"
    " file, line, reason, text.",
    click.Path(dir_okay=False),
)
@_limits
@option("--offline", "Use only the cached copies of remote sources.")
@options.signing_keys()
@option("--json", "Print the report as JSON.", name="as_json")
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
            _print_report(error.report, as_json=True)
        for problem in error.problems:
            say(f"geolookup: {problem}")
        sys.exit(1)
    _print_report(report, as_json=as_json)


@command("check")
@click.argument("recipe", type=options.PATH)
@_limits
@option(
    "--against STORE",
    "Store or dataset to compare with: rows of each source, lost values, gates of [update].",
    options.PATH,
)
@option("--json", "Print the report as JSON.", name="as_json")
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
    _print_report(report, as_json=as_json)
    sys.exit(1 if report.has_problem or report.is_refused else 0)


@command("slice")
@options.past_dataset_object
@option(
    "--only CONDITION...",
    "Condition on the answer, such as country=AT,DE; repeatable: all must be met.",
)
@options.not_
@option("--within NETWORK...", "Only addresses in this network; repeatable: in one of them.")
@options.family
@options.fields("keep", "all")
@options.dataset_output
@options.max_memory
@option("--name TEXT", "Name of the new dataset. [default: the name of DIR]")
@options.signing_keys()
@option("--json", "Print the report as JSON.", name="as_json")
def slice(  # noqa: A001 - the name of the command
    output: Path, as_json: bool, dataset: str | None, name: str | None, **values: Any
) -> None:
    """Write the part of DATASET that meets all conditions as a new dataset.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled. It may
    also be a file of `geolookup mirror pack`. Inside the part the answers are the same; other
    addresses are unknown. Sources, dates, licences and credits are kept. Prints the report
    of a build. Exits with 2 and leaves no dataset if nothing meets the conditions.

    Example: geolookup slice mydata --only country=US --fields country --output part
    """
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.limits import Options
    from geolookup_builder.recipe.loading import slice_recipe

    from geolookup.progress import current
    from geolookup.signing.keys import read_signing_keys

    build_options = Options(
        **{key: values.pop(key) for key in ("force", "max_memory")},
        signing_keys=read_signing_keys(values.pop("signing_keys")),
    )
    family = values.pop("family")
    recipe = slice_recipe(
        dataset_path(options.past_dataset(dataset)),
        name or line_text(output.absolute().name),
        unwanted=values.pop("not_"),
        families=(family,) if family else (),
        fields=values.pop("paths"),
        **values,
    )
    report, _ = compile_recipe(recipe, output, build_options, current())
    _print_report(report, as_json=as_json)


def _print_report(report: Any, *, as_json: bool) -> None:
    """Print the report of a build or a check."""
    click.echo(json_text(report) if as_json else "\n".join(report.lines()))
