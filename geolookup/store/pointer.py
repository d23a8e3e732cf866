"""The pointer of a store: which generations were published, and so which one is current.

Strategy: one small file lists the generations in the order in which each was last
published, and which of them were withdrawn by a rollback; the current one is the last that
was not. History and pointer are one file, so that one rename changes both or neither.
"""

from __future__ import annotations

import json
import os

from geolookup.errors import DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

CURRENT = "current"
GENERATIONS = "generations"
_FORMAT = "geolookup-store"
_VERSION = 1
_DIGITS = frozenset("0123456789abcdef")
_RESTORE = "restore it, or remove it and publish again"


class Published:
    """A generation of a store: its id, when it was last published (UTC), whether withdrawn."""

    __slots__ = ("at", "generation", "withdrawn")

    def __init__(self, generation: str, at: str, *, withdrawn: bool = False) -> None:
        self.generation, self.at, self.withdrawn = generation, at, withdrawn


def folder_of(store: str | os.PathLike[str], generation: str) -> str:
    """Return where a store keeps a generation."""
    return os.path.join(store, GENERATIONS, generation)


def is_generation(text: object) -> bool:
    """Return whether this is the id of a generation, and so fit to be a folder's name."""
    return isinstance(text, str) and len(text) == 64 and _DIGITS.issuperset(text)


def standing(published: Iterable[Published]) -> list[Published]:
    """Return the generations that were not withdrawn; the last is the current one."""
    return [each for each in published if not each.withdrawn]


def read(store: str | os.PathLike[str]) -> list[Published]:
    """Return what a store has published, the latest last; nothing where there is no store.

    Raises DatasetError for a pointer that is damaged or of another version.
    """
    path = os.path.join(store, CURRENT)
    try:
        with open(path, "rb") as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last: no path at all
        return []
    except OSError as error:
        raise DatasetError(path, error.strerror or "unreadable", "check its permissions") from error
    try:
        return _published(json.loads(text), path)
    except (TypeError, KeyError, ValueError, RecursionError):
        raise DatasetError(path, "not the pointer of a store", _RESTORE) from None


def _published(stated: Any, path: str) -> list[Published]:
    if stated["format"] != _FORMAT:
        raise ValueError
    if stated["format_version"] != _VERSION:
        problem = f"format version {stated['format_version']!r}, but {_VERSION} is what is read"
        raise DatasetError(path, problem, "use the geolookup that wrote it")
    published = [
        Published(each["generation"], str(each["at"]), withdrawn=bool(each["withdrawn"]))
        for each in stated["published"]
    ]
    if not standing(published) or not all(is_generation(each.generation) for each in published):
        raise ValueError
    return published


def write(store: str | os.PathLike[str], published: Sequence[Published]) -> None:
    """Make this what a store has published, in one step that is there to stay."""
    from pathlib import Path

    from geolookup.filesystem import atomic

    members = [{name: getattr(each, name) for name in Published.__slots__} for each in published]
    stated = {"format": _FORMAT, "format_version": _VERSION, "published": members}
    with atomic.staged_file(Path(store) / CURRENT) as fresh:
        fresh.write_text(json.dumps(stated, indent=1) + "\n", encoding="utf-8")
