"""``geolookup slice``: a part of a dataset as a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from geolookup.cli import key_options, options, quantities
from geolookup.cli.build import print_report
from geolookup.cli.command import command
from geolookup.errors import line_text
from geolookup.store.paths import dataset_path


@command("slice")
@options.past_dataset_object
@click.option(
    "--only",
    metavar="CONDITION",
    multiple=True,
    help="Condition on the answer, such as country=AT,DE; repeatable: all must be met.",
)
@options.not_
@click.option(
    "--within",
    metavar="NETWORK",
    multiple=True,
    help="Only addresses in this network; repeatable: in one of them.",
)
@options.family
@options.fields("keep", "all")
@options.output("Folder to create.", "DIR")
@options.force("an existing dataset")
@quantities.max_memory
@click.option("--name", metavar="TEXT", help="Name of the new dataset. [default: the name of DIR]")
@key_options.signing_keys()
@options.as_json("Print the report as JSON.")
def slice(  # noqa: A001 - the name of the command
    dataset: str | None,
    not_: tuple[str, ...],
    family: int | None,
    paths: tuple[str, ...],
    output: Path,
    force: bool,
    max_memory: int | None,
    name: str | None,
    signing_keys: tuple[str, ...],
    as_json: bool,
    **conditions: Any,
) -> None:
    """Write the part of DATASET that meets all conditions as a new dataset.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled. It may
    also be a file of `geolookup mirror pack`. Inside the part the answers are the same; other
    addresses are unknown. Sources, dates, licences and credits are kept.

    It is a build of a recipe with the keys only, within, families and fields, and prints
    its report. Exits with 2 and leaves no dataset if nothing meets the conditions.

    Example: geolookup slice mydata --only country=US --fields country --output part
    """
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.limits import Options
    from geolookup_builder.recipe.loading import slice_recipe

    from geolookup.progress import current
    from geolookup.signing.keys import read_signing_keys

    recipe = slice_recipe(
        dataset_path(options.past_dataset(dataset)),
        name or line_text(output.absolute().name),
        unwanted=not_,
        families=(family,) if family else (),
        fields=paths,
        **conditions,
    )
    signers = read_signing_keys(signing_keys)
    build_options = Options(force=force, max_memory=max_memory, signing_keys=signers)
    report, _ = compile_recipe(recipe, output, build_options, current())
    print_report(report, as_json=as_json)
