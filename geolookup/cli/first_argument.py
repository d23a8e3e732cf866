"""The first argument of the program: a command, or an address or option of ``lookup``."""

from __future__ import annotations

import os
import re
from collections import defaultdict

from geolookup.cli import fail
from geolookup.cli.registry import COMMANDS, load
from geolookup.contract.address import is_address
from geolookup.errors import line_text, near_word, suggestion

#: A misspelled command. Another text may be an address, and no message contains one.
_WORD = re.compile(r"[A-Za-z_-]+")
#: The files of recipes and of vendors' databases.
_OF_BUILD = (".toml", ".mmdb")
#: The similarity of a misspelt command to the command that is meant.
_SIMILAR = 0.7
_LISTS = "'geolookup --help' lists the commands"


def with_implied_command(arguments: list[str], *, is_typed: bool = False) -> list[str]:
    """Return the arguments after the command ``lookup``, if they do not begin with a command.

    ``lookup`` is optional before an address, valid or not, and before its options. Exits with
    status 2 if a command is misspelled, or is the name of a file or folder. While a shell
    asks for completions (``is_typed``), such arguments are returned as typed.
    """
    first = arguments[0]
    if first.startswith("-") and first != "-":
        problem = _problem_after_options(arguments)
    else:
        problem = None if is_address(first) else _problem(first)
    if problem is None:
        return ["lookup", *arguments]
    if not is_typed:
        fail(problem)
    return arguments


def _problem_after_options(arguments: list[str]) -> str | None:
    """Return why the text after options of ``lookup`` is not an address; None if it may be one."""
    text = _first_address(arguments)
    if text in COMMANDS:
        return f"options stand after the command, as in: {load(text).example}"
    return None if text is None or is_address(text) else _problem(text)


def _first_address(arguments: list[str]) -> str | None:
    """Return the first text that ``lookup`` would look up; None without one or after an error."""
    lookup = load("lookup")
    # Resilient: errors of the options end the parsing; the command itself reports them.
    with lookup.context_class(lookup, info_name="lookup", resilient_parsing=True) as context:
        values, _, _ = lookup.make_parser(context).parse_args(list(arguments))
    addresses = values.get("addresses")
    return addresses[0] if isinstance(addresses, tuple) and addresses else None


def _problem(text: str) -> str | None:
    """Return why a text is not a command, and what to do; None if it may be an address."""
    if os.path.exists(text):  # noqa: PTH110 - unlike pathlib it takes any text
        return _of_path(text)
    if _WORD.fullmatch(text) and text != "-":
        return f"no command {text!r}; {_hint(text)}"
    return None


def _hint(word: str) -> str:
    """Return the command that is meant, also by one of its words or as a command of a group."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name in COMMANDS:
        for part in {name, *name.split("-")}:
            names[part].append(name)
        for own in getattr(load(name), "commands", ()):
            names[own].append(f"{name} {own}")
    near = near_word(word, names, cutoff=_SIMILAR)
    return _LISTS if near is None else suggestion(*names[near])


def _of_path(path: str) -> str:
    """Return what to run for a file or folder."""
    name = line_text(path)
    if os.path.isdir(path):  # noqa: PTH112
        return (
            f"{name} is a folder, not a command; for a dataset run 'geolookup info {name}'"
            f" or 'geolookup -d {name} IP'"
        )
    if path.endswith(_OF_BUILD):
        commands = f"'geolookup check {name}' or 'geolookup build {name} -o DIR'"
    else:
        commands = f"'geolookup summarize {name}' or 'geolookup enrich {name} -o OUTPUT'"
    return f"{name} is a file, not a command; run {commands}"
