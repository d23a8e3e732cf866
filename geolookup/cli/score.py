"""``geolookup score``: scores datasets against ground truth."""

from __future__ import annotations

from typing import Any

import click

import geolookup
from geolookup.cli import exit_on_signals, options, print_judged


@click.command(name="score", short_help="Score datasets against ground truth.")
@click.argument("datasets", type=options.PATH, metavar="DATASET...", nargs=-1, required=True)
@options.truth("Ground truth", required=True)
@click.option(
    "--fail-if",
    metavar="GATE",
    multiple=True,
    help="Exit with 1 if this is true, such as 'country_agree < 95%'; repeatable.",
)
@click.option(
    "--traffic",
    metavar="FILE",
    help="Also weight addresses by their requests in a table file, a folder of them, or -.",
)
@options.traffic_count
@options.table_input
@click.option(
    "--worst",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of networks to list per level, by wrong addresses.",
)
@options.as_json()
def score(
    datasets: tuple[str, ...],
    truth: tuple[str, ...],
    as_json: bool,
    **wanted: Any,
) -> None:
    """Report how far each DATASET agrees with ground truth on country, region and city.

    The counts are in addresses, in rows of the truth and, with --traffic, in
    requests. --ip-column, --input-format, --delimiter and --no-header describe
    the FILE of --traffic. Several datasets have a column each, with the agreement
    of each pair and a majority vote. Exits with 0 if no gate fails, 1 if one
    does, 2 for misuse, a malformed gate, or an unusable dataset or FILE.

    Example: geolookup score mydata --truth feed.csv --fail-if "city_wrong > 5%"
    """
    from geolookup.comparison.scoring.text import lines

    exit_on_signals()
    found = geolookup.score(datasets, truth, **wanted)
    print_judged(found, lines(found), as_json=as_json)
