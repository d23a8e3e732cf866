"""The commands in their sections, in the order of use; a command is imported when it is called."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as mypy reads it
if TYPE_CHECKING:
    from geolookup.cli.command import Command, Group

#: For each section of the help its commands: the module of each, and its summary. The command is an
#: attribute of the module: ``api_keys`` for ``api-keys``. The list needs no module of a command.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Look up": {
        "lookup": ("lookup", "Look addresses up."),
        "explain": ("explain", "Name the sources that decided an answer."),
        "history": ("history", "Show when an answer changed."),
        "fields": ("info", "List the fields of an answer."),
    },
    "Files and text": {
        "enrich": ("enrich_files", "Add columns of answers to files of addresses."),
        "summarize": ("traffic", "Count the countries, cities and networks of a file."),
        "annotate": ("inline_text", "Add a tag to each address in a text."),
        "grep": ("inline_text", "Keep the lines whose addresses meet conditions."),
    },
    "Lists and exports": {
        "prefixes": ("prefixes", "List the prefixes whose answers meet conditions."),
        "export": ("export", "Write a dataset in the format of another tool."),
    },
    "Reports": {
        "info": ("info", "Describe a dataset."),
        "report": ("comparison", "Show a dataset as one HTML page."),
        "map": ("traffic", "Show the addresses of a file as one HTML page."),
        "diff": ("comparison", "Compare two datasets."),
        "score": ("comparison", "Score datasets against ground truth."),
    },
    "Make a dataset": {
        "recipes": ("info", "List, print and copy packaged recipes."),
        "check": ("build", "Check a recipe or data without making a dataset."),
        "build": ("build", "Compile a recipe into a dataset."),
        "slice": ("slice", "Write a part of a dataset as a dataset."),
        "verify": ("signing", "Check a dataset for damage."),
    },
    "Stores": {
        "update": ("update", "Bring a store up to date: with a recipe, an archive or a mirror."),
        "publish": ("store", "Make a dataset the current one of a store."),
        "rollback": ("store", "Return to the previous generation."),
        "generations": ("store", "List the generations of a store."),
        "prune": ("store", "Remove old generations from a store."),
    },
    "Mirrors and signatures": {
        "pack": ("archives", "Pack a dataset into one file."),
        "unpack": ("archives", "Unpack a packed dataset."),
        "mirror": ("archives", "Write a store as a folder that other stores follow."),
        "sign": ("signing", "Sign a dataset."),
        "signing-keys": ("signing", "Make keys for signatures, and trust them."),
    },
    "Service": {
        "serve": ("serve", "Answer lookups over HTTP."),
        "api-keys": ("accounts", "Create, list and revoke API keys."),
        "accounts": ("accounts", "Show usage, audit log and plans; back up and restore."),
    },
}
_COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
#: The module of each command, and its summary: the line in the list of commands.
COMMANDS = {name: module for name, (module, _) in _COMMANDS.items()}
SUMMARIES = {name: summary for name, (_, summary) in _COMMANDS.items()}


def load(name: str) -> Command | Group:
    """Import and return the command with this name. Raises KeyError for an unknown name."""
    module = import_module(f"geolookup.cli.{COMMANDS[name]}")
    command: Command | Group = getattr(module, name.replace("-", "_"))
    return command
