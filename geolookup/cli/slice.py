"""``geolookup slice``: a part of a dataset as a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geolookup.cli import options
from geolookup.cli.build import print_report
from geolookup.cli.command import command
from geolookup.errors import line_text
from geolookup.store.paths import dataset_path


@command("slice")
@options.past_dataset_object
@options.option(
    "--only CONDITION",
    "Condition on the answer, such as country=AT,DE; repeatable: all must be met.",
    multiple=True,
)
@options.not_
@options.option(
    "--within NETWORK",
    "Only addresses in this network; repeatable: in one of them.",
    multiple=True,
)
@options.family
@options.fields("keep", "all")
@options.dataset_output
@options.max_memory
@options.option("--name TEXT", "Name of the new dataset. [default: the name of DIR]")
@options.signing_keys()
@options.as_json("Print the report as JSON.")
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
    print_report(report, as_json=as_json)
