"""The classes of commands: the help of each begins with its example.

A docstring ends with the paragraph ``Example: geolookup ...``. The help shows this paragraph
first, and an error of use ends with it. A group has no example: its help lists its commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import click

from geolookup.cli import fail
from geolookup.cli.registry import SUMMARIES
from geolookup.errors import GeoLookupError, line_text

_EXAMPLE = "Example: "
#: Click does not wrap a paragraph that begins with this line.
_UNWRAPPED = "\b\n"


class Command(click.Command):
    """Splits its example off the docstring; errors of use name the command."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        text, mark, example = inspect.cleandoc(settings.get("help") or "").rpartition(_EXAMPLE)
        self.example = " ".join(example.split()) if mark else ""
        if mark:
            settings["help"] = f"{_UNWRAPPED}{_EXAMPLE}{self.example}\n\n{text.strip()}"
        super().__init__(name, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raises UsageError, of this command also for an option's value."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; exit with 2 for a ValueError: the library refuses an argument."""
        try:
            return super().invoke(ctx)
        except GeoLookupError:
            raise
        except ValueError as error:
            name, space, text = str(error).partition(" ")
            options = {option.name: max(option.opts, key=len) for option in self.params}
            fail(line_text(f"{options.get(name, name)}{space}{text}"))


class Group(Command, click.Group):
    """A command that has commands of its own."""

    command_class = Command
    group_class = type

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of their definition."""
        return list(self.commands)


def command(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Return the decorator of a command that the registry lists."""
    return click.command(name, cls=Command, short_help=SUMMARIES[name])


def group(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Group]:
    """Return the decorator of a group that the registry lists."""
    return click.group(name, cls=Group, short_help=SUMMARIES[name], **settings)
