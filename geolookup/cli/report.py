"""``geolookup report``: shows a dataset as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_by_gates, exit_on_signals, fail, options


@click.command(name="report", short_help="Show a dataset as one HTML page.")
@click.argument("dataset", type=options.PATH, required=False)
@click.option(
    "--against",
    metavar="OLD",
    type=options.PATH,
    help="Also show what has changed since OLD, an older dataset or a store.",
)
@click.option(
    "--fail-if",
    metavar="GATE",
    multiple=True,
    help="With --against: exit with 1 if this is true, such as 'country_moved > 2%'; repeatable.",
)
@options.truth("Also show how far DATASET agrees with ground truth", required=False)
@options.page_output
def report(
    dataset: str | None,
    against: str | None,
    fail_if: tuple[str, ...],
    truth: tuple[str, ...],
    truth_format: str,
    output: Path,
    png: Path | None,
    force: bool,
) -> None:
    """Write a page that shows DATASET, or the current generation of a store.

    The page is one file: it opens from disk and needs no network. Needs the extra
    `report`. GATE is a gate of `geolookup diff`: where one fails, the page is still
    written and the exit status is 1. Without DATASET the page shows
    $GEOLOOKUP_DATASET, else the user's store, else the bundled dataset.

    Example: geolookup report mydata --against mydata-old --output report.html
    """
    from geolookup.errors import name_text
    from geolookup.reports.dataset import sections, title
    from geolookup.reports.difference import difference
    from geolookup.reports.page import check_outputs, write_page

    exit_on_signals()
    if fail_if and against is None:
        fail("--fail-if needs --against")
    check_outputs(output, png, force=force)
    with geolookup.open(dataset) as engine:
        shown = engine.path  # of the generation that a store has now
    changed = None if against is None else difference(against, shown, fail_if)
    scored = geolookup.score(shown, truth, truth_format=truth_format) if truth else None
    lead = "What the dataset knows, from which sources, and for which places."
    found = list(sections(shown, changed, scored))
    for path in write_page(output, png, title(shown), lead, found):
        click.echo(f"{name_text(str(path))}: {path.stat().st_size:,} bytes")
    if changed is not None:
        exit_by_gates(changed.judged)
