"""``geolookup enrich``: adds columns of answers to files of addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from geolookup.cli import fail, options, table_options
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.contract.paths import resolve_fields
from geolookup.kernel.lookups import state_of


@command("enrich")
@click.argument("source", metavar="INPUT", type=options.PATH)
@option("-o, --output OUTPUT", "File to write, or -.", options.PATH, required=True)
@option(
    "--output-format NAME",
    "Format to write: csv, tsv, jsonl or parquet. [default: by suffix; for -, the input's]",
)
@option("--force", "Replace an existing output.")
@options.fields("add", "all but ip and error_code")
@option("--prefix TEXT", "Prefix of the names of new columns.", default="")
@table_options.table_input
@table_options.clean
@option(
    "--on-invalid",
    "For an address without an answer: write nulls, or stop with an error. [default: null, "
    "but a file without any address is refused]",
    click.Choice(["null", "raise"]),
)
@option(
    "--local-time-at INSTANT|COLUMN",
    f"{options.LOCAL_TIME}; {options.IS_COLUMN}. [default: now]",
    options.Parsed(options.instant_or_column),
    name="at",
)
@table_options.time_zone
@options.dataset_of_rows
def enrich(
    source: str,
    output: str,
    output_format: str | None,
    input_format: str | None,
    force: bool,
    paths: tuple[str, ...],
    at: int | str | None,
    dataset: str | None,
    **parameters: Any,
) -> None:
    """Copy INPUT and add columns of answers. INPUT is a file, or - for standard input.

    Reads and writes CSV, TSV, JSON lines and Parquet, also compressed (.gz, .bz2, .xz,
    .zst). The suffix decides the format. Reads logs of web servers (.log). Existing
    columns keep their names, types and values. An output is written completely or not at
    all. For --local-time-at and --as-of, a value that begins with a digit is an instant, any
    other one is a column. $GEOLOOKUP_THREADS is the number of threads, by default one per
    core. Exits with 2 if an input or output cannot be used.

    Example: geolookup enrich visits.csv --output located.csv --fields country,city,asn
    """
    from geolookup.contract.fields import ERROR_CODE
    from geolookup.files.arrow_start import start_without_pandas

    start_without_pandas()  # before an import that converts values
    from geolookup.files.enrich import FileOptions, enrich_file
    from geolookup.files.standard_input import STANDARD
    from geolookup.files.table_files import check_other, table_file
    from geolookup.filesystem.atomic import check_file

    columns = {"time_column": at, "as_of_column": options.kept("as_of")}
    columns = {name: column for name, column in columns.items() if isinstance(column, str)}
    if parameters["time_zone"] is not None and not columns:
        fail("--time-zone is for a column of times; name it by --local-time-at")
    with options.open_dataset(dataset) as engine:
        fields = resolve_fields(paths, state_of(engine).dataset.schema.columns, "--fields")
        enriching = FileOptions(
            column=parameters.pop("ip_column"),
            fields=tuple(field.path for field in fields),
            at=at if isinstance(at, int) else None,
            error_code=ERROR_CODE in fields,
            **columns,
            **parameters,
        )
        file = table_file(source, input_format, "--input-format")
        if output == STANDARD and file.format.write is not None:
            output_format = output_format or file.format.name
        target = table_file(output, output_format, "--output-format")
        if output != STANDARD:
            check_other(source, output)
            check_file(Path(output), force=force)
        counts = enrich_file(engine, file, target, enriching, force=force)
        click.echo("\n".join(counts.report()), err=True)
