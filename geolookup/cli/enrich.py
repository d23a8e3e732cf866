"""``geolookup enrich``: files of addresses to files with answers beside them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

import geolookup
from geolookup.cli import end_orderly, fail, tell_of_sample

# Names alone, so that --help needs no Arrow; a test holds them to the registry.
READ = ("csv", "tsv", "jsonl", "parquet", "arrow", "arrows", "text")
WRITTEN = READ[:-1]
no_header = click.option(
    "--no-header",
    "header",
    is_flag=True,
    flag_value=False,
    default=True,
    help="CSV has no row of names: its columns are column1, column2 and so on.",
)


@click.command(name="enrich", short_help="Put answers beside the addresses of files.")
@click.argument("source", metavar="INPUT")
@click.option("--output", metavar="OUTPUT", required=True, help="File or folder to make, or -.")
@click.option(
    "--ip-column", metavar="NAME", default="ip", show_default=True, help="Column of addresses."
)
@click.option(
    "--fields",
    metavar="PATH,...",
    multiple=True,
    help="Members and groups of the answer to add. [default: all but ip]",
)
@click.option("--prefix", default="", help="Put before the names of new columns.")
@click.option("--error-code", is_flag=True, help="Add error_code: 10001, 10002 or nothing.")
@click.option(
    "--on-invalid",
    type=click.Choice(["null", "raise"]),
    default="null",
    show_default=True,
    help="What an address without an answer does: leave nulls, or end the command.",
)
@click.option(
    "--at",
    metavar="INSTANT|COLUMN",
    help="Instant of local times: Unix seconds, ISO 8601 with offset, or a column. [default: now]",
)
@click.option(
    "--dataset",
    metavar="PATH",
    help="Dataset to answer from. [default: $GEOLOOKUP_DATASET, else the bundled sample]",
)
@click.option("--input-format", type=click.Choice(READ), help="[default: by suffix]")
@click.option("--output-format", type=click.Choice(WRITTEN), help="[default: by suffix]")
@click.option("--delimiter", metavar="LETTER", help="Between the cells of CSV input and output.")
@no_header
@click.option("--infer-types", is_flag=True, help="Find types in CSV for other formats.")
@click.option(
    "--threads", metavar="N", type=click.IntRange(min=1), help="[default: one for each core]"
)
@click.option("--force", is_flag=True, help="Replace what is there already.")
def enrich(
    source: str,
    output: str,
    ip_column: str,
    fields: tuple[str, ...],
    prefix: str,
    error_code: bool,
    on_invalid: str,
    at: str | None,
    dataset: str | None,
    input_format: str | None,
    output_format: str | None,
    delimiter: str | None,
    header: bool,
    infer_types: bool,
    threads: int | None,
    force: bool,
) -> None:
    """Copy INPUT, a file, a folder or - (standard input), with columns of answers added.

    CSV, TSV, JSON lines, Parquet and Arrow, plain or packed as .gz or .zst, by
    suffix. Columns that are there keep names, types and values. An output is
    there whole or not at all; of a folder, what was made before is not made
    again. Exits with 2 if an input or output cannot be used.

    Example: geolookup enrich visits.csv --output located.csv --fields location,network.asn
    """
    from geolookup.files.enrich import Wishes
    from geolookup.files.job import Job

    end_orderly()
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        fail("--delimiter must be one ASCII letter")
    paths = tuple(path.strip() for each in fields for path in each.split(",") if path.strip())
    instant, at_column = _instant(at)
    wishes = Wishes(
        ip_column,
        paths or None,
        prefix,
        on_invalid,
        instant,
        at_column,
        error_code or "error_code" in paths,
        threads,
        delimiter,
        infer_types,
        header,
    )
    try:
        wishes.paths()
    except ValueError as error:
        fail(str(error))
    with geolookup.open(dataset) as engine:
        job = Job(engine, wishes, force=force)
        if Path(source).is_dir():
            job.folder(Path(source), Path(output), output_format)
        else:
            job.file(source, output, input_format, output_format)
        tell_of_sample(engine)
    click.echo(job.report(), err=True)


def _instant(at: str | None) -> tuple[float | None, str | None]:
    """Return the instant that a text names, or the column."""
    if at is None:
        return None, None
    try:
        return float(at), None
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return None, at
    if found.tzinfo is None:
        fail("--at needs an offset, such as Z, behind the time")
    return found.timestamp(), None
