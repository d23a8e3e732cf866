"""``geolookup export``: writes a dataset in the format of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from geolookup.cli import options, say
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.errors import counts_text
from geolookup.export import write
from geolookup.export.formats import FORMATS, options_of_formats
from geolookup.kernel.lookups import state_of

_IS_FLAT = "the schema is flat, for maxminddb; for geoip2 choose another, such as --schema city"


def _formats(command: options.F) -> options.F:
    """Add the options of all formats; the help of each names the formats that have it."""
    for added, formats in reversed(options_of_formats().items()):
        scope = f" Only for {', '.join(formats)}." if len(formats) < len(FORMATS) else ""
        short = "-f, " if added.name == "fields" else ""
        value = "" if added.choices else f" {added.metavar}"
        command = option(
            f"{short}--{added.name}{value}",
            added.help + scope,
            click.Choice(added.choices) if added.choices else None,
            callback=options.split_values if added.several else None,
        )(command)
    return command


@command("export")
@options.past_dataset_object
@options.overlay
@option(
    "--format",
    "Format to write. [default: by the suffix of the output, such as .mmdb]",
    click.Choice(list(FORMATS)),
    name="format_name",
)
@option(
    "-o, --output PATH",
    "File to write; for parquet a folder. - is standard output, for csv and jsonl.",
    options.PATH,
    required=True,
)
@_formats
@option("--force", "Replace an existing output.")
def export(
    dataset: str | None, format_name: str | None, output: str, force: bool, **parameters: Any
) -> None:
    """Write DATASET, or the current generation of a store, in another format.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    Networks about which nothing is known are left out, and special-purpose space
    unless own columns are known there. The same dataset gives the same bytes. Exits
    with 2 and writes nothing if the dataset is damaged, or if the format does not have
    an option or its value.

    Example: geolookup export mydata -o mydata.mmdb
    """
    values = {name: value for name, value in parameters.items() if value not in (None, ())}
    with options.open_dataset(dataset) as engine:
        data = state_of(engine).dataset
        counts = write(data, output, format_name, values, force=force)
    if output == "-":
        say(counts_text(counts))
    else:
        click.echo(f"{output}: {_size(Path(output)):,} bytes, {counts_text(counts)}")
    if "record bits" in counts and "schema" not in values:
        say(f"geolookup: {_IS_FLAT}")


def _size(output: Path) -> int:
    files = output.rglob("*") if output.is_dir() else (output,)
    return sum(file.stat().st_size for file in files if file.is_file())
