"""Options that several commands share, with the same name, meaning and help."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geolookup.cli import fail
from geolookup.contract.localtime import instant
from geolookup.store.requirements import AGE_NOTICE

if TYPE_CHECKING:
    from geolookup.contract.fields import Field

F = TypeVar("F", bound=Callable[..., Any])


class FileFormat(click.Choice):  # type: ignore[type-arg]  # not generic before Click 8.2
    """A format of files; the registry, which imports Arrow, is read when a name is checked."""

    def __init__(self, *, is_written: bool = False) -> None:
        self.case_sensitive, self._is_written = True, is_written

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the formats; with ``is_written`` without those that are only read."""
        from geolookup.files.table_files import FORMATS

        return tuple(name for name in FORMATS if FORMATS[name].writer or not self._is_written)


def group(*several: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options; the help lists them in this order."""

    def decorate(command: F) -> F:
        for option in reversed(several):
            command = option(command)
        return command

    return decorate


#: Any path, as text or as a Path. A shell completes it; the function that opens it checks it.
PATH = click.Path(readable=False)
AS_PATH = click.Path(path_type=Path)
#: What ``geolookup.open`` opens without a path.
_DEFAULT_DATASET = "$GEOLOOKUP_DATASET, else the user's store, else bundled"


dataset = click.option(
    "-d",
    "--dataset",
    metavar="PATH",
    type=PATH,
    help=f"Dataset or store to answer from. [default: {_DEFAULT_DATASET}]",
)
#: The argument DATASET of commands about a dataset.
dataset_object = click.argument("dataset", type=PATH, required=False)


#: The argument STORE of commands about a store.
store_object = click.argument("store", type=AS_PATH, required=False)
#: The store that a command publishes into.
store = click.option(
    "--store",
    metavar="DIR",
    type=AS_PATH,
    help="Store to publish into; created if missing. [default: $GEOLOOKUP_STORE, else in the"
    " user's data folder]",
)


def output(
    purpose: str, metavar: str = "FILE", *, required: bool = True, path_type: click.Path = AS_PATH
) -> Callable[[F], F]:
    """Return the option ``--output``: what is written, described by ``purpose``."""
    return click.option(
        "-o", "--output", metavar=metavar, required=required, type=path_type, help=purpose
    )


def fields(purpose: str, default: str) -> Callable[[F], F]:
    """Return the option ``--fields``: names of fields, separated by commas; it is repeatable."""
    return click.option(
        "-f",
        "--fields",
        "paths",
        metavar="FIELD,...",
        multiple=True,
        callback=split_values,
        shell_complete=complete_paths,
        help=f"Fields to {purpose}, as `geolookup fields` lists them, or groups."
        f" [default: {default}]",
    )


def split_values(_context: object, _option: object, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a repeatable option that are separated by commas."""
    return tuple(path.strip() for text in values for path in text.split(",") if path.strip())


def complete_paths(_context: object, _option: object, incomplete: str) -> list[str]:
    """Return the completions of ``--fields``; its last name is incomplete."""
    from geolookup.contract.fields import NAMES

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + path for path in NAMES if path.startswith(last)]


def fields_of(paths: tuple[str, ...]) -> tuple[Field, ...]:
    """Return the fields that ``--fields`` names; exits with status 2 for an unknown name."""
    from geolookup.contract.fields import COLUMNS
    from geolookup.contract.paths import resolve_fields

    try:
        return resolve_fields(paths, COLUMNS, "--fields")
    except ValueError as error:
        fail(str(error))


where = click.option(
    "--where",
    metavar="CONDITION",
    multiple=True,
    help="Condition on the answer, such as country=AT,DE; repeatable: all must be met.",
)
not_ = click.option(
    "--not",
    "not_",
    metavar="CONDITION",
    multiple=True,
    help="Condition that must not be met; repeatable: none may be met.",
)


def _second(_context: object, _option: object, value: str | None) -> int | None:
    """Return the Unix second of ``--at``: a number, or ISO 8601 with offset."""
    if value is None:
        return None
    try:
        return instant(_moment(value))
    except ValueError as error:
        fail(f"--at: {error}")


def _moment(text: str) -> float | datetime:
    try:
        return float(text)
    except ValueError:
        pass
    example = "2026-11-20T09:30Z"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--at is {text!r}; write Unix seconds, or ISO 8601 with offset, such as {example}")
    if moment.tzinfo is None:
        fail(f"--at needs an offset after the time, such as {example}")
    return moment


at = click.option(
    "--at",
    metavar="INSTANT",
    callback=_second,
    help="Instant of local times: Unix seconds, or ISO 8601 with offset. [default: now]",
)


def _hide_age_notice(_context: object, _option: object, value: bool) -> None:
    if value:
        # The workers of a server inherit the environment.
        os.environ[AGE_NOTICE] = "0"


def as_json(purpose: str = "Print JSON.") -> Callable[[F], F]:
    """Return the option ``--json``, described by ``purpose``."""
    return click.option("--json", "as_json", is_flag=True, help=purpose)


age_notice = click.option(
    "--no-age-notice",
    is_flag=True,
    expose_value=False,
    callback=_hide_age_notice,
    help=f"Print no notice about data older than 180 days; also ${AGE_NOTICE}=0.",
)


def truth(purpose: str, *, required: bool) -> Callable[[F], F]:
    """Return the options ``--truth`` (repeatable) and ``--truth-format``."""
    text = f"{purpose}: a geofeed, another source, or a table of addresses; repeatable, "
    option = click.option(
        "--truth",
        metavar="FILE",
        multiple=True,
        required=required,
        help=text + "the first decides.",
    )
    return group(option, _TRUTH_FORMAT)


