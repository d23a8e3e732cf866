"""All commands, also the commands of groups, by the name that a user types."""

from __future__ import annotations

from collections.abc import Iterator

from tests.internals.cli import COMMANDS, Command, Group, load


def tree() -> Iterator[tuple[str, Command | Group]]:
    """Yield every command after its name."""
    for name in COMMANDS:
        yield from _branch(name, load(name))


def _branch(name: str, command: Command | Group) -> Iterator[tuple[str, Command | Group]]:
    yield name, command
    if isinstance(command, Group):
        for part in command.commands.values():
            assert isinstance(part, Command | Group)
            yield from _branch(f"{name} {part.name}", part)
