"""The commands in their sections, in the order of use; a command is imported when it is called."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as mypy reads it
if TYPE_CHECKING:
    from geolookup.cli.command import Command, Group

#: For each section of the help its commands: the module of each, and its summary. The command is
#: an attribute of the module with its name. The list needs no module of a command.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Every day": {
        "lookup": ("addresses", "Look addresses up."),
        "enrich": ("address_files", "Add columns of answers to files of addresses."),
        "summarize": ("address_files", "Count the countries, cities and networks of a file."),
        "map": ("address_files", "Show the addresses of a file as one HTML page."),
        "prefixes": ("prefixes", "List the prefixes whose answers meet conditions."),
        "build": ("build", "Compile a recipe into a dataset."),
        "update": ("update", "Bring a store up to date: with a recipe, an archive or a mirror."),
        "serve": ("serve", "Answer lookups over HTTP."),
    },
    "Answers": {
        "explain": ("addresses", "Name the sources that decided an answer."),
        "history": ("addresses", "Show when an answer changed."),
        "fields": ("info", "List the fields of an answer."),
    },
    "Text": {
        "annotate": ("inline_text", "Add a tag to each address in a text."),
        "grep": ("inline_text", "Keep the lines whose addresses meet conditions."),
    },
    "Datasets": {
        "info": ("info", "Describe a dataset."),
        "check": ("build", "Check a recipe or data without making a dataset."),
        "recipes": ("info", "List, print and copy packaged recipes."),
        "slice": ("build", "Write a part of a dataset as a dataset."),
        "export": ("export", "Write a dataset in the format of another tool."),
    },
    "Comparisons": {
        "diff": ("comparison", "Compare two datasets."),
        "score": ("comparison", "Score datasets against ground truth."),
        "report": ("comparison", "Show a dataset as one HTML page."),
    },
    "Groups": {
        "store": ("store", "Publish, verify, roll back and prune datasets."),
        "mirror": ("mirror", "Pack, sign and copy datasets; write a folder that stores follow."),
        "accounts": ("accounts", "Manage API keys, usage, plans and backups."),
    },
}
_COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
#: The module of each command, and its summary: the line in the list of commands.
COMMANDS = {name: module for name, (module, _) in _COMMANDS.items()}
SUMMARIES = {name: summary for name, (_, summary) in _COMMANDS.items()}


def load(name: str) -> Command | Group:
    """Import and return the command with this name. Raises KeyError for an unknown name."""
    module = import_module(f"geolookup.cli.{COMMANDS[name]}")
    command: Command | Group = getattr(module, name)
    return command
