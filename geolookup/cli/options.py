"""Options that several commands share, with the same name, meaning and help."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geolookup import cli
from geolookup.cli import fail
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


@contextmanager
def usage_errors() -> Iterator[None]:
    """Exit with status 2 and the text of a ValueError: the library refuses a value of an option."""
    try:
        yield
    except ValueError as error:
        fail(str(error))


class Parsed(click.ParamType):  # type: ignore[type-arg]  # not generic before Click 8.2
    """A value that a function reads; it raises ValueError for a malformed one."""

    name = "text"

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; raises BadParameter."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class IPFamily(click.Choice):  # type: ignore[type-arg]  # not generic before Click 8.2
    """4 or 6, as a number."""

    def __init__(self) -> None:
        super().__init__(["4", "6"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; raises BadParameter."""
        return int(super().convert(str(value), param, ctx))


#: Any path, as text or as a Path. A shell completes it; the function that opens it checks it.
PATH = click.Path(readable=False)
AS_PATH = click.Path(path_type=Path)


def instant_in(text: str) -> int:
    """Return the Unix second of a text: a number, or ISO 8601. Raises ValueError for another."""
    from geolookup.contract.localtime import instant
    from geolookup.store.in_force import EXAMPLE, read_instant

    try:
        return instant(float(text)) if text.isdecimal() else read_instant(text)
    except ValueError:  # its text has the value, and that may be an address
        raise ValueError(f"not an instant; {EXAMPLE}") from None


def instant_or_column(text: str) -> int | str:
    """Return the Unix second of a text, or the text if it does not begin with a digit."""
    return instant_in(text) if text[:1].isdecimal() else text


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    context.meta[f"geolookup.{option.name}"] = value


def kept(name: str) -> Any:
    """Return the value of ``--overlay``, ``--as-of`` or ``--new-as-of`` of the running command."""
    return click.get_current_context().meta.get(f"geolookup.{name}")


def instant_option(
    name: str, purpose: str, read: Callable[[str], Any] = instant_in, metavar: str = "DATE"
) -> Callable[[F], F]:
    """Return an option that is an instant of a store; ``kept`` has it."""
    return click.option(
        name, metavar=metavar, type=Parsed(read), expose_value=False, callback=_keep, help=purpose
    )


_IN_FORCE = "Use the generation of the store that was in force then: a date, or a time with offset"
#: An instant of the past; ``open_dataset`` and ``past_dataset`` read it.
as_of = instant_option("--as-of", f"{_IN_FORCE}.")
_IS_COLUMN = "or the column with the instant of each row"
#: The same, or for a file the name of a column.
_as_of_rows = instant_option(
    "--as-of", f"{_IN_FORCE}; {_IS_COLUMN}.", instant_or_column, "DATE|COLUMN"
)
_local_time = partial(click.option, "--local-time-at", "at")
_AT = "Instant of local times: ISO 8601 with offset, or Unix seconds"
#: The instant of local times.
at = _local_time(metavar="INSTANT", type=Parsed(instant_in), help=f"{_AT}. [default: now]")
at_of_rows = _local_time(
    metavar="INSTANT|COLUMN",
    type=Parsed(instant_or_column),
    help=f"{_AT}; {_IS_COLUMN}. [default: now]",
)


def instant_of(name: str = "as_of") -> int | None:
    """Return the Unix second of ``--as-of``, or of another such option, of the running command."""
    instant = kept(name)
    return instant if isinstance(instant, int) else None


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


def open_dataset(path: str | os.PathLike[str] | None) -> Engine:
    """Open the dataset of the running command, with its overlay and as of its instant."""
    import geolookup

    return geolookup.open(path, overlay=kept("overlay"), as_of=instant_of())


def note_age(engine: Engine) -> None:
    """Print one line on standard error if the data are older than 180 days, but not of the past."""
    if instant_of() is None:
        cli.note_age(engine)


