"""Options that several commands share, with the same name, meaning and help."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geolookup import cli
from geolookup.cli import fail
from geolookup.contract.localtime import instant
from geolookup.store.paths import dataset_path
from geolookup.store.pointer import KEEP, KEEP_UNPACKED

if TYPE_CHECKING:
    from geolookup.contract.fields import Field
    from geolookup.contract.schema import Schema
    from geolookup.engine import Engine

F = TypeVar("F", bound=Callable[..., Any])


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


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    context.meta[f"geolookup.{option.name}"] = value


#: Sources above the dataset; ``open_dataset`` reads it.
overlay = click.option(
    "--overlay",
    metavar="FILE",
    type=PATH,
    expose_value=False,
    callback=_keep,
    help="Data or a recipe whose answers come before the dataset's; compiled once into the cache.",
)


def _check_instant(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is None:
        _keep(context, option, value)
        return
    from geolookup.store.in_force import EXAMPLE, read_instant

    try:
        _keep(context, option, str(read_instant(value)))
    except ValueError:  # its text has the value, and that may be an address
        fail(f"{max(option.opts, key=len)} is not an instant; {EXAMPLE}")


def instant_option(name: str, purpose: str) -> Callable[[F], F]:
    """Return an option that is an instant of a store; ``instant_of`` reads it."""
    return click.option(
        name, metavar="DATE", expose_value=False, callback=_check_instant, help=purpose
    )


#: An instant of the past; ``open_dataset`` and ``past_dataset`` read it.
as_of = instant_option(
    "--as-of",
    "Use the generation of the store that was in force then: a date, or a time with offset.",
)


def instant_of(name: str = "as_of") -> int | None:
    """Return the Unix second of ``--as-of``, or of another such option, of the running command."""
    value = click.get_current_context().meta.get(f"geolookup.{name}")
    return None if value is None else int(value)


def past_dataset(path: str | None, name: str = "as_of") -> str | None:
    """Return the dataset of the running command: its path, or as of an instant its folder.

    For calls that take the path of a dataset; ``name`` is of the option.
    """
    instant = instant_of(name)
    return path if instant is None else folder_as_of(path, instant)


def folder_as_of(path: str | None, instant: int) -> str:
    """Return the folder of the generation of a store that was in force at an instant."""
    from geolookup.history.archived import unpacked
    from geolookup.store.in_force import generation_at

    store = dataset_path(path)
    return str(unpacked(store, generation_at(store, instant)))


def overlay_path() -> str | None:
    """Return the value of ``--overlay`` of the running command."""
    path: str | None = click.get_current_context().meta.get("geolookup.overlay")
    return path


def open_dataset(path: str | os.PathLike[str] | None) -> Engine:
    """Open the dataset of the running command, with its overlay and as of its instant."""
    import geolookup

    return geolookup.open(path, overlay=overlay_path(), as_of=instant_of())


def note_age(engine: Engine) -> None:
    """Print one line on standard error if the data are older than 180 days, but not of the past."""
    if instant_of() is None:
        cli.note_age(engine)


#: The option ``--dataset`` of commands that do not combine it with an overlay.
plain_dataset = group(
    click.option(
        "-d",
        "--dataset",
        metavar="PATH",
        type=PATH,
        help="Dataset, store, archive or file of data to answer from; a file is compiled once into"
        f" the cache. [default: {_DEFAULT_DATASET}]",
    ),
    as_of,
)
dataset = group(plain_dataset, overlay)
#: The argument DATASET of commands about a dataset.
dataset_object = click.argument("dataset", type=PATH, required=False)
#: The argument DATASET of commands that read one, now or as of an instant.
past_dataset_object = group(dataset_object, as_of)


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
    """Return the option ``--output``; ``purpose`` describes the output."""
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
        help=f"Fields to {purpose}, as `geolookup fields` lists them, own.NAME, or groups."
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


def fields_of(paths: tuple[str, ...], schema: Schema) -> tuple[Field, ...]:
    """Return the fields of a dataset that ``--fields`` names; exits with 2 for an unknown name."""
    from geolookup.contract.paths import resolve_fields

    try:
        return resolve_fields(paths, schema.columns, "--fields")
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
    """Return the Unix second of ``--local-time-at``: a number, or ISO 8601 with offset."""
    if value is None:
        return None
    try:
        return instant(_moment(value))
    except ValueError as error:
        fail(f"--local-time-at: {error}")


def _moment(text: str) -> float | datetime:
    try:
        return float(text)
    except ValueError:
        pass
    example = "2026-11-20T09:30Z"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        remedy = f"write Unix seconds, or ISO 8601 with offset, such as {example}"
        fail(f"--local-time-at is not an instant; {remedy}")  # it may be an address
    if moment.tzinfo is None:
        fail(f"--local-time-at needs an offset after the time, such as {example}")
    return moment


at = click.option(
    "--local-time-at",
    "at",
    metavar="INSTANT",
    callback=_second,
    help="Instant of local times: Unix seconds, or ISO 8601 with offset. [default: now]",
)


def as_json(purpose: str = "Print JSON.") -> Callable[[F], F]:
    """Return the option ``--json``, described by ``purpose``."""
    return click.option("--json", "as_json", is_flag=True, help=purpose)


dry_run = click.option(
    "--dry-run", is_flag=True, help="Print what would be done, and change nothing."
)


def limit(name: str, purpose: str, least: int = 0, usual: int = 10) -> Callable[[F], F]:
    """Return an option that is a number, at least ``least``."""
    number = click.IntRange(min=least)
    return click.option(
        name, metavar="N", type=number, default=usual, show_default=True, help=purpose
    )


def keep(least: int = 1, default: str = str(KEEP)) -> Callable[[F], F]:
    """Return the options of the generations to keep; ``default`` is of ``--keep``."""
    return group(
        click.option(
            "--keep",
            metavar="N",
            type=click.IntRange(min=least),
            callback=_check_keep,
            help=f"Keep the N generations that were published last. [default: {default}]",
        ),
        click.option(
            "--keep-for",
            metavar="TIME",
            callback=_check_keep_for,
            help="Keep the generations in force within TIME, such as 26w or 1y; not with --keep.",
        ),
        click.option(
            "--keep-unpacked",
            metavar="N",
            type=click.IntRange(min=1),
            help=f"Of these, the last N stay folders. [default: {KEEP_UNPACKED}]",
        ),
    )


def _check_keep(context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse the second of two options, in any order."""
    if value is not None and any(map(context.params.get, {"keep", "keep_for"} - {option.name})):
        fail("--keep and --keep-for exclude each other; give one of them")
    return value


def _check_keep_for(context: click.Context, option: click.Parameter, value: str | None) -> Any:
    from geolookup.dataset.metadata import age_limit

    if value is not None:
        try:
            age_limit(value, "--keep-for")
        except ValueError as error:
            fail(str(error))
    return _check_keep(context, option, value)


def force(replaced: str) -> Callable[[F], F]:
    """Return the option ``--force``: it replaces an output."""
    return click.option("--force", is_flag=True, help=f"Replace {replaced}.")


cache = click.option(
    "--cache",
    metavar="DIR",
    type=AS_PATH,
    help="Folder of downloaded files. [default: $GEOLOOKUP_CACHE, else the user's cache folder]",
)


#: The output of a command that writes an HTML page.
page_output = group(
    output("HTML file to write, or -."),
    force("existing outputs"),
)
