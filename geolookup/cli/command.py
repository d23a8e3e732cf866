"""The classes of commands: the help of each begins with its example.

A docstring ends with the paragraph ``Example: geolookup ...``. The help shows this paragraph
first, and an error of use ends with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import click

from geolookup.cli.registry import COMMANDS, SECTIONS, SUMMARIES, load
from geolookup.errors import near_match

_EXAMPLE = "Example: "
#: Click does not wrap a paragraph that begins with this line.
_UNWRAPPED = "\b\n"


class MissingParameters(click.UsageError):
    """All required arguments and options that are missing.

    ``has_surplus``: there are more arguments than the command has.
    """

    def __init__(
        self, ctx: click.Context, parameters: list[click.Parameter], *, has_surplus: bool
    ) -> None:
        super().__init__("parameters are missing", ctx)
        self.parameters, self.has_surplus = parameters, has_surplus


class _WithExample(click.Command):
    """Splits its example off the docstring; its errors of use name the command."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        self.example, settings["help"] = split_example(settings.get("help") or "")
        super().__init__(name, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raises UsageError."""
        typed = list(args)  # Click empties ``args``
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            raise self._missing(error.ctx or ctx, typed) from error
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def _missing(self, ctx: click.Context, args: list[str]) -> MissingParameters:
        """Return the error for all missing parameters; Click names the first one only."""
        values, surplus, _ = self.make_parser(ctx).parse_args(args)
        missing = [
            parameter
            for parameter in self.params
            if parameter.required
            and parameter.value_is_missing(parameter.consume_value(ctx, values)[0])
        ]
        return MissingParameters(ctx, missing, has_surplus=bool(surplus))


class Command(_WithExample):
    """A command."""


class Group(_WithExample, click.Group):
    """A command that has commands of its own."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; raises UsageError for another word."""
        names = self.list_commands(ctx)
        if args[0] not in names and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command; {near_match(args[0], names)}", ctx)
        return super().resolve_command(ctx, args)


def split_example(docstring: str) -> tuple[str, str]:
    """Return the example of a docstring, and the help; it begins with the example."""
    text = inspect.cleandoc(docstring)
    text, mark, example = text.rpartition(_EXAMPLE)
    example = " ".join(example.split())
    return (
        (example, f"{_UNWRAPPED}{_EXAMPLE}{example}\n\n{text.strip()}") if mark else ("", example)
    )


def command(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Return the decorator of a command that the registry lists."""
    return click.command(name, cls=Command, short_help=SUMMARIES[name])


def group(name: str, *, needs_no_command: bool = False) -> Callable[[Callable[..., Any]], Group]:
    """Return the decorator of a group: with ``needs_no_command`` one that also runs itself."""
    settings = {"short_help": SUMMARIES[name], "invoke_without_command": needs_no_command}
    return click.group(name, cls=Group, **settings)


class Sections(Group):
    """All commands, listed in sections; only the module of the called command is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name; None if there is none."""
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each section; the summaries of all sections are aligned."""
        width = max(map(len, COMMANDS))
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), SUMMARIES[name]) for name in names])
