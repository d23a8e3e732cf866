"""``geolookup diff``, ``score`` and ``report``: datasets compared, and shown as a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

import geolookup
from geolookup.cli import fail, json_text, options, print_sizes, say, table_options, text_of
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.errors import count_text, line_text
from geolookup.store.paths import dataset_path

if TYPE_CHECKING:
    from geolookup.comparison import ComparedDataset, Comparison
    from geolookup.comparison.gates import GateResult
    from geolookup.comparison.score import Score

Side = TypeVar("Side", bound="ComparedDataset")
Result = TypeVar("Result", "Comparison", "Score")


@command("diff")
@click.argument("old", type=options.PATH)
@click.argument("new", type=options.PATH, required=False)
@table_options.fail_if
@table_options.traffic
@option("--top N", "Number of networks to list, by moved addresses.", click.IntRange(0), default=10)
@option(
    "--rows FILE",
    "Also write a row for each range whose answer differs: .csv, .jsonl or .parquet.",
    options.AS_PATH,
)
@options.where
@options.not_
@options.fields("compare in the rows of --rows, or all", "those that sources state")
@option("--force", "Replace an existing FILE of --rows.")
@options.as_json
@options.instant_option(
    "--as-of DATE", "OLD is a store: compare the generation that was in force then."
)
@options.instant_option("--new-as-of DATE", "NEW is a store: compare the generation in force then.")
def diff(old: str, new: str | None, rows: Path | None, as_json: bool, **values: Any) -> None:
    """Report which answers differ between OLD and NEW, counted in addresses or in requests.

    OLD and NEW are datasets, or stores: then their current generations are compared.
    NEW is by default $GEOLOOKUP_DATASET, else the user's store, else bundled; with --as-of or
    --new-as-of it is OLD: `diff STORE --as-of 2026-03-01` compares the store then with now.
    --ip-column, --input-format, --delimiter and --no-header describe FILE of --traffic.
    --where and --not select the rows of --rows whose answer in OLD or in NEW meets the
    conditions. Exits with 1 if a gate fails, and with 2 for misuse, a malformed gate, or an
    unusable dataset or FILE.

    Example: geolookup diff mydata mydata-new --fail-if "country_moved > 2%"
    """
    from geolookup.comparison.report import lines

    of_rows = {name: values.pop(name) for name in ("where", "not_", "paths", "force")}
    if rows is None and any(of_rows.values()):
        fail("--where, --not, --fields and --force are about the file of --rows; name it")
    if new is None and {options.instant_of(name) for name in ("as_of", "new_as_of")} != {None}:
        new = old
    sides = options.past_dataset(old) or old, options.past_dataset(new, "new_as_of")
    if rows is not None:
        _write_rows(sides, rows, **of_rows)
    result = geolookup.diff(*sides, **values)
    before, after = _named(result.old, old), _named(result.new, new or old, "new_as_of")
    _print(replace(result, old=before, new=after), lines, as_json=as_json)


def _named(side: Side, path: str, option: str = "as_of") -> Side:
    """Return a dataset under the name of its store: as of an instant it has a cached path."""
    return side if options.instant_of(option) is None else replace(side, path=path)


def _write_rows(
    sides: tuple[str | None, str | None], output: Path, *, force: bool, **chosen: Any
) -> None:
    """Write the changes as rows, and print their number on standard error."""
    from geolookup.comparison import open_dataset
    from geolookup.comparison.change_table import write_rows
    from geolookup.comparison.dataset_pair import OPTIONS, DatasetPair

    old, new = map(open_dataset, sides)
    pair = DatasetPair(old, new, chosen.pop("paths", ()), calls=OPTIONS, **chosen)
    count = write_rows(pair, str(output), force=force)
    say(f"geolookup: {line_text(str(output))}: {count_text(count, 'row')}")


@command("score")
@click.argument("datasets", type=options.PATH, metavar="[DATASET]...", nargs=-1)
@option(
    "--truth FILE...",
    "Ground truth: a geofeed, another source, or a table of addresses; repeatable, the first"
    " decides.",
    required=True,
)
@table_options.truth_format
@table_options.fail_if
@table_options.traffic
@option(
    "--rows FILE",
    "Also write a row for each range where the one DATASET lacks a value of the truth or has "
    "another one: .csv, .jsonl or .parquet. Before is the truth, after is DATASET.",
    options.AS_PATH,
)
@option("--force", "Replace an existing FILE of --rows.")
@options.as_of
@options.as_json
def score(datasets: tuple[str, ...], as_json: bool, **parameters: Any) -> None:
    """Report how far each DATASET agrees with ground truth on country, region and city.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    The counts are in addresses or, with --traffic, in requests. --ip-column,
    --input-format, --delimiter and --no-header describe the FILE of --traffic.
    Exits with 1 if a gate fails, and with 2 for misuse, a malformed gate, or an unusable
    dataset or FILE.

    Example: geolookup score mydata --truth feed.csv --fail-if "city_wrong > 5%"
    """
    from geolookup.comparison.report import score_lines

    named = datasets or (dataset_path(None),)
    folders = [options.past_dataset(path) or path for path in named]
    result = geolookup.score(folders, **parameters)
    scores = [_named(of, path) for of, path in zip(result.datasets, named, strict=True)]
    _print(replace(result, datasets=scores), score_lines, as_json=as_json)


@command("report")
@options.past_dataset_object
@option(
    "--against OLD", "Also show the changes since OLD, an older dataset or a store.", options.PATH
)
@option(
    "--rows FILE",
    "With --against: write a row for each changed range, as `geolookup diff` does, and link to it.",
    options.AS_PATH,
)
@table_options.fail_if
@option(
    "--truth FILE...",
    "Also show how far DATASET agrees with ground truth, as in `geolookup score`; repeatable.",
)
@table_options.truth_format
@options.page_output
def report(
    dataset: str | None, against: str | None, rows: Path | None, output: Path, **values: Any
) -> None:
    """Write a page that shows DATASET, or the current generation of a store.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    The page is one file that needs no network. Needs the extra `report`. If a gate of
    --fail-if fails, the page is still written and the exit status is 1.

    Example: geolookup report mydata --against mydata-old -o report.html
    """
    from geolookup.progress import stage
    from geolookup.reports.changes import difference
    from geolookup.reports.dataset import head, sections
    from geolookup.reports.page import STANDARD_OUTPUT, check_output, write_page

    fail_if, force = values.pop("fail_if"), values.pop("force")
    if against is None and (fail_if or rows):
        fail(f"{'--fail-if' if fail_if else '--rows'} needs --against")
    check_output(output, rows, force=force)
    with options.open_dataset(dataset) as engine:
        path = engine.path  # of the generation that a store has now
    changed = None if against is None else difference(against, path, fail_if)
    scored = geolookup.score(path, **values) if values["truth"] else None
    link = None
    if rows is not None:
        _write_rows((against, str(path)), rows, force=force)
        beside = os.curdir if output == STANDARD_OUTPUT else output.parent
        link = Path(os.path.relpath(rows, beside)).as_posix()
    with stage("drawing the page"):
        shown = list(sections(path, changed, scored, link))
        written = write_page(output, *head(path, changed), shown, force=force)
    print_sizes(written, err=output == STANDARD_OUTPUT)
    if changed is not None:
        _exit_by_gates(changed.judged)


def _print(result: Result, lines: Callable[[Result], Iterable[str]], *, as_json: bool) -> NoReturn:
    """Print a comparison, then exit by its gates."""
    click.echo(json_text(result) if as_json else text_of(lines(result)))
    _exit_by_gates(result)


def _exit_by_gates(result: GateResult) -> NoReturn:
    """Print the failed gates on standard error; exit with 1 if there are any, else with 0."""
    from geolookup.comparison.gates import verdict_line

    for verdict in result.failed:
        say(verdict_line(verdict))
    sys.exit(1 if result.failed else 0)
