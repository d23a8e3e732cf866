"""Errors of use in one line: the problem, then what to run. No message repeats an address.

Of a command only its own options and its example are named. A misspelt command leads to a similar
one, unless that would change a store.
"""

from __future__ import annotations

import os
import re

import click

from geolookup.cli.command import Group
from geolookup.cli.registry import COMMANDS, SECTIONS, load
from geolookup.contract.address import is_address
from geolookup.errors import line_text, near_word, suggestion

#: A text like an address, malformed or not.
_ADDRESS = re.compile(
    r"[0-9]{1,9}(?:\.[0-9]{1,9}){3}|[0-9A-Fa-f]{0,9}:[0-9A-Fa-f]{0,9}:[0-9A-Fa-f:.]*"
)
#: How Click's message of surplus arguments begins; it repeats them.
_SURPLUS = "Got unexpected extra argument"
#: A misspelt command; another text may be an address.
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")
#: The similarity of a misspelt command to the command that is meant.
_SIMILAR = 0.7
_CHANGES_A_STORE = {"update"}


def problem(error: click.UsageError) -> str:
    """Return the message for an error of Click."""
    context = error.ctx or click.get_current_context()
    name = context.command_path.partition(" ")[2] or "geolookup"
    text = line_text(_ADDRESS.sub("ADDRESS", f"{name}{_wrong(error, context)}".rstrip(".")))
    if text.endswith("?"):
        return text
    if isinstance(context.command, Group):
        return f"{text}; 'geolookup {name} --help' lists its commands"
    return f"{text}; example: {getattr(context.command, 'example', '')}"


def _wrong(error: click.UsageError, context: click.Context) -> str:
    """Return the problem, to follow the name of the command."""
    if isinstance(error, click.NoSuchOption):
        near = [name for name in error.possibilities or () if name != "--help"]
        return f" has no option {error.option_name}{f'; {suggestion(*near)}' if near else ''}"
    if isinstance(error, click.MissingParameter):
        # Click names the first one; those that were given are in ``params`` by then.
        missing = [each for each in context.command.params if each.name not in context.params]
        return f" needs {' and '.join(_shown(each) for each in missing if each.required)}"
    message = "too many arguments" if error.message.startswith(_SURPLUS) else error.message
    parameter = getattr(error, "param", None)
    return f": {message}" if parameter is None else f": {_shown(parameter)}: {message}"


def _shown(parameter: click.Parameter) -> str:
    """Return an option with the name of its value, or the name of an argument."""
    if isinstance(parameter, click.Option):
        return f"{max(parameter.opts, key=len)} {parameter.metavar or ''}".rstrip()
    return (parameter.metavar or str(parameter.name).upper()).strip("[].")


def first_problem(args: list[str]) -> str | None:
    """Return why arguments without a command are not those of ``lookup``, and what to do."""
    first, last = args[0], args[-1]
    if first.startswith("-"):  # options of ``lookup``; "-" is standard input
        if last in COMMANDS and not args[-2].startswith("-"):
            return f"options stand after the command, as in: geolookup {last} --help"
        return None
    if is_address(first):
        return None
    if os.path.exists(first):  # noqa: PTH110 - unlike pathlib it takes any text
        return _of_path(first)
    return f"no command {first!r}; {_hint(first)}" if _WORD.fullmatch(first) else None


def _hint(word: str) -> str:
    """Return the command that has this name in a group, or a similar one."""
    groups = [command for name in SECTIONS["Groups"] if isinstance(command := load(name), Group)]
    inner = [f"{group.name} {word.lower()}" for group in groups if word.lower() in group.commands]
    near = near_word(word, COMMANDS.keys() - _CHANGES_A_STORE, cutoff=_SIMILAR)
    found = inner or ([near] if near else [])
    return suggestion(*found) if found else "'geolookup --help' lists the commands"


def _of_path(path: str) -> str:
    """Return what to run for a file or folder."""
    name = line_text(path)
    if os.path.isdir(path):  # noqa: PTH112
        commands = f"info {name}", f"-d {name} IP"
    elif path.endswith((".toml", ".mmdb")):
        commands = f"check {name}", f"build {name} -o DIR"
    else:
        commands = f"summarize {name}", f"enrich {name} -o OUTPUT"
    return f"{name} is not a command; run 'geolookup {commands[0]}' or 'geolookup {commands[1]}'"
