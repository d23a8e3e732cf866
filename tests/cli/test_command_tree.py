"""All commands alike: each has its section and its example, and shared options are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from click.testing import CliRunner, Result

from geolookup import cli
from geolookup.cli.command import Command, Group
from geolookup.cli.registry import COMMANDS, SECTIONS, load
from tests.cli.program import refusal
from tests.conftest import ROOT

#: Modules of the command line that no command is in.
PARTS = {
    *("__init__", "command", "conditions", "first_argument", "misuse", "options"),
    *("quantities", "registry"),
    *("address_input", "answer_formats", "answer_table", "terminal_text"),
}


def tree() -> Iterator[tuple[str, Command | Group]]:
    """Yield every command and the commands of groups, by the name that a user types."""
    for name in COMMANDS:
        yield from branch(name, load(name))


def branch(name: str, command: Command | Group) -> Iterator[tuple[str, Command | Group]]:
    yield name, command
    if isinstance(command, Group):
        for part in command.commands.values():
            assert isinstance(part, Command | Group)
            yield from branch(f"{name} {part.name}", part)


def invoke(*args: str) -> Result:
    return CliRunner().invoke(cli._program, args, prog_name="geolookup")


def help_of(name: str) -> str:
    done = invoke(*name.split(), "--help")
    assert done.exit_code == 0, name
    return done.output


def test_every_command_has_its_section_in_the_help_and_on_the_page() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    listed = re.findall(r"^(?:## (.+)|\| `geolookup ([\w-]+)` \|)", page, re.MULTILINE)
    _, _, lists = help_of("").partition("Show this message and exit.")
    helped = re.findall(r"^(?:(\w.+):|  ([a-z-]+) .+)$", lists, re.MULTILINE)
    expected = [
        entry
        for section, names in SECTIONS.items()
        for entry in ((section, ""), *(("", name) for name in names))
    ]
    assert helped == expected
    assert listed[: len(expected)] == expected
    modules = {path.stem for path in (ROOT / "geolookup" / "cli").glob("*.py")}
    assert modules - PARTS == set(COMMANDS.values())


def test_the_help_of_every_command_begins_with_an_example() -> None:
    for name, command in tree():
        assert f"{command.example} ".startswith(f"geolookup {name.split()[0]} "), name
        lines = help_of(name).splitlines()
        assert lines[0].startswith(f"Usage: geolookup {name} "), name
        assert lines[1:4] == ["", f"  Example: {command.example}", ""], name
        assert "Example:" not in "".join(lines[4:]), name
        assert command.short_help, name


def test_errors_of_use_are_one_line_that_ends_with_a_command() -> None:
    for args, line in (
        (["build"], "build needs RECIPE; example: {build}"),
        (["build", "x"], "build needs --output DIR; example: {build}"),
        (["build", "--outptu", "x"], "build has no option --outptu; did you mean '--output'?"),
        (["fields", "--zzz"], "fields has no option --zzz; example: {fields}"),
        (
            ["info", "--infer-types"],
            "info has no option --infer-types; try enrich; example: {enrich}",
        ),
        (["info", "1.2.3.4", "::1"], "info: too many arguments; example: {info}"),
        (["recipes", "shwo"], "recipes: no such command; did you mean 'show'?"),
        (["lookup", "--at"], "lookup: Option '--at' requires an argument; example: {lookup}"),
    ):
        examples = {name: load(name).example for name in COMMANDS}
        assert refusal(*args) == line.format_map(examples)
    for text in ("8.8.8.8", "8.8.8.256", "2001:db8::1", "::x", "1::2"):
        assert text not in refusal("prune", "--keep", text)


def test_a_group_without_a_command_shows_its_help() -> None:
    for name, command in tree():
        if isinstance(command, Group) and not command.invoke_without_command:
            done = invoke(*name.split())
            assert done.output == help_of(name)
    assert invoke().output == help_of("")
