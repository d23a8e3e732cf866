"""Errors of use in one line: what is wrong, then a command that works."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from geolookup.cli.registry import COMMANDS, load
from geolookup.errors import near_match

#: A text like an address, malformed or not: no message repeats it.
_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*")
#: How Click's message of surplus arguments begins; it repeats them.
_SURPLUS = "Got unexpected extra argument"
#: How Click's message of a value that is not a choice begins.
_UNKNOWN_CHOICE = re.compile(r"'([^']*)' is not one of ")
_NOT_AN_INTEGER = re.compile(r"is not a valid integer(?: range)?")
_NOT_A_NUMBER = re.compile(r"is not a valid float(?: range)?")
#: The most commands that are named because they have an option.
_NAMED = 2


def problem(error: click.UsageError) -> str:
    """Return the message for an error of Click."""
    command = error.ctx.command if error.ctx is not None else None
    name = _name(error.ctx)
    if isinstance(error, click.NoSuchOption):
        return _unknown_option(name, error.option_name, command)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        text = f"{name} needs {_shown(error.param)}"
    elif isinstance(error, click.BadParameter) and error.param is not None:
        text = f"{name}: {_value_problem(error, error.param)}"
    elif error.message.startswith(_SURPLUS):
        text = f"{name}: too many arguments"
    else:
        text = f"{name}: {error.message}"
    text = _ADDRESS.sub("ADDRESS", text).rstrip(".")
    return text if text.endswith("?") else text + _ending(command)


def _value_problem(error: click.BadParameter, parameter: click.Parameter) -> str:
    """Return what is wrong with a value; of choices only the nearest, if one is similar."""
    value = _UNKNOWN_CHOICE.match(error.message)
    if value is None or not isinstance(parameter.type, click.Choice):
        message = _NOT_AN_INTEGER.sub("is not a whole number", error.message)
        return f"{_shown(parameter)}: {_NOT_A_NUMBER.sub('is not a number', message)}"
    remedy = near_match(value[1], parameter.type.choices)
    return f"{_shown(parameter)} is {value[1]!r}; {remedy}"


def _name(context: click.Context | None) -> str:
    """Return the command as it is typed, without the name of the program."""
    path = "" if context is None else context.command_path
    return path.partition(" ")[2] or "geolookup"


def _ending(command: click.Command | None) -> str:
    example = getattr(command, "example", "")
    return f"; example: {example}" if example else ""


def _shown(parameter: click.Parameter) -> str:
    """Return an option with the name of its value, or the name of an argument."""
    if isinstance(parameter, click.Option):
        name = max(parameter.opts, key=len)
        return f"{name} {parameter.metavar}" if parameter.metavar else name
    return (parameter.metavar or str(parameter.name).upper()).strip("[].")


def _unknown_option(name: str, option: str, command: click.Command | None) -> str:
    """Name the nearest option of the command, else the commands that have this option."""
    own = list(_option_names(command)) if command is not None else []
    having = [other for other in COMMANDS if option in _option_names(load(other))]
    if having and len(having) <= _NAMED:
        remedy = f"try {' or '.join(having)}; example: {load(having[0]).example}"
    else:
        remedy = _ending(command).removeprefix("; ") or "'geolookup --help' lists the commands"
    return f"{name} has no option {option}; {near_match(option, own, fallback=remedy)}"


def _option_names(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from (name for name in parameter.opts if name.startswith("--"))
