"""Errors of use in one line: the problem, then an option of the command or its example.

A message repeats no address, and names no other command.
"""

from __future__ import annotations

import re

import click

from geolookup.errors import line_text, near_match, suggestion

#: A text like an address, malformed or not: no message repeats it.
_ADDRESS = re.compile(
    r"[0-9]{1,9}(?:\.[0-9]{1,9}){3}|[0-9A-Fa-f]{0,9}:[0-9A-Fa-f]{0,9}:[0-9A-Fa-f:.]*"
)
#: Parts of Click's messages, and what our messages have there.
_WORDINGS = (
    (re.compile(r"Got unexpected extra argument.*", re.DOTALL), "too many arguments"),
    (re.compile(r"Option '(\S+)' requires an argument\."), r"\1 needs a value"),
    (re.compile(r"is not a valid integer(?: range)?"), "is not a whole number"),
    (re.compile(r"is not a valid float(?: range)?"), "is not a number"),
)
_UNKNOWN_CHOICE = re.compile(r"'([^']*)' is not one of ")


def problem(error: click.UsageError) -> str:
    """Return the message for an error of Click."""
    context = error.ctx or click.Context(click.Command(None))
    command = context.command
    name = context.command_path.partition(" ")[2] or "geolookup"
    text = line_text(_ADDRESS.sub("ADDRESS", f"{name}{_wrong(error)}".rstrip(".")))
    if text.endswith("?"):
        return text
    if isinstance(command, click.Group):
        return f"{text}; 'geolookup {name} --help' lists its commands"
    return f"{text}; example: {getattr(command, 'example', '')}"


def _wrong(error: click.UsageError) -> str:
    """Return the problem, to follow the name of the command."""
    if isinstance(error, click.NoSuchOption):
        near = [name for name in error.possibilities or () if name != "--help"]
        return f" has no option {error.option_name}{f'; {suggestion(*near)}' if near else ''}"
    if isinstance(error, click.MissingParameter) and error.ctx is not None:
        return f" needs {_missing(error.ctx)}"
    message = error.message
    for pattern, wording in _WORDINGS:
        message = pattern.sub(wording, message)
    if not isinstance(error, click.BadParameter) or error.param is None:
        return f": {message}"
    choice = _UNKNOWN_CHOICE.match(message)
    if choice is None or not isinstance(error.param.type, click.Choice):
        return f": {_shown(error.param)}: {message}"
    return f": {_shown(error.param)} is {choice[1]!r}; {_near(choice[1], error.param.type.choices)}"


def _near(value: str, choices: tuple[str, ...]) -> str:
    # "nftables" means nft, although the letters of iptables are more similar.
    begins = [choice for choice in choices if value.startswith(choice)]
    return suggestion(max(begins, key=len)) if begins else near_match(value, choices)


def _missing(context: click.Context) -> str:
    """Return all missing parameters; Click, which reads the given ones first, names one."""
    parameters = context.command.params
    missing = [one for one in parameters if one.required and one.name not in context.params]
    *first, last = map(_shown, missing)
    return f"{', '.join(first)} and {last}" if first else last


def _shown(parameter: click.Parameter) -> str:
    """Return an option with the name of its value, or the name of an argument."""
    if isinstance(parameter, click.Option):
        return f"{max(parameter.opts, key=len)} {parameter.metavar or ''}".rstrip()
    return (parameter.metavar or str(parameter.name).upper()).strip("[].")
