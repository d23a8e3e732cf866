"""The manifest: the description of a dataset and of its files. Only this module accesses it.

Strategy: opening a dataset needs few of the members, so each is checked when it is read. No
dataclasses: importing them costs a cold start several milliseconds, and the classes here are read
only by their properties.
"""

from __future__ import annotations

import json
import os
import time

from geolookup.contract.schema import CONTRACT, Schema, column_members, own_schema
from geolookup.dataset import layout as fmt
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import check_regular

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from geolookup.dataset.metadata import Metadata

    #: What the manifest states of a file: its bytes, sha256, rows and columns.
    Entry = dict[str, Any]

#: Data older than this number of days are old: users are told to update them.
OLD_AFTER = 180
#: The members that every manifest has.
MEMBERS = frozenset(
    (
        *("format", "format_version", "generation", "name", "sources"),
        *("credits", "fields", "counts", "coverage", "files"),
    )
)
#: The own columns of the dataset; absent without any.
COLUMNS = "columns"
#: The generation id is of all members but these: another Arrow may lay files out differently.
_PHYSICAL = ("generation", "files")
_DIGITS = frozenset("0123456789abcdef")


class Manifest:
    """The manifest of a dataset."""

    __slots__ = ("_document", "path")

    def __init__(self, path: str | os.PathLike[str], document: dict[str, Any]) -> None:
        self.path = path  # of manifest.json, for messages
        self._document = document

    @classmethod
    def of(cls, **members: Any) -> Manifest:
        """Return the manifest before the files are written, from ``name`` and other members.

        They are as JSON has them; ``with_generation`` adds the last two.
        """
        document = {"format": fmt.FORMAT, "format_version": fmt.FORMAT_VERSION, **members}
        return cls(fmt.MANIFEST, document)

    def with_generation(self, generation: str, files: Mapping[str, Entry]) -> Manifest:
        """Return the whole manifest, with generation id and files."""
        physical = {"generation": generation, "files": dict(files)}
        return Manifest(self.path, {**self._document, **physical})

    @property
    def generation(self) -> str:
        """The SHA-256 of the content, the same wherever it was built."""
        generation: str = self._document["generation"]
        return generation

    @property
    def schema(self) -> Schema:
        """The fields of the dataset; DatasetError if its own columns are malformed."""
        if COLUMNS not in self._document:
            return CONTRACT
        try:
            schema = own_schema(self._document[COLUMNS])
        except (TypeError, ValueError, AttributeError, KeyError):
            raise self._damage_error() from None
        # Without own columns there is no such member, and a default is left out.
        if schema is CONTRACT or [*map(column_members, schema.own)] != self._document[COLUMNS]:
            raise self._damage_error()
        return schema

    @property
    def files(self) -> dict[str, Entry]:
        """The entry of each file; DatasetError unless they are the files of a dataset."""
        entries: dict[str, Entry] = self._document["files"]
        if entries.keys() != {*fmt.files(self.schema)}:
            problem = "the files in the manifest are not the files of a dataset"
            raise DatasetError(self.path, problem, REBUILD)
        for entry in entries.values():
            size = entry.get("bytes") if isinstance(entry, dict) else None
            if type(size) is not int or size < 0:
                raise self._damage_error()
        return entries

    def file(self, name: str) -> Entry:
        """Return the entry of a file; an empty one if it is not described."""
        entry = self._document["files"].get(name)
        return entry if isinstance(entry, dict) else {}

    def check(self) -> None:
        """Raise DatasetError unless it has all members, no other, and each is well-formed."""
        if wrongs := (self._document.keys() - {COLUMNS}) ^ MEMBERS:
            wrong = min(wrongs)
            problem = f"{wrong!r} is missing" if wrong in MEMBERS else f"unknown {wrong!r}"
            raise DatasetError(self.path, problem, REBUILD)
        self.metadata()

    @property
    def may_be_old(self) -> bool:
        """Whether ``metadata().age`` may be above 180 days; unlike that it costs no import.

        False if all dates of deciding sources are of the form YYYY-MM-DD and not before that day.
        """
        # ISO dates compare as texts: "2025-12-31" < "2026-01-01".
        earliest = time.strftime("%Y-%m-%d", time.gmtime(time.time() - OLD_AFTER * 86400))
        try:
            deciding = [source for source in self._document["sources"] if source["coverage"]]
            dates = [source.get("date") for source in deciding]
            return not all(date is None or _is_day_from(earliest, date) for date in dates)
        except (TypeError, KeyError, AttributeError):
            raise self._damage_error() from None

    def metadata(self) -> Metadata:
        """Return the metadata of the dataset; DatasetError if it is damaged."""
        from geolookup.dataset.metadata import read_metadata

        try:
            sizes = (entry["bytes"] for entry in self.files.values())
            return read_metadata(self._document, sizes)
        except (TypeError, KeyError, AttributeError, ValueError):
            raise self._damage_error() from None

    def _damage_error(self) -> DatasetError:
        return DatasetError(self.path, "the manifest is damaged", REBUILD)

    def canonical(self) -> bytes:
        """Return its one serialisation."""
        from geolookup.dataset.digests import canonical

        return canonical(self._document)

    def logical(self) -> bytes:
        """Return the canonical text that the generation id covers, besides the columns."""
        from geolookup.dataset.digests import canonical

        members = self._document.items()
        return canonical({name: value for name, value in members if name not in _PHYSICAL})


