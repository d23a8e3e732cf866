"""``geolookup enrich``, ``summarize`` and ``map``: the addresses of files, answered and counted."""

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
from geolookup.contract.paths import resolve_fields
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.contract.fields import Field
    from geolookup.files.summarize import Summary

_WIDTH = 50
#: INPUT and the shared options of ``summarize`` and ``map``.
_addresses = options.group(
    click.argument("source", metavar="INPUT", type=options.PATH),
    table_options.table_input,
    table_options.clean,
    option(
        "--top N",
        "Number of countries, of cities and of networks to list.",
        click.IntRange(1),
        default=10,
    ),
    options.dataset,
)


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
    "Instant of local times: ISO 8601 with offset, or Unix seconds; or the column with the"
    " instant of each row. [default: now]",
    options.Parsed(options.instant_or_column),
    name="at",
)
@table_options.time_zone
@options.dataset_of_rows
def enrich(source: str, output: str, dataset: str | None, force: bool, **values: Any) -> None:
    """Copy INPUT and add columns of answers. INPUT is a file, or - for standard input.

    Reads and writes CSV, TSV, JSON lines and Parquet, also compressed (.gz, .bz2, .xz,
    .zst), and reads logs of web servers (.log). Existing columns keep their names, types and
    values. An output is written completely or not at all. For --local-time-at and --as-of, a
    value that begins with a digit is an instant, any other one is a column.
    $GEOLOOKUP_THREADS is the number of threads, by default one per core.

    Example: geolookup enrich visits.csv --output located.csv --fields country,city,asn
    """
    from geolookup.contract.fields import ERROR_CODE
    from geolookup.files.arrow_start import start_without_pandas

    start_without_pandas()  # before an import that converts values
    from geolookup.files.byte_streams import STANDARD
    from geolookup.files.enrich import FileOptions, enrich_file
    from geolookup.files.table_files import check_other, table_file
    from geolookup.filesystem.atomic import check_file

    at = values.pop("at")
    columns = {"time_column": at, "as_of_column": options.kept("as_of")}
    columns = {name: column for name, column in columns.items() if isinstance(column, str)}
    if values["time_zone"] is not None and not columns:
        fail("--time-zone is for a column of times; name it by --local-time-at")
    with options.open_dataset(dataset) as engine:
        fields = resolve_fields(
            values.pop("paths"), state_of(engine).dataset.schema.columns, "--fields"
        )
        file = table_file(source, values.pop("input_format"), "--input-format")
        output_format = values.pop("output_format")
        if output == STANDARD and file.format.write is not None:
            output_format = output_format or file.format.name
        target = table_file(output, output_format, "--output-format")
        if output != STANDARD:
            check_other(source, output)
            check_file(Path(output), force=force)
        enriching = FileOptions(
            column=values.pop("ip_column"),
            fields=tuple(field.path for field in fields),
            at=at if isinstance(at, int) else None,
            error_code=ERROR_CODE in fields,
            **columns,
            **values,
        )
        counts = enrich_file(engine, file, target, enriching, force=force)
        say("\n".join(counts.report()))


@command("summarize")
@_addresses
@options.names_of_fields(
    "--by",
    "Count by each of these fields that a dataset stores, instead of countries, cities and "
    "networks.",
)
@options.as_json
def summarize(source: str, dataset: str | None, as_json: bool, **values: Any) -> None:
    """Count the addresses of INPUT by country, city and network, or by other fields.

    INPUT is a file that `geolookup enrich` reads, a folder of them, or - for standard
    input, by default with one address per line. An address is located if anything is
    known about it. Unknown, invalid and private addresses are counted separately;
    private ones also by an own column that is known for them.

    Example: geolookup summarize visits.csv --top 5
    """
    from geolookup.files.summarize import Summary, count_files
    from geolookup.files.table_files import AddressColumn, table_files

    with options.open_dataset(dataset) as engine:
        fields = resolve_fields(values.pop("by"), state_of(engine).dataset.schema.stored, "--by")
        summary = Summary(engine, fields=fields)
        files, top = table_files(source, values.pop("input_format")), values.pop("top")
        count_files(summary, files, AddressColumn(values.pop("ip_column"), **values))
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
    source: str, dataset: str | None, output: Path, force: bool, **values: Any
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

    time_column, time_zone = values.pop("time_column"), values.pop("time_zone")
    top, min_count = values.pop("top"), values.pop("min_count")
    if time_zone is not None and time_column is None:
        fail("--time-zone is for a column of times; name it by --local-time-at")
    files = list(table_files(source, values.pop("input_format")))
    for file in files:
        check_other(file.path, os.fspath(output))
    check_output(output, force=force)
    addresses = AddressColumn(values.pop("ip_column"), **values)
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

    kinds: dict[str, tuple[Field, ...]] = {field.path: (field,) for field in by}
    kinds = kinds or {kind: of_table(paths) for kind, paths in KINDS.items()}
    document: dict[str, Any] = {**summary.totals()}
    for kind, fields in kinds.items():
        counts, names = summary.by_fields(fields), [field.member for field in fields]
        document[kind] = {
            "different": len(counts),
            "unknown": summary.counted(fields[0]) - sum(count.addresses for count in counts),
            "top": [
                dict(zip(names, count.members, strict=True), addresses=count.addresses)
                for count in counts[:top]
            ],
        }
    return document


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
