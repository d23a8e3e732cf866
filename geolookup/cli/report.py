"""``geolookup report``: shows a dataset as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from geolookup.cli import exit_on_signals, options


@click.command(name="report", short_help="Show a dataset as one HTML page.")
@click.argument("dataset", type=options.PATH)
@options.page_output
def report(
    dataset: str,
    output: Path,
    png: Path | None,
    force: bool,
) -> None:
    """Write a page that shows DATASET, or the current generation of a store.

    The page is one file: it opens from disk and needs no network. Needs the extra
    `report`.

    Example: geolookup report mydata --output report.html
    """
    from geolookup.errors import name_text
    from geolookup.reports.dataset_report import sections
    from geolookup.reports.write import check_outputs, write_page

    exit_on_signals()
    check_outputs(output, png, force=force)
    lead = "What the dataset knows, from whom, and where."
    found = list(sections(dataset))
    for path in write_page(output, png, f"Report of {name_text(dataset)}", lead, found):
        click.echo(f"{name_text(str(path))}: {path.stat().st_size:,} bytes")
