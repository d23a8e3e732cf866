"""``geolookup lookup``: prints one answer per address.

Strategy: whatever the format, a kernel writes the answers as JSON lines. In a pipe these are
printed unchanged; the other formats are made from them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from geolookup.cli import fail, note_age, options, require_output, table_options
from geolookup.cli.address_input import blocks
from geolookup.cli.answer_formats import Csv, Json, parse, with_own
from geolookup.cli.command import command
from geolookup.contract.fields import COLUMNS, OWN
from geolookup.contract.localtime import instant
from geolookup.errors import DatasetError, count_text

if TYPE_CHECKING:
    from geolookup.cli.address_input import Block
    from geolookup.cli.answer_formats import Format, Reader
    from geolookup.contract.fields import Field
    from geolookup.engine import Engine

#: The most errors that are named on standard error; the others are counted.
_NAMED = 10
#: A host name, or the name of a file with a suffix.
_NAME = re.compile(r"(?=.*[A-Za-z])[\w-]+(?:\.[\w-]+)+")
#: How the JSON of an error begins.
_FAILURE = b'{"success":false,'


class _Question(NamedTuple):
    """The options of one call."""

    engine: Engine
    fields: tuple[Field, ...] | None  # None: all of the contract
    clean: bool
    compact: bool | None

    def read(self, fields: Iterable[Field]) -> Reader:
        """Return the reader of answers that have these fields."""
        has_own = any(field.group == OWN for field in fields)
        return with_own(self.engine, clean=self.clean) if has_own else parse


def _json(question: _Question) -> Format:
    fields, compact = question.fields, question.compact
    compact = not sys.stdout.isatty() if compact is None else compact
    return Json(fields, question.read(fields or ()), compact=compact)


def _csv(question: _Question) -> Format:
    fields = question.fields or COLUMNS
    return Csv(fields, question.read(fields))


def _table(question: _Question) -> Format:
    from geolookup.cli.answer_table import Table, overview, values

    fields = question.fields
    if fields is None:
        own = question.engine.snapshot().dataset.schema.own
        return Table(overview(question.engine), (), question.read(own))
    columns = tuple(field for field in fields if field.path != "ip")
    names = ("ip", *(field.path for field in columns))
    return Table(values(columns), names, question.read(columns))


_FORMATS: dict[str, Callable[[_Question], Format]] = {
    "json": _json,
    "csv": _csv,
    "table": _table,
}


@command("lookup")
@click.argument("addresses", metavar="[IP]...", nargs=-1)
@options.dataset
@options.age_notice
@options.fields("print", "all")
@options.at
@table_options.clean
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMATS)),
    help="Format of the answers. [default: table on a terminal, else json]",
)
@click.option(
    "--compact/--indent",
    default=None,
    help="JSON with one line per answer, or indented. [default: indented on a terminal]",
)
def lookup(
    addresses: tuple[str, ...],
    dataset: str | None,
    paths: tuple[str, ...],
    at: int | None,
    clean: bool,
    form: str | None,
    compact: bool | None,
) -> None:
    """Print the answer for each IP; `geolookup IP` does the same.

    A terminal gets a table of place, local time, network and prefix, or of the
    --fields. A pipe gets JSON, one envelope per line. csv has a column for each
    field; without --fields also error_code. To see the address, name ip in --fields.

    Without IP, or for -, it reads addresses from standard input, one per line, and
    prints each answer when its line has arrived. Empty lines are skipped. json and
    csv also report errors on standard error, with the number of the line.

    Exits with 0 if every answer is a success, 1 if an answer is an error envelope,
    and 2 for misuse or an unusable dataset.

    Example: geolookup lookup 8.8.8.8 2001:4860:4860::8888
    """
    require_output("answers are written there")
    with options.open_dataset(dataset) as engine:
        fields = options.fields_of(paths, engine.snapshot().dataset.schema) or None
        note_age(engine)
        show = _format(form, _Question(engine, fields, clean, compact))
        lines = engine.snapshot().lines()
        failures, errors = 0, _Errors()
        for block in blocks(addresses, clean=clean):
            try:
                failed = block.answer(lines, instant(None) if at is None else at)
            except DatasetError:
                _print(show(lines.take(), block))  # the answers before the damaged row
                raise
            answers = lines.take()
            _print(show(answers, block))
            if failed and show.tells(block):
                errors.tell(answers, block, failed)
            del answers  # frees memory for the next block
            failures += failed
        errors.end()
    if failures:
        _hint(addresses)
    sys.exit(1 if failures else 0)


def _hint(addresses: tuple[str, ...]) -> None:
    """Say on standard error what the first wrong argument is; the argument is not repeated."""
    for number, argument in enumerate(addresses, 1):
        if os.path.isfile(argument):  # noqa: PTH113 - unlike pathlib it takes any name
            hint = "a file; 'geolookup enrich FILE -o OUTPUT' looks up the addresses of a file"
        elif os.path.isdir(argument):  # noqa: PTH112
            hint = "a folder; 'geolookup lookup -d FOLDER IP' reads a dataset or a store"
        elif _NAME.fullmatch(argument):
            hint = "neither an address nor a file; host names are not resolved"
        else:
            continue
        click.echo(f"geolookup: argument {number} is {hint}", err=True)
        break


def _print(answers: bytes) -> None:
    sys.stdout.buffer.write(answers)
    sys.stdout.buffer.flush()


class _Errors:
    """Names addresses without an answer on standard error, by their position in the input."""

    def __init__(self) -> None:
        self._count = 0

    def tell(self, answers: bytes, block: Block, failed: int) -> None:
        """Name the errors of a block, up to a maximum; the others are only counted: it is fast."""
        for line in _failures(answers, block) if self._count < _NAMED else ():
            self._count += 1
            failed -= 1
            click.echo(f"geolookup: {line}", err=True)
            if self._count == _NAMED:
                break
        self._count += failed

    def end(self) -> None:
        """Count those that were not named."""
        if self._count > _NAMED:
            others = count_text(self._count - _NAMED, "other address", "other addresses")
            click.echo(f"geolookup: {others} without an answer", err=True)


def _failures(answers: bytes, block: Block) -> Iterator[str]:
    for line, position in zip(answers.splitlines(), block.positions(), strict=True):
        if line.startswith(_FAILURE):  # parsing all lines would take longer than answering them
            yield f"{position}: {json.loads(line)['error_message']}"


def _format(name: str | None, question: _Question) -> Format:
    """Return a format; by default a table on a terminal, and JSON elsewhere or with --compact."""
    if name is None:
        name = "table" if question.compact is None and sys.stdout.isatty() else "json"
    elif name != "json" and question.compact is not None:
        fail(f"--compact and --indent are for json, not for {name}")
    return _FORMATS[name](question)
