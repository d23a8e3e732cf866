"""The answers of ``geolookup lookup``, in its formats.

Strategy: whatever the format, a kernel writes the answers as JSON lines. In a pipe these are
printed unchanged; the other formats are made from them. Nothing here needs Click: importing it
takes as long as all else.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import geolookup
from geolookup.cli import fail, note_age, require_output, say
from geolookup.cli.address_input import blocks
from geolookup.cli.answer_formats import Csv, Json, parse, with_own
from geolookup.contract.address import is_address
from geolookup.contract.fields import COLUMNS, OWN
from geolookup.contract.localtime import instant
from geolookup.errors import DatasetError, count_text
from geolookup.kernel.lookups import state_of

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


class Question(NamedTuple):
    """The options of one call."""

    engine: Engine
    fields: tuple[Field, ...] | None = None  # None: all of the contract
    clean: bool = False
    compact: bool | None = None

    def read(self, fields: Iterable[Field]) -> Reader:
        """Return the reader of answers that have these fields."""
        has_own = any(field.group == OWN for field in fields)
        return with_own(self.engine, clean=self.clean) if has_own else parse


def _json(question: Question) -> Format:
    fields, compact = question.fields, question.compact
    compact = not sys.stdout.isatty() if compact is None else compact
    return Json(fields, question.read(fields or ()), compact=compact)


def _csv(question: Question) -> Format:
    fields = question.fields or COLUMNS
    return Csv(fields, question.read(fields))


def _table(question: Question) -> Format:
    from geolookup.cli.answer_table import Table, overview, values

    fields = question.fields
    if fields is None:
        own = state_of(question.engine).dataset.schema.own
        return Table(overview(question.engine), (), question.read(own))
    columns = tuple(field for field in fields if field.path != "ip")
    names = ("ip", *(field.path for field in columns))
    return Table(values(columns), names, question.read(columns))


FORMATS: dict[str, Callable[[Question], Format]] = {
    "json": _json,
    "csv": _csv,
    "table": _table,
}


def answer_one(address: str) -> NoReturn:
    """Print the answer for an address, as ``geolookup lookup`` without options."""
    require_output("answers are written there")
    with geolookup.open() as engine:
        note_age(engine)
        failures = print_answers((address,), Question(engine))
    end((address,), failures)


def print_answers(
    addresses: tuple[str, ...], question: Question, form: str | None = None, at: int | None = None
) -> int:
    """Print an answer for each address; return the number of errors. ``form`` names a format."""
    show = _format(form, question)
    lines = state_of(question.engine).lines()
    failures, errors = 0, _Errors()
    for block in blocks(addresses, clean=question.clean):
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
    return failures


def end(addresses: tuple[str, ...], failures: int, *, clean: bool = False) -> NoReturn:
    """Exit with the status of the answers."""
    if failures:
        _hint(addresses, clean=clean)
    sys.exit(1 if failures else 0)


def _hint(addresses: tuple[str, ...], *, clean: bool) -> None:
    """Say on standard error what the first wrong argument is; the argument is not repeated."""
    from geolookup.contract.cleaning import clean_text

    for number, argument in enumerate(addresses, 1):
        if os.path.isfile(argument):  # noqa: PTH113 - unlike pathlib it takes any name
            hint = "a file; 'geolookup enrich FILE -o OUTPUT' looks up the addresses of a file"
        elif os.path.isdir(argument):  # noqa: PTH112
            hint = "a folder; 'geolookup lookup -d FOLDER IP' reads a dataset or a store"
        elif _is_network(argument):
            hint = (
                "a network; 'geolookup prefixes --within NETWORK --by location,network --format"
                " csv' lists its answers, 'geolookup history NETWORK' their changes"
            )
        elif not (clean or is_address(argument)) and is_address(str(clean_text(argument))):
            hint = "an address with more text around it; pass --clean"
        elif _NAME.fullmatch(argument):
            hint = "neither an address nor a file; host names are not resolved"
        else:
            continue
        say(f"geolookup: argument {number} is {hint}")
        break


def _is_network(text: str) -> bool:
    address, _, length = text.partition("/")
    return length.isdecimal() and is_address(address)


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
            say(f"geolookup: {line}")
            if self._count == _NAMED:
                break
        self._count += failed

    def end(self) -> None:
        """Count those that were not named."""
        if self._count > _NAMED:
            others = count_text(self._count - _NAMED, "other address", "other addresses")
            say(f"geolookup: {others} without an answer")


def _failures(answers: bytes, block: Block) -> Iterator[str]:
    for line, position in zip(answers.splitlines(), block.positions(), strict=True):
        if line.startswith(_FAILURE):  # parsing all lines would take longer than answering them
            yield f"{position}: {json.loads(line)['error_message']}"


def _format(name: str | None, question: Question) -> Format:
    """Return a format; by default a table on a terminal, and JSON elsewhere or with --compact."""
    if name is None:
        name = "table" if question.compact is None and sys.stdout.isatty() else "json"
    elif name != "json" and question.compact is not None:
        fail(f"--compact and --indent are for json, not for {name}")
    return FORMATS[name](question)
