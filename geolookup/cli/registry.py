"""The commands in their sections, in the order of use; a command is imported when it is called."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as mypy reads it
if TYPE_CHECKING:
    from geolookup.cli.command import Command, Group

#: For each section of the help its commands, and the module of each. The command is an attribute
#: of the module: ``api_keys`` for ``api-keys``.
SECTIONS: dict[str, dict[str, str]] = {
    "Look up": {
        "lookup": "lookup",
        "explain": "explain",
        "history": "history",
        "fields": "info",
    },
    "Files and text": {
        "enrich": "enrich_files",
        "summarize": "traffic",
        "annotate": "inline_text",
        "grep": "inline_text",
    },
    "Lists and exports": {"prefixes": "prefixes", "export": "export"},
    "Reports": {
        "info": "info",
        "report": "comparison",
        "map": "traffic",
        "diff": "comparison",
        "score": "comparison",
    },
    "Make a dataset": {
        "recipes": "info",
        "check": "build",
        "build": "build",
        "slice": "slice",
        "size": "slice",
        "download": "build",
        "verify": "signing",
    },
    "Stores": {
        "update": "update",
        "publish": "store",
        "rollback": "store",
        "generations": "store",
        "prune": "store",
    },
    "Mirrors and signatures": {
        "pack": "archives",
        "unpack": "archives",
        "mirror": "archives",
        "follow": "follow",
        "sign": "signing",
        "signing-keys": "signing",
    },
    "Service": {
        "serve": "serve",
        "api-keys": "accounts",
        "accounts": "accounts",
    },
}
#: The module of each command.
COMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}


def load(name: str) -> Command | Group:
    """Import and return the command with this name. Raises KeyError for an unknown name."""
    module = import_module(f"geolookup.cli.{COMMANDS[name]}")
    command: Command | Group = getattr(module, name.replace("-", "_"))
    return command
