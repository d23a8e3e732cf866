"""The command line: one registry of names, each a click command of its own module."""

from __future__ import annotations

import importlib

import click

from geolookup import kernel

#: A benchmark is added by writing a module with a ``command`` and naming it here.
COMMANDS = ("build", "fleet", "http", "opening", "past", "peers", "tables")


class Commands(click.Group):
    """The benchmarks; the module of one is imported when it runs."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names."""
        return ["generate", *COMMANDS]

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Return the command of a benchmark."""
        if name not in self.list_commands(_context):
            return None
        room = "data" if name == "generate" else name
        command: click.Command = importlib.import_module(f"benchmarks.{room}.command").command
        return command


@click.group(name="benchmarks", cls=Commands)
def main() -> None:
    """Measure geolookup.

    Nothing is measured if the compiled kernel is missing or older than its sources, unless
    GEOLOOKUP_KERNEL=python asks for the Python kernel.
    """
    if kernel.NOTICE:
        remedy = "or set GEOLOOKUP_KERNEL=python to measure the Python kernel"
        raise click.ClickException(f"{kernel.NOTICE}; {remedy}")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