_dataset = click.option(
    "-d",
    "--dataset",
    metavar="PATH",
    type=PATH,
    help="Dataset, store, archive or file of data to answer from; a file is compiled once into"
    " the cache. [default: $GEOLOOKUP_DATASET, else the user's store, else bundled]",
)
#: Sources above the dataset; ``open_dataset`` reads it.
overlay = click.option(
    "--overlay",
    metavar="FILE",
    type=PATH,
    expose_value=False,
    callback=_keep,
    help="Data or a recipe whose answers come before the dataset's; compiled once into the cache.",
)
#: The option ``--dataset`` of commands that do not combine it with an overlay.
plain_dataset = group(_dataset, as_of)
dataset = group(plain_dataset, overlay)
#: The same of a file: ``--as-of`` can be a column.
dataset_of_rows = group(_dataset, _as_of_rows, overlay)
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


def split_values(_context: object, _option: object, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a repeatable option that are separated by commas."""
    return tuple(path.strip() for text in values for path in text.split(",") if path.strip())


def complete_paths(_context: object, _option: object, incomplete: str) -> list[str]:
    """Return the completions of ``--fields``; its last name is incomplete."""
    from geolookup.contract.fields import NAMES

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + path for path in NAMES if path.startswith(last)]


#: An option of names of fields, separated by commas; it is repeatable.
_names = partial(
    click.option,
    metavar="FIELD,...",
    multiple=True,
    callback=split_values,
    shell_complete=complete_paths,
)


def fields(purpose: str, default: str) -> Callable[[F], F]:
    """Return the option ``--fields``; ``fields_of`` reads its ``paths``."""
    text = f"Fields to {purpose}, as `geolookup fields` lists them, own.NAME, or groups."
    return _names("-f", "--fields", "paths", help=f"{text} [default: {default}]")


def by(purpose: str) -> Callable[[F], F]:
    """Return the option ``--by``."""
    return _names("--by", "by", help=purpose)


def fields_of(paths: tuple[str, ...], schema: Schema) -> tuple[Field, ...]:
    """Return the fields of a dataset that ``--fields`` names; exits with 2 for an unknown name."""
    from geolookup.contract.paths import resolve_fields

    with usage_errors():
        return resolve_fields(paths, schema.columns, "--fields")


family = click.option(
    "--family", type=IPFamily(), help="Only IPv4 or IPv6. [default: both, IPv4 first]"
)
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


def output(
    purpose: str, metavar: str = "FILE", *, required: bool = True, path_type: click.Path = AS_PATH
) -> Callable[[F], F]:
    """Return the option ``--output``; ``purpose`` describes the output."""
    return click.option(
        "-o", "--output", metavar=metavar, required=required, type=path_type, help=purpose
    )


def force(replaced: str) -> Callable[[F], F]:
    """Return the option ``--force``: it replaces an output."""
    return click.option("--force", is_flag=True, help=f"Replace {replaced}.")


#: The output of a command that writes an HTML page.
page_output = group(output("HTML file to write, or -."), force("existing outputs"))


def as_json(purpose: str = "Print JSON.") -> Callable[[F], F]:
    """Return the option ``--json``, described by ``purpose``."""
    return click.option("--json", "as_json", is_flag=True, help=purpose)


dry_run = click.option(
    "--dry-run", is_flag=True, help="Print what would be done, and change nothing."
)
cache = click.option(
    "--cache",
    metavar="DIR",
    type=AS_PATH,
    help="Folder of downloaded files. [default: $GEOLOOKUP_CACHE, else the user's cache folder]",
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
            is_eager=True,  # before --keep-for
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


def _check_keep_for(context: click.Context, _option: object, value: str | None) -> str | None:
    from geolookup.dataset.metadata import age_limit

    if value is not None:
        if context.params.get("keep") is not None:
            fail("--keep and --keep-for exclude each other; give one of them")
        with usage_errors():
            age_limit(value, "--keep-for")
    return value
