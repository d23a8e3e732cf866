"""Options that several commands share, with the same name, meaning and help.

Strategy: ``option`` declares an option by its spelling, as a manual writes it. Commands that pass
values to a call of the library leave checking to that call; ``Command`` prints its ValueError.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geolookup.cli import note_age, say
from geolookup.store.paths import dataset_path
from geolookup.store.pointer import KEEP, KEEP_UNPACKED

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.engine import Engine
    from geolookup.prefixes.conditions import Condition

F = TypeVar("F", bound=Callable[..., Any])
#: Any path, as text or as a Path. A shell completes it; the function that opens it checks it.
PATH = click.Path(readable=False)
AS_PATH = click.Path(path_type=Path)


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


class Once(click.Option):
    """An option of one value that could be meant to add up: a second one is misuse.

    Click takes the last value. A file before it would be lost in silence.
    """

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Make the parser collect all values."""
        self.multiple = True
        super().add_to_parser(parser, ctx)
        self.multiple = False

    def consume_value(self, ctx: click.Context, opts: Any) -> Any:
        """Return the value; raises BadParameter for several."""
        values = opts.get(self.name)
        if isinstance(values, list):
            if len(values) > 1:
                raise click.BadParameter("takes one value only", ctx, self)
            opts = {**opts, self.name: values[0]}
        return super().consume_value(ctx, opts)


def option(
    spelling: str, purpose: str, kind: Any = None, *, name: str = "", **settings: Any
) -> Callable[[F], F]:
    """Return the decorator of an option such as ``-o, --output FILE``; without a value, of a flag.

    ``--sign KEY...`` and ``--fields FIELD,...`` are repeatable. ``kind`` is the type of the value,
    ``name`` the parameter. A default of a value is shown. With ``cls=Once`` a second one is misuse.
    """
    *short, long = spelling.split(", ")
    long, _, metavar = long.partition(" ")
    is_flag = not metavar and kind is None
    return click.option(
        *short,
        long,
        *filter(None, [name]),
        metavar=(metavar if metavar.endswith(",...") else metavar.removesuffix("...")) or None,
        multiple=metavar.endswith("..."),
        type=kind,
        is_flag=is_flag or None,
        show_default=not is_flag and bool(settings.get("default")),
        help=purpose,
        **settings,
    )


def group(*several: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options; the help lists them in this order."""
    return lambda command: reduce(lambda added, add: add(added), reversed(several), command)


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


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    context.meta[f"geolookup.{parameter.name}"] = value


def kept(name: str) -> Any:
    """Return the value of ``--overlay``, ``--as-of`` or ``--new-as-of`` of the running command."""
    return click.get_current_context().meta.get(f"geolookup.{name}")


def instant_option(
    spelling: str, purpose: str, read: Callable[[str], Any] = instant_in
) -> Callable[[F], F]:
    """Return an option that is an instant of a store; ``kept`` has it."""
    return option(spelling, purpose, Parsed(read), expose_value=False, callback=_keep)


_IN_FORCE = "Use the generation of the store that was in force then: a date, or a time with offset"
#: An instant of the past; ``open_dataset`` and ``past_dataset`` read it.
as_of = instant_option("--as-of DATE", f"{_IN_FORCE}.")
#: The same, or for a file the name of a column.
_as_of_rows = instant_option(
    "--as-of DATE|COLUMN",
    f"{_IN_FORCE}; or the column with the instant of each row.",
    instant_or_column,
)


def instant_of(name: str = "as_of") -> int | None:
    """Return the Unix second of ``--as-of``, or of another such option, of the running command."""
    instant = kept(name)
    return instant if isinstance(instant, int) else None


def past_dataset(path: str | None, name: str = "as_of") -> str | None:
    """Return the dataset of the running command: its path, or as of an instant its folder.

    For calls that take the path of a dataset; ``name`` is of the option.
    """
    from geolookup.history.archived import unpacked
    from geolookup.store.in_force import generation_at

    instant = instant_of(name)
    if instant is None:
        return path
    store = dataset_path(path)
    return str(unpacked(store, generation_at(store, instant)))


def open_dataset(path: str | os.PathLike[str] | None) -> Engine:
    """Open the dataset of the running command, with its overlay and as of its instant.

    Print one line on standard error if the data are older than 180 days, but not of the past.
    """
    import geolookup

    engine = geolookup.open(path, overlay=kept("overlay"), as_of=instant_of())
    if instant_of() is None:
        note_age(engine)
    return engine


_dataset = option(
    "-d, --dataset PATH",
    "Dataset, store, archive or file of data to answer from; a file is compiled once into"
    " the cache. [default: $GEOLOOKUP_DATASET, else the user's store, else bundled]",
    PATH,
)
#: Sources above the dataset; ``open_dataset`` reads it.
overlay = option(
    "--overlay FILE",
    "Data or a recipe whose answers come before the dataset's; compiled once into the cache.",
    PATH,
    expose_value=False,
    callback=_keep,
    cls=Once,
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
store = option(
    "--store DIR",
    "Store to publish into; created if missing. [default: $GEOLOOKUP_STORE, else in the"
    " user's data folder]",
    AS_PATH,
)


def split_values(_context: object, _option: object, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a repeatable option that are separated by commas."""
    return tuple(path.strip() for text in values for path in text.split(",") if path.strip())


def complete_paths(_context: object, _option: object, incomplete: str) -> list[str]:
    """Return the completions of ``--fields``; its last name is incomplete."""
    from geolookup.contract.fields import NAMES

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + path for path in NAMES if path.startswith(last)]


