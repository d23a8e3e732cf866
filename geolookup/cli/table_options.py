"""Options of commands that read tables of addresses, of ground truth and of requests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import click

from geolookup.cli.options import F, Parsed, group, limit


class FileFormat(click.Choice):  # type: ignore[type-arg]  # not generic before Click 8.2
    """A format of files; the registry (it imports Arrow) is read when a name is checked."""

    def __init__(self, *, is_written: bool = False) -> None:
        self.case_sensitive, self._is_written = True, is_written

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the formats; with ``is_written`` without those that are only read."""
        from geolookup.files.table_files import FORMATS

        return tuple(name for name in FORMATS if FORMATS[name].write or not self._is_written)


def truth(purpose: str, *, required: bool) -> Callable[[F], F]:
    """Return the options ``--truth`` (repeatable) and ``--truth-format``."""
    text = f"{purpose}: a geofeed, another source, or a table of addresses; repeatable, "
    return group(
        click.option(
            "--truth",
            metavar="FILE",
            multiple=True,
            required=required,
            help=text + "the first decides.",
        ),
        click.option(
            "--truth-format",
            metavar="NAME",
            default="auto",
            show_default=True,
            help="A source format of recipes, or 'addresses' for a table of addresses.",
        ),
    )


def traffic(purpose: str) -> Callable[[F], F]:
    """Return the options ``--traffic`` and ``--traffic-count``."""
    text = f"{purpose} in a table file, a folder of them, or -."
    return group(
        click.option("--traffic", metavar="FILE", help=text),
        click.option(
            "--traffic-count",
            metavar="NAME",
            help="Column of requests in FILE. [default: each row is one request]",
        ),
    )


def fail_if(example: str, condition: str = "") -> Callable[[F], F]:
    """Return the option ``--fail-if`` of gates; it is repeatable."""
    start = f"{condition}: exit" if condition else "Exit"
    text = f"{start} with 1 if this is true, such as {example!r}; repeatable."
    return click.option("--fail-if", metavar="GATE", multiple=True, help=text)


def _zone(text: str) -> str:
    from geolookup.contract.tzdatabase import zone_file

    if zone_file(text) is None:
        raise ValueError(f"{text!r} is not a time zone; write one like Europe/Berlin, or UTC")
    return text


def _delimiter(text: str) -> str:
    if len(text) != 1 or not text.isascii():
        raise ValueError("must be one ASCII character")
    return text


clean = click.option(
    "--clean",
    is_flag=True,
    help="Also read addresses with ports, brackets or quotes, and X-Forwarded-For lists.",
)
top = limit("--top", "Number of countries, of cities and of networks to list.", least=1)
time_zone = click.option(
    "--time-zone",
    metavar="ZONE",
    type=Parsed(_zone),
    help="IANA time zone, or UTC, of times without offset in columns of instants.",
)
#: A table file with addresses: column, format and form of CSV.
table_input = group(
    click.option(
        "--ip-column",
        metavar="NAME",
        default="ip",
        show_default=True,
        help="Column of addresses, or the path of a member of objects: request.ip.",
    ),
    click.option("--input-format", type=FileFormat(), help="Format to read. [default: by suffix]"),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        type=Parsed(_delimiter),
        help="Delimiter of CSV. [default: comma; for TSV, tab]",
    ),
    click.option(
        "--no-header",
        "header",
        is_flag=True,
        flag_value=False,
        default=True,
        help="CSV has no header: its columns are column1, column2 and so on.",
    ),
)
