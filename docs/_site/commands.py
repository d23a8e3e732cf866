"""The page of commands: for each an example, its usage, help and options, from the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from geolookup.cli.command import Group
from geolookup.cli.registry import SECTIONS, load

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from geolookup.cli.command import Command

_PAGE = "reference/commands"
#: Code in a help text: an option, a variable, a text in apostrophes; first, code that is marked.
_CODE = re.compile(r"(`[^`]+`)|((?<![\w-])--?[a-z][\w-]*|\$\w+(?:=\w+)?|(?<!\w)'[^']+'(?!\w))")
_DEFAULT = re.compile(r"\[default: (.+?)\]\.?", re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Complete the page of commands."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _append(_app: Sphinx, page: str, content: list[str]) -> None:
    if page == _PAGE:
        content[0] = "\n".join([content[0], *_sections()])


def _sections() -> Iterator[str]:
    """List the commands of each section, and describe each under a heading of its own."""
    for section, names in SECTIONS.items():
        commands = dict(part for name in names for part in _parts(load(name), name))
        yield f"## {section}\n\n| command | does |\n|---|---|"
        for name, context in commands.items():
            yield f"| [`{name}`](#{name.replace(' ', '-')}) | {context.command.short_help} |"
        for name, context in commands.items():
            yield f"\n### {name}\n"
            yield from _command(context)


def _parts(
    command: click.Command, name: str, outer: click.Context | None = None
) -> Iterator[tuple[str, click.Context]]:
    """Yield a command with its context, or the commands of a group, such as ``store publish``."""
    info_name = f"geolookup {name}" if outer is None else name.rpartition(" ")[2]
    context = click.Context(command, info_name=info_name, parent=outer)
    if not isinstance(command, Group) or command.invoke_without_command:
        yield name, context
    for inner, part in getattr(command, "commands", {}).items():
        yield from _parts(part, f"{name} {inner}", context)


def _command(context: click.Context) -> Iterator[str]:
    command: Command | Group = context.command  # type: ignore[assignment]
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```{{code-block}} console\n:class: wrapped\n\n$ {command.example}\n```\n"
    yield f"```{{code-block}} text\n:class: wrapped\n\nUsage: {context.command_path} {usage}\n```\n"
    yield _marked((command.help or "").partition("\n\n")[2]) + "\n"
    yield f"```{{program}} {context.command_path}\n```\n"
    options = [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    if options:
        yield "```{rubric} Options\n```\n"
        yield from map(_option, options)


def _option(option: click.Option) -> str:
    """Return an option with its value, help, default and choices."""
    value = "" if option.is_flag else f" {option.metavar or 'VALUE'}"
    parts = ["**Required.**"] if option.required else []
    parts.append(_marked(_DEFAULT.sub("", option.help or "").strip()))
    parts += [f"Default: {_marked(_default(option))}."] if _default(option) else []
    if isinstance(option.type, click.Choice):
        parts.append("One of " + ", ".join(f"`{choice}`" for choice in option.type.choices) + ".")
    names = ", ".join(sorted([*option.opts, *option.secondary_opts], key=len))
    return f"```{{option}} {names}{value}\n{' '.join(parts)}\n```\n"


def _default(option: click.Option) -> str:
    """Return the default that the help states, or that click shows; an empty text without one."""
    stated = _DEFAULT.search(option.help or "")
    if stated:
        return " ".join(stated[1].split())
    return f"`{option.default}`" if option.show_default else ""


def _marked(text: str) -> str:
    """Return a help text as Markdown: options, variables and quoted texts become code."""
    return _CODE.sub(lambda match: match[1] or f"`{match[2].strip(chr(39))}`", text)
