"""The program: its commands in sections, the implied command, and its errors of use in one line.

Strategy: Click finds the errors; here each becomes the problem and what to run. No message repeats
an address. Of a command only its own options and its example are named. A misspelt command leads
to a similar one, unless that would change a store or keys.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import click

import geolookup
from geolookup.cli import fail
from geolookup.cli.command import Group
from geolookup.cli.registry import COMMANDS, SECTIONS, SUMMARIES, load
from geolookup.contract.address import is_address
from geolookup.errors import line_text, near_word, suggestion

#: Options of the program itself; others before an address are options of ``lookup``.
_OWN_OPTIONS = "-h", "--help", "--version"
#: With this Click 8.2 and later show the help of a group without a command.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())
#: A text like an address, malformed or not.
_ADDRESS = re.compile(
    r"[0-9]{1,9}(?:\.[0-9]{1,9}){3}|[0-9A-Fa-f]{0,9}:[0-9A-Fa-f]{0,9}:[0-9A-Fa-f:.]*"
)
#: Options that no hint names: ``--force`` is similar to ``--store``, and replaces files.
_UNNAMED = {"--help", "--force"}
#: How messages of Click begin that repeat arguments, and our messages.
_OWN_MESSAGES = {
    "Got unexpected extra argument": "too many arguments",
    "No such command": "no such command",
}
#: A misspelt command; another text may be an address.
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")
#: The similarity of a misspelt command or option to the one that is meant.
_SIMILAR, _SIMILAR_OPTION = 0.7, 0.75
_CHANGES_A_STORE = {"update"}


@contextmanager
def _own_errors() -> Iterator[None]:
    """Exit with one line for an error of use, for which Click prints three.

    Hide the error number of a closed pipe: for EPIPE, Click would exit with status 1.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError from error
    except click.UsageError as error:
        if isinstance(error, _HELP):
            raise
        fail(_line(error))


class _Program(Group):
    """The program; only the module of the called command is imported."""

    make_context = _own_errors()(Group.make_context)
    invoke = _own_errors()(Group.invoke)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each section; the summaries of all sections are aligned."""
        width = max(map(len, COMMANDS))
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), SUMMARIES[name]) for name in names])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        elif args[:1] == ["version"]:
            args = ["--version"]
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            problem = _problem(args)
            if problem is None:
                args = ["lookup", *args]
            elif not ctx.resilient_parsing:  # a shell asks for completions
                fail(problem)
        return super().parse_args(ctx, args)


def _line(error: click.UsageError) -> str:
    """Return the message for an error of Click."""
    context = error.ctx or click.get_current_context()
    name = context.command_path.partition(" ")[2] or "geolookup"
    text = line_text(_ADDRESS.sub("ADDRESS", f"{name}{_wrong(error, context)}".rstrip(".")))
    if text.endswith("?"):
        return text
    if isinstance(context.command, Group):
        return f"{text}; its commands are {', '.join(context.command.list_commands(context))}"
    return f"{text}; example: {getattr(context.command, 'example', '')}"


def _wrong(error: click.UsageError, context: click.Context) -> str:
    """Return the problem, to follow the name of the command."""
    if isinstance(error, click.NoSuchOption):
        names = set(error.possibilities or ()) - _UNNAMED
        near = near_word(error.option_name, names, cutoff=_SIMILAR_OPTION)
        return f" has no option {error.option_name}{f'; {suggestion(near)}' if near else ''}"
    if isinstance(error, click.MissingParameter):
        # Click names the first one; those that were given are in ``params`` by then.
        missing = [item for item in context.command.params if item.name not in context.params]
        return f" needs {' and '.join(_shown(item) for item in missing if item.required)}"
    own = (text for begin, text in _OWN_MESSAGES.items() if error.message.startswith(begin))
    message = next(own, error.message)
    parameter = getattr(error, "param", None)
    return f": {message}" if parameter is None else f": {_shown(parameter)}: {message}"


def _shown(parameter: click.Parameter) -> str:
    """Return an option with the name of its value, or the name of an argument."""
    if isinstance(parameter, click.Option):
        return f"{max(parameter.opts, key=len)} {parameter.metavar or ''}".rstrip()
    return (parameter.metavar or str(parameter.name).upper()).strip("[].")


def _problem(args: list[str]) -> str | None:
    """Return why ``lookup`` does not accept arguments without a command, and the command to run."""
    first = args[0]
    if first.startswith("-"):  # options of ``lookup``; "-" is standard input
        words = (word for before, word in pairwise(args) if not before.startswith("-"))
        command = next((word for word in words if word in COMMANDS), None)
        return command and f"options stand after the command, as in: geolookup {command} --help"
    if is_address(first):
        return None
    if os.path.exists(first):  # noqa: PTH110 - unlike pathlib it accepts any text
        return _of_path(first)
    return f"no command {first!r}; {_hint(first)}" if _WORD.fullmatch(first) else None


def _hint(word: str) -> str:
    """Return the command that has this name in a group, or a similar one."""
    groups = [command for name in SECTIONS["Groups"] if isinstance(command := load(name), Group)]
    names = [f"{group.name} {word.lower()}" for group in groups if word.lower() in group.commands]
    if not names and (near := near_word(word, COMMANDS.keys() - _CHANGES_A_STORE, cutoff=_SIMILAR)):
        names = [near]
    return suggestion(*names) if names else "'geolookup --help' lists the commands"


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


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "color": True},
    epilog="Also: `geolookup help [COMMAND]...` and `geolookup version`.\n\n"
    'Completion in bash: eval "$(_GEOLOOKUP_COMPLETE=bash_source geolookup)".',
)
@click.version_option(geolookup.__version__, prog_name="geolookup")
def program() -> None:
    """Look up the location, time, currency and network of IP addresses, offline.

    An address needs no command. `geolookup COMMAND --help` shows an example of a
    command, then its options.

    Example: geolookup 8.8.8.8
    """
