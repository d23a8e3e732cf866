"""Errors of use in one line: the problem, then a command that works."""

from __future__ import annotations

import re

import click

from geolookup.cli.command import MissingParameters
from geolookup.cli.unknown_option import argument_name, longest, option_hint
from geolookup.errors import line_text, near_match, suggestion

#: A text like an address, malformed or not: no message repeats it.
_ADDRESS = re.compile(
    r"[0-9]{1,9}(?:\.[0-9]{1,9}){3}|[0-9A-Fa-f]{0,9}:[0-9A-Fa-f]{0,9}:[0-9A-Fa-f:.]*"
)
#: How Click's message of surplus arguments begins; it repeats them.
_SURPLUS = "Got unexpected extra argument"
#: How Click's message of a value that is not a choice begins.
_UNKNOWN_CHOICE = re.compile(r"'([^']*)' is not one of ")
_NOT_AN_INTEGER = re.compile(r"is not a valid integer(?: range)?")
_NOT_A_NUMBER = re.compile(r"is not a valid float(?: range)?")
#: Click's message of an option without its value.
_NO_VALUE = re.compile(r"Option '(\S+)' requires an argument")


def problem(error: click.UsageError) -> str:
    """Return the message for an error of Click."""
    command = error.ctx.command if error.ctx is not None else None
    name = _name(error.ctx)
    if isinstance(error, click.NoSuchOption):
        option = _ADDRESS.sub("ADDRESS", error.option_name)
        example = _ending(command).removeprefix("; ") or "'geolookup --help' lists the commands"
        hint = example if command is None else option_hint(option, command, example)
        return line_text(f"{name} has no option {option}; {hint}")
    text = f"{name}{_wrong(error)}".rstrip(".")
    text = line_text(_ADDRESS.sub("ADDRESS", text))
    return text if text.endswith("?") else text + _ending(command)


def _wrong(error: click.UsageError) -> str:
    """Return the problem, to follow the name of the command."""
    if isinstance(error, MissingParameters):
        return f" needs {_needed(error)}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f": {_value_problem(error, error.param)}"
    if error.message.startswith(_SURPLUS):
        return ": too many arguments"
    return ": " + _NO_VALUE.sub(r"\1 needs a value", error.message)


def _value_problem(error: click.BadParameter, parameter: click.Parameter) -> str:
    """Return the problem of a value; of choices only the nearest, if one is similar."""
    value = _UNKNOWN_CHOICE.match(error.message)
    if value is None or not isinstance(parameter.type, click.Choice):
        message = _NOT_AN_INTEGER.sub("is not a whole number", error.message)
        return f"{_shown(parameter)}: {_NOT_A_NUMBER.sub('is not a number', message)}"
    choices = parameter.type.choices
    # "nftables" means nft, although the letters of iptables are more similar.
    begins = [choice for choice in choices if value[1].startswith(choice)]
    remedy = suggestion(max(begins, key=len)) if begins else near_match(value[1], choices)
    return f"{_shown(parameter)} is {value[1]!r}; {remedy}"


def _name(context: click.Context | None) -> str:
    """Return the typed command, without the name of the program."""
    path = "" if context is None else context.command_path
    return path.partition(" ")[2] or "geolookup"


def _ending(command: click.Command | None) -> str:
    example = getattr(command, "example", "")
    return f"; example: {example}" if example else ""


def _shown(parameter: click.Parameter) -> str:
    """Return an option with the name of its value, or the name of an argument."""
    if isinstance(parameter, click.Option):
        return f"{longest(parameter)} {parameter.metavar or ''}".rstrip()
    return argument_name(parameter)


def _needed(error: MissingParameters) -> str:
    """Return all missing parameters; an output may be typed as one argument too many."""
    parameters = error.parameters
    if len(parameters) == 1 and isinstance(option := parameters[0], click.Option):
        if error.has_surplus:
            return f"{longest(option)} before {option.metavar}"
        if ", or -" in (option.help or ""):
            return f"{_shown(option)} (- is standard output)"
    *first, last = map(_shown, parameters)
    return f"{', '.join(first)} and {last}" if first else last
