"""The index of a mirror: its current generation, and the archives that bring a store to it.

It is the payload of an envelope (``signing.envelope``), in the file ``INDEX`` of the mirror. It is
not trusted: each member is checked when it is read, and paths stay within the mirror.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from geolookup.contract.gregorian import read_timestamp
from geolookup.dataset.digests import canonical
from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError
from geolookup.signing.envelope import open_envelope, seal
from geolookup.signing.keys import PrivateKey, PublicKey

INDEX = "index.json"
#: The folder of the archives.
ARCHIVES = "archives"
#: The kind of document, as its envelope states it.
KIND = "mirror"
#: Bytes of an archive, characters of a statement, entries of a list.
_LARGEST_FILE = 64 << 30
_LARGEST_TEXT = 64 << 10
_MOST_ENTRIES = 1000
_FORMAT, _VERSION = "geolookup-mirror", 2
#: No part begins with a dot: neither ".." nor a hidden name.
_PART = "[A-Za-z0-9_][A-Za-z0-9._-]{0,254}"
_PATH = re.compile(rf"{_PART}(?:/{_PART}){{0,7}}")
_FETCH = "fetch it again, or write it again with 'geolookup mirror write'"


@dataclass(frozen=True, slots=True)
class File:
    """A file of a mirror."""

    path: str  # from the folder of the index, with "/" between its parts
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A generation of a mirror."""

    generation: str
    published_at: str  # when the mirrored store published it, ISO 8601 in UTC
    archive: File | None  # None: withdrawn
    signature: str | None  # the text of its signature.json; None: unsigned


@dataclass(frozen=True, slots=True)
class Index:
    """The content of a mirror: ``generations``, the last published first; one is current."""

    name: str  # of the dataset
    serial: int  # microseconds since 1970; a later index has a greater one
    published_at: str  # ISO 8601 in UTC
    current: str
    generations: tuple[IndexEntry, ...]
    expires_at: str | None = None  # ISO 8601 in UTC; None: it does not expire

    @property
    def now(self) -> IndexEntry:
        """The current generation."""
        return next(entry for entry in self.generations if entry.generation == self.current)

    @property
    def signature(self) -> bytes | None:
        """The signature of the current generation."""
        text = self.now.signature
        return None if text is None else text.encode()

    @property
    def withdrawn(self) -> frozenset[str]:
        """The ids of the withdrawn generations."""
        return frozenset(item.generation for item in self.generations if item.archive is None)

    @property
    def files(self) -> tuple[File, ...]:
        """All archives that the index names."""
        return tuple(item.archive for item in self.generations if item.archive is not None)


def has_expired(expires_at: str | None, now: datetime) -> bool:
    """Return whether the expiry that an index states has passed; False without one."""
    return bool(expires_at) and now > read_timestamp(expires_at or "")


def index_text(index: Index, keys: Sequence[PrivateKey]) -> bytes:
    """Return the text of the file for an index: an envelope with a signature of each key."""
    members = {"format": _FORMAT, "format_version": _VERSION, **asdict(index)}
    return seal(KIND, canonical(members), keys)


def read_index(
    text: bytes, trusted: Sequence[PublicKey] | None, path: str | os.PathLike[str]
) -> Index:
    """Return the index of a mirror, all members checked; ``path`` names it in errors.

    ``trusted``: one of these keys must have signed it; None: no signature is asked for. Raises
    DatasetError for a text that is not an index, of another version, or not so signed.
    """
    content = open_envelope(text, KIND, trusted, path)
    try:
        document = json.loads(content)
        version = document["format_version"]
        _require(document["format"] == _FORMAT and type(version) is int)  # JSON's true equals 1
        if version != _VERSION:
            problem = f"index of version {version}, but this geolookup reads {_VERSION}"
            raise DatasetError(path, problem, "use the version of geolookup that wrote it")
        return _index(document)
    except (TypeError, KeyError, ValueError, RecursionError):
        raise DatasetError(path, "not the index of a mirror", _FETCH) from None


def _index(document: Mapping[str, Any]) -> Index:
    generations = document["generations"]
    _require(isinstance(generations, list) and len(generations) <= _MOST_ENTRIES)
    index = Index(
        name=_text(document["name"]),
        serial=_number(document["serial"], 1 << 63),
        published_at=_time(document["published_at"]),
        current=_id(document["current"]),
        generations=tuple(map(_entry, generations)),
        expires_at=None if document["expires_at"] is None else _time(document["expires_at"]),
    )
    ids = [entry.generation for entry in index.generations]
    _require(len({*ids}) == len(ids))
    _require(index.current in {*ids} - index.withdrawn)
    return index


def _entry(members: Mapping[str, Any]) -> IndexEntry:
    archive, signature = members["archive"], members["signature"]
    return IndexEntry(
        generation=_id(members["generation"]),
        published_at=_time(members["published_at"]),
        archive=None if archive is None else _file(archive),
        signature=None if signature is None else _text(signature),
    )


def _file(members: Mapping[str, Any]) -> File:
    path, sha256 = _text(members["path"]), _id(members["sha256"])
    _require(_PATH.fullmatch(path) is not None)
    return File(path, _number(members["bytes"], _LARGEST_FILE), sha256)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LARGEST_TEXT:
        raise ValueError
    value.encode()  # a surrogate without its pair is not text
    return value


def _number(value: object, limit: int) -> int:
    if type(value) is not int or not 0 < value < limit:
        raise ValueError
    return value


def _id(value: object) -> str:
    """Return 64 hexadecimal digits: the id of a generation, or a SHA-256."""
    if not isinstance(value, str) or not is_generation(value):
        raise ValueError
    return value


def _time(value: object) -> str:
    text = _text(value)
    read_timestamp(text)
    return text
