"""Errors of use in one line: the problem, then a command that works."""

from __future__ import annotations

import re

import click

from geolookup.cli.registry import COMMANDS, load
from geolookup.contract.fields import NAMES
from geolookup.errors import line_text, near_match, near_word, suggestion

#: A text like an address, malformed or not: no message repeats it.
_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*")
#: How Click's message of surplus arguments begins; it repeats them.
_SURPLUS = "Got unexpected extra argument"
#: How Click's message of a value that is not a choice begins.
_UNKNOWN_CHOICE = re.compile(r"'([^']*)' is not one of ")
_NOT_AN_INTEGER = re.compile(r"is not a valid integer(?: range)?")
_NOT_A_NUMBER = re.compile(r"is not a valid float(?: range)?")
#: Click's message of an option without its value.
_NO_VALUE = re.compile(r"Option '(\S+)' requires an argument")
#: The most commands that are named because they have an option.
_NAMED = 2


def problem(error: click.UsageError) -> str:
    """Return the message for an error of Click."""
    command = error.ctx.command if error.ctx is not None else None
    name = _name(error.ctx)
    if isinstance(error, click.NoSuchOption):
        option = _ADDRESS.sub("ADDRESS", error.option_name)
        return line_text(_unknown_option(name, option, command))
    text = f"{name}{_wrong(error)}".rstrip(".")
    text = line_text(_ADDRESS.sub("ADDRESS", text))
    return text if text.endswith("?") else text + _ending(command)


def _wrong(error: click.UsageError) -> str:
    """Return the problem, to follow the name of the command."""
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f" needs {_shown(error.param)}"
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
        return f"{_longest(parameter)} {parameter.metavar or ''}".rstrip()
    return (parameter.metavar or str(parameter.name).upper()).strip("[].")


def _unknown_option(name: str, option: str, command: click.Command | None) -> str:
    """Return the error for an option that a command does not have.

    The remedy is the option with this choice or beginning, --fields with the field of this name,
    the nearest option, or a command with this option.
    """
    own = _options(command) if command is not None else []
    if _is_condition(option, command):
        return f"{name} has no option {option}{_ending(command)}"
    word, names = option.lstrip("-"), [_longest(one) for one in own]
    if selection := [one for one in own if word in getattr(one.type, "choices", ())]:
        remedy = suggestion(f"{_longest(selection[0])} {word}")
    elif longer := [other for other in names if other.startswith(f"{option}-")]:
        remedy = suggestion(longer[0])
    elif word in NAMES and "--fields" in names:
        remedy = suggestion(f"--fields {word}")
    elif near := near_word(word, [other.lstrip("-") for other in names]):
        remedy = suggestion(f"--{near}")
    else:
        remedy = _elsewhere(option, command)
    return f"{name} has no option {option}; {remedy}"


def _is_condition(option: str, command: click.Command | None) -> bool:
    """Return whether an option stands for a condition: ``--country AT``, ``--where country=AT``."""
    takes_conditions = any(one.name == "where" for one in getattr(command, "params", ()))
    return takes_conditions and (option == "--where" or option[2:].replace("-", "_") in NAMES)


def _elsewhere(option: str, command: click.Command | None) -> str:
    """Return the example of a command that has an option; if many have it, of ``command``."""
    having = [other for other in COMMANDS if option in map(_longest, _options(load(other)))]
    if having and len(having) <= _NAMED:
        return f"try {' or '.join(having)}; example: {load(having[0]).example}"
    return _ending(command).removeprefix("; ") or "'geolookup --help' lists the commands"


def _options(command: click.Command) -> list[click.Option]:
    parameters = command.params
    return [one for one in parameters if isinstance(one, click.Option) and not one.hidden]


def _longest(option: click.Option) -> str:
    return max(option.opts, key=len)
