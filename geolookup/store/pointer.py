"""The pointer of a store: the published generations, the current one, and the changes of it.

Strategy: one small file lists the generations in the order of their last publication,
and marks those that a rollback withdrew. The current one is the last that is not withdrawn.
``in_force`` lists each change of the current generation with its time, the oldest first.
All is one file, so one rename changes it.
"""

from __future__ import annotations

import json
import os

from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors, open_regular

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, TypeVar

    T = TypeVar("T", "Publication", "Change")

CURRENT = "current"
GENERATIONS = "generations"
#: The folder of the generations at rest as one file each; it exists from the first one on.
ARCHIVE = "archive"
#: The folder of the rows that changed between two generations in force.
CHANGES = "changes"
#: The suffix of archives.
SUFFIX = ".tar.zst"
#: The folder of the keys that the store trusts; it may exist before the first generation.
TRUSTED = "trusted"
#: The default number of generations to keep.
KEEP = 2
#: The generations that stay folders by default: the current one, and the one of a rollback.
KEEP_UNPACKED = 2
#: The digits of an id in the name of a file of changes.
_DIGITS = 16
#: The names of these files.
CHANGES_PATTERN = "-".join(["[0-9a-f]" * _DIGITS] * 2) + ".parquet"
_FORMAT = "geolookup-store"
_VERSION = 3
_RESTORE = "restore it, or remove it and publish again"


class Publication:
    """An entry of the pointer; times are in UTC.

    ``at`` is the time of the last publication, ``since`` the time from which that counts: an
    earlier one for a generation that was put into the past.
    """

    __slots__ = ("at", "generation", "since", "withdrawn")

    def __init__(self, generation: str, at: str, since: str, *, withdrawn: bool = False) -> None:
        self.generation, self.at, self.since = generation, at, since
        self.withdrawn = withdrawn


class Change:
    """A change of the current generation: the new one, and since when (UTC) it was in force."""

    __slots__ = ("generation", "since")

    def __init__(self, generation: str, since: str) -> None:
        self.generation, self.since = generation, since


class Pointer:
    """The content of the pointer: the published generations, and the changes of the current one.

    ``published`` is in the order of the last publication, ``changes`` has the oldest first. The
    generation of a change can be pruned: then nothing is known of that time.
    """

    __slots__ = ("changes", "published")

    def __init__(self, published: list[Publication], changes: list[Change]) -> None:
        self.published, self.changes = published, changes

    @property
    def not_withdrawn(self) -> list[Publication]:
        """The generations that are not withdrawn; the last one is current."""
        return [entry for entry in self.published if not entry.withdrawn]

    @property
    def current(self) -> str | None:
        """The current generation; None without a store."""
        entries = self.not_withdrawn
        return entries[-1].generation if entries else None

    def withdraw(self, generations: Collection[str]) -> None:
        """Mark the entries of some generations as withdrawn."""
        for entry in self.published:
            entry.withdrawn |= entry.generation in generations

    def note_current(self) -> None:
        """Add a change if the current generation is another one than after the last change."""
        from geolookup.contract.gregorian import timestamp

        current, last = self.not_withdrawn[-1], self.changes[-1] if self.changes else None
        since = current.since
        if last is not None and last.generation == current.generation:
            return
        if last is not None and since < last.since:
            # A rollback: its publication is before the last change. Times never go back: the texts
            # are in UTC and of one length.
            since = max(timestamp(), last.since)
        self.changes.append(Change(current.generation, since))

    def document(self) -> dict[str, Any]:
        """Return the document of the file, without changes before the first listed generation."""
        names = {entry.generation for entry in self.published}
        kept = [at for at, change in enumerate(self.changes) if change.generation in names]
        return {
            "format": _FORMAT,
            "format_version": _VERSION,
            "published": [_members(entry) for entry in self.published],
            "in_force": [_members(change) for change in self.changes[kept[0] :]] if kept else [],
        }


