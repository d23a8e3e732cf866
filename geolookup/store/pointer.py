"""The pointer of a store: the published generations, and which one is current.

Strategy: one small file lists the generations in the order of their last publication,
and marks those that a rollback withdrew. The current one is the last that is not withdrawn.
History and pointer are one file, so one rename changes both.
"""

from __future__ import annotations

import json
import os

from geolookup.dataset.layout import MANIFEST
from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError
from geolookup.filesystem import NUL_IN_NAME, check_regular

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

CURRENT = "current"
GENERATIONS = "generations"
#: The folder of the keys that the store trusts; it may exist before the first generation.
TRUSTED = "trusted"
#: The default number of generations to keep.
KEEP = 2
_FORMAT = "geolookup-store"
_VERSION = 1
_RESTORE = "restore it, or remove it and publish again"


class Publication:
    """An entry of the pointer: id, time of the last publication (UTC), whether withdrawn."""

    __slots__ = ("at", "generation", "withdrawn")

    def __init__(self, generation: str, at: str, *, withdrawn: bool = False) -> None:
        self.generation, self.at, self.withdrawn = generation, at, withdrawn


def folder_of(store: str | os.PathLike[str], generation: str) -> str:
    """Return the folder of a generation in a store."""
    return os.path.join(store, GENERATIONS, generation)


def not_withdrawn(published: Iterable[Publication]) -> list[Publication]:
    """Return the generations that are not withdrawn; the last one is current."""
    return [entry for entry in published if not entry.withdrawn]


def read(store: str | os.PathLike[str]) -> list[Publication]:
    """Return the published generations, the newest last; an empty list without a store.

    Raises DatasetError for a pointer that is damaged or of another version.
    """
    path = os.path.join(store, CURRENT)
    try:
        check_regular(path)
        with open(path, "rb") as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: not a path at all
        return []
    except IsADirectoryError:
        raise DatasetError(path, "not the pointer of a store", _RESTORE) from None
    except OSError as error:
        if error.strerror == NUL_IN_NAME:
            raise DatasetError(store, NUL_IN_NAME, "correct the path") from error
        raise DatasetError(path, error.strerror or "unreadable", "check its permissions") from error
    try:
        return _entries(json.loads(text), path)
    except (TypeError, KeyError, ValueError, RecursionError):
        raise DatasetError(path, "not the pointer of a store", _RESTORE) from None


def read_existing(store: str | os.PathLike[str]) -> list[Publication]:
    """Return the published generations, the newest last; DatasetError also without a store."""
    published = read(store)
    if not published:
        remedy = "name a folder made by 'geolookup update' or 'publish'"
        if os.path.exists(os.path.join(store, MANIFEST)):
            problem = "no store here, but a dataset"
            raise DatasetError(store, problem, f"'geolookup info {store}' describes it")
        raise DatasetError(store, "no store here", remedy)
    return published


def entry_now(generation: str) -> Publication:
    """Return the entry of a generation that is published at present."""
    from geolookup.contract.gregorian import timestamp

    return Publication(generation, timestamp())


def _entries(document: Any, path: str) -> list[Publication]:
    # {"format": ..., "published": [{"generation": A, ...}, {"generation": B, "withdrawn": true}]}:
    # current is A, the last one that is not withdrawn.
    if document["format"] != _FORMAT:
        raise ValueError
    version = document["format_version"]
    if type(version) is not int or version != _VERSION:
        problem = f"format version {version!r}, but this geolookup reads {_VERSION}"
        raise DatasetError(path, problem, "use the version of geolookup that wrote it")
    published = [_entry(entry) for entry in document["published"]]
    if not not_withdrawn(published):
        raise ValueError
    return published


def _entry(members: Any) -> Publication:
    generation, at, withdrawn = members["generation"], members["at"], members["withdrawn"]
    # ``type``: "false" counts as true, and so would any other text.
    if not is_generation(generation) or type(at) is not str or type(withdrawn) is not bool:
        raise ValueError
    return Publication(generation, at, withdrawn=withdrawn)


def write(store: str | os.PathLike[str], published: Sequence[Publication]) -> None:
    """Replace the pointer, atomically and durably."""
    from pathlib import Path

    from geolookup.filesystem import atomic
    from geolookup.filesystem.ownership import FILE_MODE

    members = [
        {name: getattr(entry, name) for name in Publication.__slots__} for entry in published
    ]
    document = {"format": _FORMAT, "format_version": _VERSION, "published": members}
    with atomic.staged_file(Path(store) / CURRENT, FILE_MODE) as fresh:
        fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
