"""``geolookup lookup``: prints one answer per address; ``answers`` has the work."""

from __future__ import annotations

import click

from geolookup.cli import options, require_output, table_options
from geolookup.cli.answer_formats import FORMATS, Question
from geolookup.cli.answers import end, print_answers
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.contract.paths import resolve_fields
from geolookup.kernel.lookups import state_of


@command("lookup")
@click.argument("addresses", metavar="[IP]...", nargs=-1)
@options.fields("print", "all")
@option(
    "--format",
    "Format of the answers. [default: table on a terminal, else json]",
    click.Choice(list(FORMATS)),
    name="form",
)
@option(
    "--compact/--indent",
    "JSON with one line per answer, or indented. [default: indented on a terminal]",
    default=None,
)
@option(
    "--local-time-at INSTANT",
    f"{options.LOCAL_TIME}. [default: now]",
    options.Parsed(options.instant_in),
    name="at",
)
@table_options.clean
@options.dataset
def lookup(
    addresses: tuple[str, ...],
    paths: tuple[str, ...],
    form: str | None,
    compact: bool | None,
    at: int | None,
    clean: bool,
    dataset: str | None,
) -> None:
    """Print the answer for each IP; `geolookup IP` does the same.

    A terminal gets a table of place, local time, network and prefix, or of the
    --fields. A pipe gets JSON, one envelope per line. csv has a column for each
    field; without --fields also error_code. To see the address, name ip in --fields.
    Without IP, or for -, it reads addresses from standard input, one per line, and
    prints each answer when its line has arrived. Errors of lines are also on standard
    error, with the number of the line. Exits with 0 if every answer is a success, 1 if an
    answer is an error envelope, and 2 for misuse or an unusable dataset.

    Example: geolookup lookup 8.8.8.8 2001:4860:4860::8888
    """
    require_output("answers are written there")
    with options.open_dataset(dataset) as engine:
        fields = resolve_fields(paths, state_of(engine).dataset.schema.columns, "--fields") or None
        failures = print_answers(addresses, Question(engine, fields, clean, compact), form, at)
    end(addresses, failures, clean=clean)
