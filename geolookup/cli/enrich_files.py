"""``geolookup enrich``: adds columns of answers to files of addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from geolookup.cli import exit_on_signals, fail, options, table_options
from geolookup.cli.command import command
from geolookup.kernel.lookups import state_of


@command("enrich")
@click.argument("source", metavar="INPUT", type=options.PATH)
@options.output("File to write, or -.", "OUTPUT", path_type=options.PATH)
@click.option(
    "--output-format",
    type=table_options.FileFormat(is_written=True),
    help="[default: by suffix; for -, the input's]",
)
@table_options.table_input
@table_options.clean
@options.fields("add", "all but ip")
@click.option("--prefix", default="", help="Prefix of the names of new columns.")
@click.option("--error-code", is_flag=True, help="Add error_code: 10001, 10002 or null.")
@click.option(
    "--on-invalid",
    type=click.Choice(["null", "raise"]),
    help="For an address without an answer: write nulls, or stop with an error. [default: null, "
    "but a file without any address is refused]",
)
@options.at
@table_options.times()
@table_options.as_of_column
@options.dataset
@click.option(
    "--threads", metavar="N", type=click.IntRange(min=1), help="Threads. [default: one per core]"
)
@options.force("an existing output")
def enrich(
    source: str,
    output: str,
    output_format: str | None,
    input_format: str | None,
    paths: tuple[str, ...],
    ip_column: str,
    error_code: bool,
    at: int | None,
    time_column: str | None,
    dataset: str | None,
    force: bool,
    **parameters: Any,
) -> None:
    """Copy INPUT and add columns of answers. INPUT is a file, or - for standard input.

    Reads and writes CSV, TSV, JSON lines and Parquet, also compressed (.gz, .bz2, .xz,
    .zst). The suffix decides the format. Reads logs of web servers (.log). Existing
    columns keep their names, types and values. An output is written completely or not at
    all. Exits with 2 if an input or output cannot be used.

    Example: geolookup enrich visits.csv --output located.csv --fields country,city,asn
    """
    from geolookup.contract.fields import ERROR_CODE
    from geolookup.files.arrow_start import start_without_pandas

    start_without_pandas()  # before an import that converts values
    from geolookup.files.byte_streams import STANDARD
    from geolookup.files.enrich import FileOptions, enrich_file
    from geolookup.files.table_files import check_other, table_file
    from geolookup.filesystem.atomic import check_file

    exit_on_signals()
    if at is not None and time_column is not None:
        fail("--local-time-at is for all rows, --local-time-column for each row; pass one of them")
    if parameters["as_of_column"] is not None and options.instant_of() is not None:
        fail("--as-of is for all rows, --as-of-column for each row; pass one of them")
    with options.open_dataset(dataset) as engine:
        fields = options.fields_of(paths, state_of(engine).dataset.schema)
        enriching = FileOptions(
            column=ip_column,
            fields=tuple(field.path for field in fields),
            at=at,
            time_column=time_column,
            error_code=error_code or ERROR_CODE in fields,
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
        options.note_age(engine)
        click.echo("\n".join(counts.report()), err=True)