def read_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Return the manifest of a dataset; DatasetError if it is missing or of another version."""
    return parsed_manifest(manifest_text(folder), os.path.join(folder, fmt.MANIFEST))


def manifest_text(folder: str | os.PathLike[str]) -> bytes:
    """Return the content of a dataset's manifest; DatasetError if it cannot be read."""
    path = os.path.join(folder, fmt.MANIFEST)
    try:
        return _text(path)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_dataset(folder) from None
    except OSError as error:
        raise DatasetError(path, error.strerror or "unreadable", "check its permissions") from error
    except ValueError:  # not a path at all
        raise DatasetError(path, "not a manifest", REBUILD) from None


def parsed_manifest(text: bytes, path: str | os.PathLike[str]) -> Manifest:
    """Parse the text of a manifest. DatasetError, with ``path``, for any other text."""
    try:
        document = _json(text)
    except (ValueError, RecursionError):
        raise DatasetError(path, "not a manifest", REBUILD) from None
    if not isinstance(document, dict) or document.get("format") != fmt.FORMAT:
        raise DatasetError(path, "not the manifest of a geolookup dataset", REBUILD)
    version = document.get("format_version")
    if type(version) is not int or version != fmt.FORMAT_VERSION:  # JSON's true equals 1
        problem = f"format version {version!r}, but this geolookup reads {fmt.FORMAT_VERSION}"
        raise DatasetError(path, problem, REBUILD)
    if not isinstance(document.get("files"), dict):
        raise DatasetError(path, "the manifest is damaged", REBUILD)
    if not is_generation(document.get("generation")):
        raise DatasetError(path, "its 'generation' is not a generation id", REBUILD)
    return Manifest(path, document)


def _no_dataset(path: str | os.PathLike[str]) -> DatasetError:
    from geolookup.dataset import mistaken

    remedy = "name a folder that 'geolookup build' made"
    if not os.path.exists(path):
        remedy = f"there is no such file or folder; {remedy}, or a file of data"
    nothing = "no dataset here", remedy
    return DatasetError(path, *(mistaken(os.fspath(path)) or nothing))


def is_dataset(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder holds a dataset, of any version; the file name proves nothing."""
    try:
        document = _json(_text(os.path.join(folder, fmt.MANIFEST)))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == fmt.FORMAT


def is_generation(value: object) -> bool:
    """Return whether a value is a generation id: safe as a folder name and in an HTTP header."""
    return isinstance(value, str) and len(value) == 64 and _DIGITS.issuperset(value)


def _text(path: str) -> bytes:
    check_regular(path)
    with open(path, "rb", buffering=0) as stream:
        return stream.read()


def _json(text: bytes) -> Any:
    document = json.loads(text)
    # A surrogate without its pair is not text, and cannot be printed.
    if b"\\ud" in text or b"\\uD" in text:
        json.dumps(document, ensure_ascii=False).encode()
    return document


def _is_day_from(earliest: str, date: str) -> bool:
    # Characters 4 and 7 of YYYY-MM-DD are its hyphens.
    is_day = date[4:8:3] == "--" and (date[:4] + date[5:7] + date[8:10]).isdecimal()
    return is_day and date >= earliest
