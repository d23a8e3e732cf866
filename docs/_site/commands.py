"""The pages of commands: example, usage, help and options, generated from the command line.

``docs/reference/commands/NAME.md`` has the title, a sentence and the guide; the rest is added
before its first section. ``index.md`` gets the lists of all commands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import click

from geolookup.cli.command import Group
from geolookup.cli.registry import SECTIONS, load

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from geolookup.cli.command import Command

_FOLDER = "reference/commands/"
#: Code in a help text: an option, a variable, a text in apostrophes; first, code that is marked.
_CODE = re.compile(r"(`[^`]+`)|((?<![\w-])--?[a-z][\w-]*|\$\w+(?:=\w+)?|(?<!\w)'[^']+'(?!\w))")
_DEFAULT = re.compile(r"\[default: (.+?)\]\.?", re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Complete the page of each command."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _append(_app: Sphinx, page: str, content: list[str]) -> None:
    if page.startswith(_FOLDER):
        name = page.removeprefix(_FOLDER)
        generated = lists() if name == "index" else _page(name)
        start, mark, sections = content[0].partition("\n## ")
        content[0] = "\n".join([start, *generated]) + mark + sections


def _page(name: str) -> Iterator[str]:
    command = load(name)
    yield f"{_related(name)}\n"
    context = click.Context(command, info_name=f"geolookup {name}")
    yield from _command(command, context)
    if isinstance(command, Group):
        yield from _sections(dict(_parts(command, context)))


def lists() -> Iterator[str]:
    """Yield the list of the commands of each section."""
    for section, names in SECTIONS.items():
        yield f"## {section}\n\n| command | does |\n|---|---|"
        yield from (f"| [`{name}`]({name}.md) | {load(name).short_help} |" for name in names)
        yield ""


def _related(name: str) -> str:
    """Link the section of a command, and the other commands of the section."""
    section, names = next((title, names) for title, names in SECTIONS.items() if name in names)
    anchor = section.lower().replace(" ", "-")
    others = ", ".join(f"[{other}]({other}.md)" for other in names if other != name)
    return f"More in [{section}](index.md#{anchor}): {others}."


def _command(command: Command | Group, context: click.Context) -> Iterator[str]:
    path = context.command_path
    if command.example:
        usage = " ".join(command.collect_usage_pieces(context))
        yield f"```{{code-block}} console\n:class: wrapped\n\n$ {command.example}\n```\n"
        yield f"```{{code-block}} text\n:class: wrapped\n\nUsage: {path} {usage}\n```\n"
        yield _marked((command.help or "").partition("\n\n")[2]) + "\n"
    yield f"```{{program}} {path}\n```\n"
    options = [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    if options:
        yield "```{rubric} Options\n```\n"
        yield from map(_option, options)


def _parts(group: Group, context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """Yield the commands of a group with their contexts; one of an inner group as ``keys list``."""
    for name, part in group.commands.items():
        inner = click.Context(part, info_name=name, parent=context)
        if isinstance(part, Group):
            yield from ((f"{name} {own}", deeper) for own, deeper in _parts(part, inner))
        else:
            yield name, inner


def _sections(parts: dict[str, click.Context]) -> Iterator[str]:
    """List the commands of a group, and describe each under a heading of its own."""
    yield "| command | does |\n|---|---|"
    for name, context in parts.items():
        yield f"| [{name}](#{name.replace(' ', '-')}) | {context.command.short_help} |"
    for name, context in parts.items():
        yield f"\n## {name}\n"
        yield from _command(cast("Command", context.command), context)


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
