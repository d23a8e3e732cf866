"""The answers of ``geolookup lookup``, printed as they arrive.

Strategy: whatever the format, a kernel writes the answers as JSON lines. Nothing here needs Click:
importing it takes as long as all else.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import NoReturn

import geolookup
from geolookup.cli import fail, note_age, require_output, say
from geolookup.cli.address_input import blocks
from geolookup.cli.answer_formats import FAILURE, FORMATS, Answers, Question
from geolookup.contract.address import is_address
from geolookup.contract.localtime import instant
from geolookup.errors import count_text
from geolookup.kernel.lookups import state_of

#: The most errors that are named on standard error; the others are counted.
_NAMED = 10
#: A host name, or the name of a file with a suffix.
_NAME = re.compile(r"(?=.*[A-Za-z])[\w-]+(?:\.[\w-]+)+")


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
    """Print an answer for each address; return the number of errors.

    ``form`` names a format, by default a table on a terminal, and JSON elsewhere or if the question
    is about its form.
    """
    if form is None:
        form = "table" if question.compact is None and sys.stdout.isatty() else "json"
    elif form != "json" and question.compact is not None:
        fail(f"--compact and --indent are for json, not for {form}")
    show, lines = FORMATS[form](question), state_of(question.engine).lines()
    failures = reported = 0
    for block in blocks(addresses, clean=question.clean):
        second = instant(at)
        try:
            failed = block.answer(lines, second)
        finally:  # also the answers before a damaged row
            answers = Answers(lines.take(), block, second)
            sys.stdout.buffer.write(show(answers))
            sys.stdout.buffer.flush()
        # A table names the error, and JSON has an envelope for each argument.
        if failed and (form == "csv" or (form == "json" and block.is_lines)):
            for line in islice(_failures(answers), max(_NAMED - reported, 0)):
                say(f"geolookup: {line}")
            reported += failed
        del answers  # frees memory for the next block
        failures += failed
    if reported > _NAMED:
        others = count_text(reported - _NAMED, "other address", "other addresses")
        say(f"geolookup: {others} without an answer")
    return failures


def end(addresses: tuple[str, ...], failures: int, *, clean: bool = False) -> NoReturn:
    """Exit with the status of the answers; name the first wrong argument."""
    hints = (_hint(argument, clean=clean) for argument in addresses if failures)
    for number, hint in enumerate(hints, 1):
        if hint:  # the argument is not repeated
            say(f"geolookup: argument {number} is {hint}")
            break
    sys.exit(1 if failures else 0)


def _hint(argument: str, *, clean: bool) -> str:
    """Return what a wrong argument is and what to do; "" if it is unknown."""
    from geolookup.contract.cleaning import clean_text

    if os.path.isfile(argument):  # noqa: PTH113 - unlike pathlib it takes any name
        return "a file; 'geolookup enrich FILE -o OUTPUT' looks up the addresses of a file"
    if os.path.isdir(argument):  # noqa: PTH112
        return "a folder; 'geolookup lookup -d FOLDER IP' reads a dataset or a store"
    network, _, length = argument.partition("/")
    if length.isdecimal() and is_address(network):
        return (
            "a network; 'geolookup prefixes --within NETWORK --by location,network --format"
            " csv' lists its answers, 'geolookup history NETWORK' their changes"
        )
    if not (clean or is_address(argument)) and is_address(str(clean_text(argument))):
        return "an address with more text around it; pass --clean"
    is_name = _NAME.fullmatch(argument)
    return "neither an address nor a file; host names are not resolved" if is_name else ""


def _failures(answers: Answers) -> Iterator[str]:
    """Yield the position and the message of each error in a block."""
    lines = answers.lines.splitlines()
    for line, (position, _) in zip(lines, answers.block.items(), strict=True):
        if line.startswith(FAILURE):  # parsing all lines would take longer than answering them
            yield f"{position}: {json.loads(line)['error_message']}"
