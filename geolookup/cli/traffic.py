"""``geolookup summarize`` and ``map``: the addresses of files counted, as text or as a page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from geolookup.cli import fail, json_text, options, print_sizes, say, table_options
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.contract.display import join_values
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.contract.fields import Field
    from geolookup.files.summarize import Count, Summary

_WIDTH = 50
#: INPUT and the shared options of both commands.
_addresses = options.group(
    click.argument("source", metavar="INPUT", type=options.PATH),
    table_options.table_input,
    table_options.clean,
    table_options.top,
    options.dataset,
)


@command("summarize")
@_addresses
@options.names_of_fields(
    "--by",
    "Count by each of these fields that a dataset stores, instead of countries, cities and "
    "networks.",
)
@options.as_json()
def summarize(
    source: str, dataset: str | None, by: tuple[str, ...], top: int, as_json: bool, **column: Any
) -> None:
    """Count the addresses of INPUT by country, city and network, or by other fields.

    INPUT is a file that `geolookup enrich` reads, a folder of them, or - for standard
    input, by default with one address per line. An address is located if anything is
    known about it. Unknown, invalid and private addresses are counted separately;
    private ones also by an own column that is known for them.

    Example: geolookup summarize visits.csv --top 5
    """
    from geolookup.contract.paths import resolve_fields
    from geolookup.files.summarize import Summary, count_files
    from geolookup.files.table_files import AddressColumn, table_files

    with options.open_dataset(dataset) as engine:
        fields = resolve_fields(by, state_of(engine).dataset.schema.stored, "--by")
        summary = Summary(engine, fields=fields)
        files = table_files(source, column.pop("input_format"))
        count_files(summary, files, AddressColumn(column.pop("ip_column"), **column))
        document = _document(summary, fields, top)
        for line in summary.notes:
            say(line)
    click.echo(json_text(document) if as_json else "\n".join(_lines(document)))


@command("map")
@_addresses
@option(
    "--local-time-at COLUMN",
    "Column with the instant of each row. [default: the times of a log; none in other files]",
    name="time_column",
)
@table_options.time_zone
@option(
    "--min-count N",
    "Show places, times and groups with fewer requests only in a sum.",
    click.IntRange(1),
    default=5,
)
@options.page_output
def map(  # noqa: A001 - the name of the command
    source: str,
    dataset: str | None,
    time_column: str | None,
    time_zone: str | None,
    top: int,
    min_count: int,
    output: Path,
    force: bool,
    **column: Any,
) -> None:
    """Write a page on the places, times, networks and status codes of the requests of INPUT.

    INPUT is a file that `geolookup enrich` reads, a folder of them, or - for standard
    input, by default with one address per line. The page is one file that needs no network.
    It holds counts only: no address, no time more precise than a minute, and no place more
    precise than a city. Needs the extra `report`.

    Example: geolookup map access.log --output map.html
    """
    from geolookup.files.summarize import Summary, count_files
    from geolookup.files.table_files import AddressColumn, TimeColumn, check_other, table_files
    from geolookup.files.traffic import Traffic
    from geolookup.progress import Progress
    from geolookup.reports.page import STANDARD_OUTPUT, check_output, write_page
    from geolookup.reports.traffic_page import TITLE, lead, sections

    if time_zone is not None and time_column is None:
        fail("--time-zone is for a column of times; name it by --local-time-at")
    files = list(table_files(source, column.pop("input_format")))
    for file in files:
        check_other(file.path, os.fspath(output))
    check_output(output, force=force)
    addresses = AddressColumn(column.pop("ip_column"), **column)
    with options.open_dataset(dataset) as engine:
        traffic = Traffic(state_of(engine))
        summary = Summary(engine, traffic)
        count_files(summary, files, addresses, TimeColumn(time_column, time_zone))
        with Progress().stage("drawing the page"):
            shown = list(sections(summary, traffic, engine.metadata, top, min_count))
            head = lead(summary, traffic, min_count)
            written = write_page(output, TITLE, head, shown, force=force)
        for line in summary.notes:
            say(line)
    print_sizes(written, err=output == STANDARD_OUTPUT)


def _document(summary: Summary, by: tuple[Field, ...], top: int) -> dict[str, Any]:
    from geolookup.files.summarize import KINDS
    from geolookup.tables.take import of_table

    kinds = {kind: of_table(paths) for kind, paths in KINDS.items()}
    if by:
        kinds = {field.path: (field,) for field in by}
    document: dict[str, Any] = {**summary.totals()}
    for kind, fields in kinds.items():
        counts = summary.by_fields(fields)
        document[kind] = {
            "different": len(counts),
            "unknown": summary.counted(fields[0]) - sum(count.addresses for count in counts),
            "top": [_object(count, fields) for count in counts[:top]],
        }
    return document


def _object(count: Count, fields: tuple[Field, ...]) -> dict[str, Any]:
    members = zip((field.member for field in fields), count.members, strict=True)
    return {**dict(members), "addresses": count.addresses}


def _lines(document: dict[str, Any]) -> Iterator[str]:
    total = document["addresses"]
    for name, counted in document.items():
        if isinstance(counted, int):
            yield _line(name, counted, total)
            continue
        yield f"\n{name}, {counted['different']:,} different"
        for count in counted["top"]:
            *names, addresses = count.values()
            yield _line(f"  {join_values(*names)}", addresses, total)
        yield _line("  unknown", counted["unknown"], total)


def _line(name: str, count: int, total: int) -> str:
    label = name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…"
    share = count / total if total else 0.0
    return f"{label:<{_WIDTH}} {count:>14,} {share:>8.2%}"
