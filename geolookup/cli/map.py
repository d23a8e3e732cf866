"""``geolookup map``: shows the addresses of files as one HTML page."""

from __future__ import annotations

import os
from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, note_age, options


@click.command(name="map", short_help="Show the addresses of a file as one HTML page.")
@click.argument("source", metavar="INPUT", type=options.PATH)
@options.table_input
@options.clean
@click.option(
    "--at",
    metavar="COLUMN",
    help="Column of the rows' instants. [default: the time of a log's lines]",
)
@options.at_zone
@options.top
@click.option(
    "--min-count",
    metavar="N",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Hide places, hours and groups with fewer rows; the page states their sum.",
)
@options.dataset()
@options.age_notice
@options.page_output
def map(  # noqa: A001 - the name of the command
    source: str,
    ip_column: str,
    input_format: str | None,
    delimiter: str | None,
    header: bool,
    clean: bool,
    at: str | None,
    at_zone: str | None,
    top: int,
    min_count: int,
    dataset: str | None,
    output: Path,
    png: Path | None,
    force: bool,
) -> None:
    """Write a page that shows where the addresses of INPUT are, when, and whose.

    INPUT is a file or folder that `geolookup enrich` reads, a log too, or - for
    standard input, by default with one address per line. The page is one file: it
    opens from disk and needs no network. It holds sums, and no address, no time and
    no place more precise than 1 km. Needs the extra `report`.

    Example: geolookup map access.log --output map.html
    """
    from geolookup.errors import name_text
    from geolookup.files.local_hours import LocalHours
    from geolookup.files.summarize import Summary, count_files
    from geolookup.files.table_files import AddressColumn, TimeColumn, check_other, table_files
    from geolookup.reports.page import check_outputs, write_page
    from geolookup.reports.traffic_page import lead, sections, title

    exit_on_signals()
    if at_zone is not None and at is None:
        fail("--at-zone is for a column of instants: name it by --at")
    files = list(table_files(source, input_format))
    for file in files:
        check_other(file.path, os.fspath(output))
    check_outputs(output, png, force=force)
    column = AddressColumn(ip_column, delimiter, header, clean)
    with geolookup.open(dataset) as engine:
        summary = Summary(engine, LocalHours(engine.snapshot()))
        count_files(summary, files, column, TimeColumn(at, at_zone))
        found = list(sections(summary, engine.metadata, top, min_count))
        for each in summary.malformed:
            click.echo(each, err=True)
        note_age(engine)
    for path in write_page(output, png, title(source), lead(min_count), found):
        click.echo(f"{name_text(str(path))}: {path.stat().st_size:,} bytes")
