"""The program: its commands in sections, the implied command, and its errors of use in one line.

A word that is no command never leads to a command that changes a store or keys, unless it is the
name of that command in its group: ``prune`` is ``store prune``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

import geolookup
from geolookup.cli import fail
from geolookup.cli.command import Group
from geolookup.cli.registry import COMMANDS, SECTIONS, SUMMARIES, load

#: Options of the program itself; others before an address are options of ``lookup``.
_OWN_OPTIONS = "-h", "--help", "--version"
#: With this Click 8.2 and later show the help of a group without a command.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())


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
        elif args == ["version"]:
            args = ["--version"]
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            from geolookup.cli.misuse import first_problem

            problem = first_problem(args)
            if problem is None:
                args = ["lookup", *args]
            elif not ctx.resilient_parsing:  # a shell asks for completions
                fail(problem)
        return super().parse_args(ctx, args)


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
