"""``geolookup diff``, ``score`` and ``report``: datasets compared, and shown as a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import geolookup
from geolookup.cli import fail, json_text, options, print_sizes, table_options
from geolookup.cli.command import command
from geolookup.errors import count_text, line_text
from geolookup.store.paths import dataset_path

if TYPE_CHECKING:
    from geolookup.comparison import Comparison
    from geolookup.comparison.gates import GateResult
    from geolookup.comparison.score import Score


@command("diff")
@click.argument("old", type=options.PATH)
@click.argument("new", type=options.PATH, required=False)
@table_options.fail_if("country_moved > 2%")
@table_options.traffic("Weight addresses by their requests")
@table_options.table_input
@options.limit("--top", "Number of networks to list, by moved addresses.")
@click.option(
    "--rows",
    metavar="FILE",
    type=options.AS_PATH,
    help="Also write a row for each range whose answer differs: .csv, .jsonl or .parquet.",
)
@options.where
@options.not_
@options.fields("compare in the rows of --rows, or all", "those that sources state")
@options.force("an existing FILE of --rows")
@options.as_json()
@options.instant_option("--as-of", "OLD is a store: compare the generation that was in force then.")
@options.instant_option("--new-as-of", "NEW is a store: compare the generation in force then.")
def diff(
    old: str,
    new: str | None,
    rows: Path | None,
    where: tuple[str, ...],
    not_: tuple[str, ...],
    paths: tuple[str, ...],
    force: bool,
    as_json: bool,
    **parameters: Any,
) -> None:
    """Report which answers differ between OLD and NEW, counted in addresses or in requests.

    OLD and NEW are datasets, or stores: then their current generations are compared.
    NEW is by default $GEOLOOKUP_DATASET, else the user's store, else bundled; with --as-of or
    --new-as-of it is OLD: `diff STORE --as-of 2026-03-01` compares the store then with now.
    FILE of --traffic is any table that `geolookup enrich` reads, or a text with one
    address a line (.txt); --ip-column, --input-format, --delimiter and --no-header
    describe it.

    --rows writes the values before and after, the deciding sources, the number of addresses
    and the distance. --where and --not select the rows whose answer in OLD or in NEW meets
    the conditions, --fields the fields that are compared.

    Exits with 0 if no gate fails, 1 if one does, and 2 for misuse, a malformed gate,
    or an unusable dataset or FILE.

    Example: geolookup diff mydata mydata-new --fail-if "country_moved > 2%"
    """
    from geolookup.comparison.report import lines

    sides = _sides(old, new)
    if rows is None and (where or not_ or paths or force):
        fail("--where, --not, --fields and --force are about the file of --rows; name it")
    if rows is not None:
        _write_rows(sides, rows, where, not_, paths, force=force)
    result = _named(geolookup.diff(*sides, **parameters), old, new or old)
    _print(result, lines(result), as_json=as_json)


def _write_rows(
    sides: tuple[str, str | None],
    output: Path,
    where: tuple[str, ...] = (),
    not_: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    *,
    force: bool,
) -> None:
    """Write the changes as rows, and print their number on standard error."""
    from geolookup.comparison import open_dataset
    from geolookup.comparison.change_table import write_rows
    from geolookup.comparison.dataset_pair import OPTIONS, DatasetPair

    old, new = map(open_dataset, sides)
    try:
        pair = DatasetPair(old, new, paths, where, not_, OPTIONS)
    except ValueError as error:
        fail(str(error))
    count = write_rows(pair, str(output), force=force)
    click.echo(f"geolookup: {line_text(str(output))}: {count_text(count, 'row')}", err=True)


def _named(result: Comparison, old: str, new: str) -> Comparison:
    """Return a comparison with the stores that were named: as of an instant it has cached paths."""
    if options.instant_of() is not None:
        result = replace(result, old=replace(result.old, path=old))
    if options.instant_of("new_as_of") is not None:
        result = replace(result, new=replace(result.new, path=new))
    return result


def _sides(old: str, new: str | None) -> tuple[str, str | None]:
    """Return OLD and NEW as of their instants; with one, NEW is by default the store OLD."""
    instant, new_instant = options.instant_of(), options.instant_of("new_as_of")
    if instant is None and new_instant is None:
        return old, new
    former = old if instant is None else options.folder_as_of(old, instant)
    return former, options.past_dataset(new or old, "new_as_of")


@command("score")
@click.argument("datasets", type=options.PATH, metavar="[DATASET]...", nargs=-1)
@table_options.truth("Ground truth", required=True)
@table_options.fail_if("country_agree < 95%")
@table_options.traffic("Weight addresses by their requests")
@table_options.table_input
@click.option(
    "--rows",
    metavar="FILE",
    type=options.AS_PATH,
    help="Also write a row for each range where the one DATASET lacks a value of the truth or has "
    "another one: .csv, .jsonl or .parquet. Before is the truth, after is DATASET.",
)
@options.force("an existing FILE of --rows")
@options.as_of
@options.as_json()
def score(
    datasets: tuple[str, ...],
    truth: tuple[str, ...],
    as_json: bool,
    **parameters: Any,
) -> None:
    """Report how far each DATASET agrees with ground truth on country, region and city.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    The counts are in addresses or, with --traffic, in requests. --ip-column,
    --input-format, --delimiter and --no-header describe the FILE of --traffic.
    Several datasets have a column each.

    Exits with 0 if no gate fails, 1 if one does, and 2 for misuse, a malformed gate,
    or an unusable dataset or FILE.

    Example: geolookup score mydata --truth feed.csv --fail-if "city_wrong > 5%"
    """
    from geolookup.comparison.report import score_lines

    if parameters["rows"] is not None and len(datasets) > 1:
        fail(f"--rows is about one DATASET, not {len(datasets)}; name one")
    if parameters["force"] and parameters["rows"] is None:
        fail("--force is about the file of --rows; name it")
    if (instant := options.instant_of()) is not None:
        folders = [options.folder_as_of(path, instant) for path in datasets or (None,)]
        result = geolookup.score(folders, truth=truth, **parameters)
        named = zip(result.datasets, datasets or (dataset_path(None),), strict=True)
        result = replace(result, datasets=[replace(of, path=path) for of, path in named])
    else:
        result = geolookup.score(datasets, truth=truth, **parameters)
    _print(result, score_lines(result), as_json=as_json)


@command("report")
@options.past_dataset_object
@click.option(
    "--against",
    metavar="OLD",
    type=options.PATH,
    help="Also show the changes since OLD, an older dataset or a store.",
)
@click.option(
    "--rows",
    metavar="FILE",
    type=options.AS_PATH,
    help="With --against: write a row for each changed range, as `geolookup diff` does, and link "
    "to it.",
)
@table_options.fail_if("country_moved > 2%", "With --against")
@table_options.truth("Also show how far DATASET agrees with ground truth", required=False)
@options.page_output
def report(
    dataset: str | None,
    against: str | None,
    rows: Path | None,
    fail_if: tuple[str, ...],
    truth: tuple[str, ...],
    truth_format: str,
    output: Path,
    force: bool,
) -> None:
    """Write a page that shows DATASET, or the current generation of a store.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    The page is one file: it opens from disk and needs no network. Needs the extra
    `report`. GATE is a gate of `geolookup diff`: if one fails, the page is still
    written and the exit status is 1.

    Example: geolookup report mydata --against mydata-old -o report.html
    """
    from geolookup.reports.changes import difference
    from geolookup.reports.dataset import head, sections
    from geolookup.reports.page import STANDARD_OUTPUT, check_output, write_page

    if against is None and (fail_if or rows):
        fail(f"{'--fail-if' if fail_if else '--rows'} needs --against")
    check_output(output, rows, force=force)
    with options.open_dataset(dataset) as engine:
        path = engine.path  # of the generation that a store has now
    changed = None if against is None else difference(against, path, fail_if)
    scored = geolookup.score(path, truth=truth, truth_format=truth_format) if truth else None
    link = None
    if against is not None and rows is not None:
        _write_rows((against, str(path)), rows, force=force)
        beside = os.curdir if output == STANDARD_OUTPUT else output.parent
        link = Path(os.path.relpath(rows, beside)).as_posix()
    shown = list(sections(path, changed, scored, link))
    written = write_page(output, *head(path, changed), shown, force=force)
    print_sizes(written, err=output == STANDARD_OUTPUT)
    if changed is not None:
        _exit_by_gates(changed.judged)


def _print(result: Comparison | Score, lines: Iterable[str], *, as_json: bool) -> NoReturn:
    """Print a comparison, then exit by its gates."""
    from dataclasses import asdict

    if as_json:
        click.echo(json_text(asdict(result)))
    else:
        # Not map(): after an import of the command of that name it is a module here.
        click.echo("\n".join(line_text(line) for line in lines))
    _exit_by_gates(result)


def _exit_by_gates(result: GateResult) -> NoReturn:
    """Print the failed gates on standard error; exit with 1 if there are any, else with 0."""
    from geolookup.comparison.gates import verdict_line

    for verdict in result.failed:
        click.echo(verdict_line(verdict), err=True)
    sys.exit(1 if result.failed else 0)
