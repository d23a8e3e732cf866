"""The program: its commands, the implied one, and its errors of use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import geolookup
from geolookup.cli import fail
from geolookup.cli.command import Sections
from geolookup.cli.registry import COMMANDS

#: Options of the program itself; others before an address are options of ``lookup``.
_OWN_OPTIONS = "-h", "--help", "--version"
#: With this Click 8.2 and later show the help of a group without a command.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())


class _Program(Sections):
    """The program; its arguments may begin with an address, and errors of use are one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _closed_pipe(), _one_line_misuse():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _closed_pipe(), _one_line_misuse():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            from geolookup.cli.first_argument import with_implied_command

            args = with_implied_command(args, is_typed=ctx.resilient_parsing)
        return super().parse_args(ctx, args)


@contextmanager
def _closed_pipe() -> Iterator[None]:
    """Hide the error number of a closed pipe: for EPIPE, Click would exit with status 1."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError from error


@contextmanager
def _one_line_misuse() -> Iterator[None]:
    """Exit with status 2 and one line for an error of use; Click would print three."""
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, _HELP):
            raise
        from geolookup.cli.misuse import problem

        fail(problem(error))


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"], "color": True})
@click.version_option(geolookup.__version__, prog_name="geolookup")
def program() -> None:
    """Look up the location, time, currency and network of IP addresses, offline.

    An address needs no command. `geolookup COMMAND --help` shows an example of a
    command, then its options.

    Example: geolookup 8.8.8.8
    """