_TRUTH_FORMAT = click.option(
    "--truth-format",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="A source format of recipes, or 'addresses' for a table of addresses.",
)

_TRAFFIC_COUNT = click.option(
    "--traffic-count",
    metavar="NAME",
    help="Column of requests in FILE. [default: each row is one request]",
)


def traffic(purpose: str) -> Callable[[F], F]:
    """Return the options ``--traffic`` and ``--traffic-count``."""
    text = f"{purpose} in a table file, a folder of them, or -."
    option = click.option("--traffic", metavar="FILE", help=text)
    return group(option, _TRAFFIC_COUNT)


def fail_if(example: str, condition: str = "") -> Callable[[F], F]:
    """Return the option ``--fail-if`` of gates; it is repeatable."""
    start = f"{condition}: exit" if condition else "Exit"
    text = f"{start} with 1 if this is true, such as {example!r}; repeatable."
    return click.option("--fail-if", metavar="GATE", multiple=True, help=text)


def limit(name: str, purpose: str, least: int = 0, usual: int = 10) -> Callable[[F], F]:
    """Return an option that is a number, at least ``least``."""
    number = click.IntRange(min=least)
    return click.option(
        name, metavar="N", type=number, default=usual, show_default=True, help=purpose
    )


def keep(least: int, usual: int | None, default: str = "") -> Callable[[F], F]:
    """Return the option ``--keep`` of a store: a number of generations.

    ``default`` describes the default if ``usual`` is None.
    """
    return click.option(
        "--keep",
        metavar="N",
        type=click.IntRange(min=least),
        default=usual,
        show_default=default or True,
        help="Keep the N generations that were published last.",
    )


def force(replaced: str) -> Callable[[F], F]:
    """Return the option ``--force``, which replaces an output."""
    return click.option("--force", is_flag=True, help=f"Replace {replaced}.")


def base(purpose: str) -> Callable[[F], F]:
    """Return the option ``--base``: the base of a delta."""
    return click.option("--base", metavar="OLD", type=AS_PATH, help=purpose)


def accounts(forms: str) -> Callable[[F], F]:
    """Return the option ``--accounts``: an account store, with the forms of its URL."""
    return click.option("--accounts", metavar="URL", required=True, help=f"Account store: {forms}")


#: The form of the URL of an accounts file, and the forms of all stores.
ACCOUNTS_FILE = "sqlite:///PATH."
ACCOUNTS_URL = (
    "sqlite:///PATH or redis://HOST:PORT/NUMBER. The password of Redis can be in"
    " $GEOLOOKUP_REDIS_PASSWORD, or in the file $GEOLOOKUP_REDIS_PASSWORD_FILE."
)
plans = click.option(
    "--plans",
    metavar="FILE",
    type=AS_PATH,
    help="TOML file of more plans, in tables [plan.NAME]. [default: none]",
)

cache = click.option(
    "--cache",
    metavar="DIR",
    type=AS_PATH,
    help="Folder of downloaded files. [default: $GEOLOOKUP_CACHE, else the user's cache folder]",
)


def signing_keys(*, required: bool = False) -> Callable[[F], F]:
    """Return the option ``--signing-key``, which is repeatable."""
    return click.option(
        "--signing-key",
        "signing_keys",
        metavar="KEY",
        multiple=True,
        required=required,
        type=PATH,
        help="Private key to sign with (`geolookup signing-keys create`); repeatable: each signs.",
    )


trusted_keys = click.option(
    "--trusted-key",
    "trusted_keys",
    metavar="KEY",
    multiple=True,
    type=PATH,
    callback=lambda _context, _option, keys: keys or None,  # None: no signature is asked for
    help="Public key that must have signed the dataset; repeatable: one of them suffices.",
)

clean = click.option(
    "--clean",
    is_flag=True,
    help="Also read addresses with brackets, ports and zone ids, and X-Forwarded-For lists.",
)

top = limit("--top", "Number of countries, of cities and of networks to list.", least=1)


def _check_zone(context: click.Context, _option: object, value: str | None) -> str | None:
    from geolookup.contract.localtime import period

    if value is not None and period(value, 0) is None:
        fail(f"--time-zone {value!r} is not a time zone; write one like Europe/Berlin, or UTC")
    if value is not None and context.params.get("time_column") is None:
        fail("--time-zone is for a column of times; name it by --time-column")
    return value


def times(default: str) -> Callable[[F], F]:
    """Return the options ``--time-column`` and ``--time-zone``."""
    column = click.option(
        "--time-column",
        metavar="NAME",
        is_eager=True,  # ``--time-zone`` needs it
        help=f"Column with the instant of each row. [default: {default}]",
    )
    return group(column, _TIME_ZONE)


_TIME_ZONE = click.option(
    "--time-zone",
    metavar="ZONE",
    callback=_check_zone,
    help="IANA time zone, or UTC, of times without offset in that column.",
)


def _check_delimiter(_context: object, _option: object, value: str | None) -> str | None:
    if value is not None and (len(value) != 1 or not value.isascii()):
        fail("--delimiter must be one ASCII character")
    return value


#: A table file with addresses: column, format and form of CSV.
table_input = group(
    click.option(
        "--ip-column", metavar="NAME", default="ip", show_default=True, help="Column of addresses."
    ),
    click.option("--input-format", type=FileFormat(), help="Format to read. [default: by suffix]"),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        callback=_check_delimiter,
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


#: The outputs of a command that writes an HTML page.
page_output = group(
    output("HTML file to write, or -."),
    click.option(
        "--png",
        metavar="DIR",
        type=AS_PATH,
        help="Also write each picture to this folder as PNG, at twice its size.",
    ),
    force("existing outputs"),
)
