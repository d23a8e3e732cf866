"""The program: its commands in sections, the implied command, and its errors of use in one line.

A word that is no command is never answered with a command that changes a store or keys, unless it
is the name of that command in its group: ``prune`` is ``store prune``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import geolookup
from geolookup.cli import fail
from geolookup.cli.command import Group
from geolookup.cli.registry import COMMANDS, SECTIONS, SUMMARIES, load
from geolookup.contract.address import is_address
from geolookup.errors import line_text, near_word, suggestion

#: Options of the program itself; others before an address are options of ``lookup``.
_OWN_OPTIONS = "-h", "--help", "--version"
#: A misspelt command. Another text may be an address, and no message contains one.
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")
#: The similarity of a misspelt command to the command that is meant.
_SIMILAR = 0.7
#: With this Click 8.2 and later show the help of a group without a command.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())


class _Program(Group):
    """The program; only the module of the called command is imported."""

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

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _own_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _own_errors():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            problem = _problem(args)
            if problem is None:
                args = ["lookup", *args]
            elif not ctx.resilient_parsing:  # a shell asks for completions
                fail(problem)
        return super().parse_args(ctx, args)


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
        from geolookup.cli.misuse import problem

        fail(problem(error))


def _problem(args: list[str]) -> str | None:
    """Return why the arguments are not those of ``lookup``, and what to do; None if they may be."""
    text = args[0]
    if text.startswith("-") and text != "-":
        text = _first_address(args)
        if text in COMMANDS:
            return f"options stand after the command, as in: geolookup {text} --help"
    if is_address(text) or text == "-":
        return None
    if os.path.exists(text):  # noqa: PTH110 - unlike pathlib it takes any text
        return _of_path(text)
    return f"no command {text!r}; {_hint(text)}" if _WORD.fullmatch(text) else None


def _first_address(args: list[str]) -> str:
    """Return the first text that ``lookup`` would look up; "-" without one or after an error."""
    lookup = load("lookup")
    # Resilient: errors of the options end the parsing; the command itself reports them.
    with lookup.context_class(lookup, info_name="lookup", resilient_parsing=True) as context:
        values, _, _ = lookup.make_parser(context).parse_args(list(args))
    addresses = values.get("addresses")
    return addresses[0] if isinstance(addresses, tuple) and addresses else "-"


def _hint(word: str) -> str:
    """Return the command that has this name in a group, or a similar one that changes no store."""
    groups = [command for name in SECTIONS["Groups"] if isinstance(command := load(name), Group)]
    inner = [f"{group.name} {word.lower()}" for group in groups if word.lower() in group.commands]
    if inner:
        return suggestion(*inner)
    near = near_word(word, COMMANDS.keys() - {"update"}, cutoff=_SIMILAR)
    return "'geolookup --help' lists the commands" if near is None else suggestion(near)


def _of_path(path: str) -> str:
    """Return what to run for a file or folder."""
    name = line_text(path)
    if os.path.isdir(path):  # noqa: PTH112
        return (
            f"{name} is a folder, not a command; for a dataset run 'geolookup info {name}'"
            f" or 'geolookup -d {name} IP'"
        )
    if path.endswith((".toml", ".mmdb")):
        commands = f"'geolookup check {name}' or 'geolookup build {name} -o DIR'"
    else:
        commands = f"'geolookup summarize {name}' or 'geolookup enrich {name} -o OUTPUT'"
    return f"{name} is a file, not a command; run {commands}"


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "color": True},
    epilog="Also: `geolookup help [COMMAND]...` and `geolookup version`.",
)
@click.version_option(geolookup.__version__, prog_name="geolookup")
def program() -> None:
    """Look up the location, time, currency and network of IP addresses, offline.

    An address needs no command. `geolookup COMMAND --help` shows an example of a
    command, then its options.

    Example: geolookup 8.8.8.8
    """
