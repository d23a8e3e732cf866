"""What the first argument means where it is not the name of a command."""

from __future__ import annotations

import os
import re

from geolookup.cli import COMMANDS, fail
from geolookup.cli.address_input import STANDARD_INPUT
from geolookup.contract.address import is_address
from geolookup.errors import name_text, near_match

#: A misspelled command. Other texts may be addresses, which messages do not contain.
_WORD = re.compile(r"[A-Za-z_-]+")


def completed(arguments: list[str], *, is_typed: bool = False) -> list[str]:
    """Return the arguments with the command that an address in front of them stands for.

    Exits with status 2 where the first argument is no address either, unless the arguments are
    being typed: then a shell asks for completions.
    """
    first = arguments[0]
    if first == STANDARD_INPUT or is_address(first):
        return ["lookup", *arguments]
    if not is_typed:
        fail(_problem(first))
    return arguments


def _problem(first: str) -> str:
    """Return why a text is no command, and what to do, without what may be an address."""
    if os.path.exists(first):  # noqa: PTH110 - unlike pathlib it takes any text
        return _of_file(name_text(first))
    if _WORD.fullmatch(first):
        lists = "'geolookup --help' lists the commands"
        return f"no command {first!r}; {near_match(first, COMMANDS, fallback=lists)}"
    return "the first argument is no command and no address; see 'geolookup --help'"


def _of_file(name: str) -> str:
    return (
        f"{name} is a file or folder, no command; run 'geolookup enrich {name} --output OUTPUT',"
        f" 'geolookup summarize {name}', or for a dataset 'geolookup info {name}'"
    )