def folder_of(store: str | os.PathLike[str], generation: str) -> str:
    """Return the folder of a generation in a store."""
    return os.path.join(store, GENERATIONS, generation)


def archive_of(store: str | os.PathLike[str], generation: str) -> str:
    """Return the file of a generation that a store keeps as an archive."""
    return os.path.join(store, ARCHIVE, generation + SUFFIX)


def changes_of(store: str | os.PathLike[str], old: str, new: str) -> str:
    """Return the file of the changes between two generations; 16 digits of each id name it."""
    return os.path.join(store, CHANGES, f"{old[:_DIGITS]}-{new[:_DIGITS]}.parquet")


def is_unpacked(store: str | os.PathLike[str], generation: str) -> bool:
    """Return whether a store has the folder of a generation, whether or not it has an archive."""
    return os.path.isdir(folder_of(store, generation))


def is_kept(store: str | os.PathLike[str], generation: str) -> bool:
    """Return whether a store has a generation, as a folder or as an archive."""
    return is_unpacked(store, generation) or os.path.isfile(archive_of(store, generation))


def read(store: str | os.PathLike[str]) -> Pointer:
    """Return the pointer of a store; an empty one without a store.

    Raises DatasetError for a pointer that is damaged or of another version.
    """
    path = os.path.join(store, CURRENT)
    with ReadErrors(path):
        try:
            with open_regular(path) as stream:
                text = stream.read()
        except (FileNotFoundError, NotADirectoryError, ValueError):  # not a path at all
            return Pointer([], [])
    try:
        return _parsed(json.loads(text), path)
    except (TypeError, KeyError, ValueError, RecursionError):
        raise DatasetError(path, "not the pointer of a store", _RESTORE) from None


def read_existing(store: str | os.PathLike[str]) -> Pointer:
    """Return the pointer of a store; DatasetError also without a store."""
    content = read(store)
    if not content.published:
        remedy = "name a folder made by 'geolookup update' or 'store publish'"
        raise DatasetError(store, "no store here", remedy)
    return content


def _parsed(document: Any, path: str) -> Pointer:
    # {"format": ..., "published": [{"generation": A, ...}, {"generation": B, "withdrawn": true}],
    #  "in_force": [{"generation": A, "since": ...}, {"generation": B, ...}, {"generation": A}]}
    # Current is A, the last one that is not withdrawn; a rollback withdrew B.
    if document["format"] != _FORMAT:
        raise ValueError
    version = document["format_version"]
    if type(version) is not int or version != _VERSION:
        problem = f"format version {version!r}, but this geolookup reads {_VERSION}"
        raise DatasetError(path, problem, "use the version of geolookup that wrote it")
    published = [_entry(Publication, members) for members in document["published"]]
    content = Pointer(published, [_entry(Change, members) for members in document["in_force"]])
    if content.current is None:
        raise ValueError
    return content


def _entry(kind: type[T], members: Any) -> T:
    values = {name: members[name] for name in kind.__slots__}
    for name, value in values.items():
        # ``type``: "false" counts as true, and so would any other text.
        if type(value) is not (bool if name == "withdrawn" else str):
            raise ValueError
    if not is_generation(values["generation"]):
        raise ValueError
    return kind(**values)


def _members(entry: Publication | Change) -> dict[str, object]:
    return {name: getattr(entry, name) for name in entry.__slots__}


def save(store: str | os.PathLike[str], content: Pointer) -> bool:
    """Replace the pointer, atomically and durably; return False if it is the same already.

    The change is added if another generation becomes current. A pointer that is written again
    would make engines reload.
    """
    from pathlib import Path

    from geolookup.filesystem import atomic
    from geolookup.filesystem.ownership import FILE_MODE

    content.note_current()
    document = content.document()
    if document == read(store).document():
        return False
    with atomic.staged_file(Path(store) / CURRENT, FILE_MODE) as fresh:
        fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return True