def names_of_fields(spelling: str, purpose: str, name: str = "") -> Callable[[F], F]:
    """Return a repeatable option of names of fields, separated by commas."""
    return option(
        f"{spelling} FIELD,...",
        purpose,
        name=name,
        callback=split_values,
        shell_complete=complete_paths,
    )


def fields(purpose: str, default: str) -> Callable[[F], F]:
    """Return the option ``--fields``, the parameter ``paths``."""
    text = f"Fields to {purpose}, as `geolookup fields` lists them, own.NAME, or groups."
    return names_of_fields("-f, --fields", f"{text} [default: {default}]", "paths")


family = option(
    "--family",
    "Only IPv4 or IPv6. [default: both, IPv4 first]",
    click.Choice(["4", "6"]),
    cls=Once,
    callback=lambda _context, _option, value: value and int(value),
)
where = option(
    "--where CONDITION...",
    "Condition on the answer, such as country=AT,DE; repeatable: all must be met.",
)
not_ = option(
    "--not CONDITION...",
    "Condition that must not be met; repeatable: none may be met.",
    name="not_",
)


def note_absent_values(dataset: Dataset, conditions: tuple[Condition, ...]) -> None:
    """Print a line for each value that no answer of the dataset has.

    Raises ValueError for a value that no answer can have.
    """
    from geolookup.prefixes.condition_values import absent_values, check_values
    from geolookup.tables.row_tables import row_tables

    tables = row_tables(dataset)
    check_values(tables, conditions)
    for line in absent_values(tables, conditions):
        say(f"geolookup: {line}")


#: The output of a command that writes an HTML page.
page_output = group(
    option("-o, --output FILE", "HTML file to write, or -.", AS_PATH, required=True),
    option("--force", "Replace existing outputs."),
)
#: The output of a command that writes a dataset.
dataset_output = group(
    option("-o, --output DIR", "Folder to create.", AS_PATH, required=True),
    option("--force", "Replace an existing dataset."),
)


as_json = option("--json", "Print JSON.", name="as_json")
dry_run = option("--dry-run", "Print what would be done, and change nothing.")
cache = option(
    "--cache DIR",
    "Folder of downloaded files. [default: $GEOLOOKUP_CACHE, else the user's cache folder]",
    AS_PATH,
)
max_memory = option(
    "--max-memory SIZE",
    "Memory of the build, such as 1GB: ranges beyond it go to files beside the output."
    " [default: three quarters of free memory]",
)


#: The generations that a store keeps.
keep = group(
    option(
        "--keep N",
        "Keep the newest N generations; one published with --since counts by that date."
        f" [default: {KEEP}; update: as the recipe says; publish: all]",
        click.IntRange(1),
    ),
    option(
        "--keep-for TIME",
        "Keep the generations in force within TIME, such as 26w or 1y; not with --keep.",
    ),
    option(
        "--keep-unpacked N",
        f"Of these, the last N stay folders. [default: {KEEP_UNPACKED}]",
        click.IntRange(1),
    ),
)


def signing_keys(*, required: bool = False) -> Callable[[F], F]:
    """Return the repeatable option ``--signing-key``."""
    text = "Private key to sign with (`geolookup mirror keys create`); repeatable: each signs."
    return option("--signing-key KEY...", text, PATH, name="signing_keys", required=required)


trusted_keys = option(
    "--trusted-key KEY...",
    "Public key that must have signed the dataset; repeatable: one of them suffices.",
    PATH,
    name="trusted_keys",
    callback=lambda _context, _option, keys: keys or None,  # None: no signature is asked for
)
accounts = option(
    "--accounts URL",
    "Account store: sqlite:///PATH or redis://HOST:PORT/NUMBER. The password of Redis can be"
    " in $GEOLOOKUP_REDIS_PASSWORD, or in the file $GEOLOOKUP_REDIS_PASSWORD_FILE.",
    required=True,
)
plans = option(
    "--plans FILE", "TOML file of more plans, in tables [plan.NAME]. [default: none]", AS_PATH
)
