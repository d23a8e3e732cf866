"""Small JSON files beside data: a store's pointer, a follower's state, the files of a cache."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from unittest import mock

from geolookup_builder.remote import cache as download_cache
from geolookup_builder.remote.address import Remote
from geolookup_builder.remote.cache import Cached, Kept, sha256_of
from geolookup_builder.remote.protocol import Version

from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError
from geolookup.mirrors import status
from geolookup.store import pointer
from geolookup.store.pointer import CURRENT, Published
from tests.damage import refused
from tests.fuzz.json_values import changed
from tests.fuzz.target import Change, Target, emptied, own_folder

_folder = cache(own_folder)
_IDS = [digit * 64 for digit in "abc"]
_TIME = "2026-11-23T10:00:00Z"
_CONTENT = b"downloaded\n"
_REMOTE = Remote(Path("recipe.toml"), "https://example.net/rows.csv", "rows.csv")
#: Between kept.json and part.json in an input of ``cache``.
_CUT = b"\n--8<--\n"


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change a document's bytes, or its values."""
    parts = data.split(_CUT)
    at = rng.randrange(len(parts))
    parts[at] = change(parts[at]) if rng.randrange(4) == 0 else changed(parts[at], rng)
    return _CUT.join(parts)


def _pointer_seeds() -> Iterator[bytes]:
    entries = [Published(name, _TIME, withdrawn=name == _IDS[1]) for name in _IDS]
    for published in (entries[:1], entries):
        pointer.write(_folder(), published)
        yield (_folder() / CURRENT).read_bytes()


def _read_pointer(data: bytes) -> None:
    """What is accepted has a current generation, and is the same when it is written again."""
    (_folder() / CURRENT).write_bytes(data)
    try:
        published = pointer.read(_folder())
    except DatasetError as error:
        refused(error, str(_folder()))
        return
    assert pointer.standing(published)
    assert all(is_generation(entry.generation) for entry in published)
    pointer.write(_folder(), published)
    assert _members(pointer.read(_folder())) == _members(published)


def _members(published: list[Published]) -> list[tuple[str, str, bool]]:
    return [(entry.generation, entry.at, entry.withdrawn) for entry in published]


def _every_id() -> AbstractContextManager[object]:
    """Accept any text as the id of a generation, which is the name of a folder."""
    return mock.patch.object(pointer, "is_generation", return_value=True)


def _status_seeds() -> Iterator[bytes]:
    followed = status.Status("https://example.net/geo", _IDS[0], 7, _TIME, _IDS[1], _TIME)
    for state in (followed, followed.after_failure("timed out"), followed.after_success("updated")):
        status.write(_folder(), state)
        yield (_folder() / status.STATUS).read_bytes()


def _read_status(data: bytes) -> None:
    """A state is whole, or that of a follower that has not polled; the next poll is counted."""
    (_folder() / status.STATUS).write_bytes(data)
    state = status.read(_folder())
    failed = state.after_failure("timed out")
    assert failed.failures == state.failures + 1
    status.write(_folder(), failed)
    assert status.read(_folder()) == failed


def _unchecked_status() -> AbstractContextManager[object]:
    """Take members of any type."""
    return mock.patch.object(status, "_status", lambda stated: status.Status(**stated))


def _cache_seeds() -> Iterator[bytes]:
    digest = sha256_of(_kept_file(""))
    kept = {
        "bytes": len(_CONTENT),
        "sha256": digest,
        "etag": '"1"',
        "modified": "",
        "validator": "",
    }
    for part in ({"validator": '"1"', "total": 900}, {"validator": "", "total": None}):
        yield json.dumps(kept).encode() + _CUT + json.dumps(part).encode()


def _kept_file(name: str) -> Path:
    path = _folder() / f"{_REMOTE.file}-{_REMOTE.identity}" / name / _REMOTE.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_CONTENT)
    return path


def _read_cache(data: bytes) -> None:
    """A kept file is in the cache and has its digest; a part is where the download goes on."""
    emptied(_folder())
    digest = sha256_of(_kept_file(""))
    cached = Cached(_folder(), _REMOTE)
    _kept_file(digest[:16])
    part = _kept_file("part")
    kept, _, partial = data.partition(_CUT)
    (part.parent.parent / "kept.json").write_bytes(kept)
    (part.parent.parent / "part.json").write_bytes(partial)
    current = cached.kept()
    if current is not None:
        assert current.path.resolve().is_relative_to(_folder().resolve())
        assert sha256_of(current.path) == current.sha256 == digest
    resumed = cached.part()
    assert resumed.total is None or resumed.size < resumed.total


def _undigested() -> AbstractContextManager[object]:
    """Trust the digest that is stated."""

    def kept(self: Cached) -> Kept:
        digest = str(download_cache._read(self._folder / "kept.json").get("sha256"))
        return Kept(self._folder / digest[:16] / _REMOTE.file, 0, digest, Version())

    return mock.patch.object(Cached, "kept", kept)


POINTER = Target(_read_pointer, _pointer_seeds, _every_id, mutate)
STATUS = Target(_read_status, _status_seeds, _unchecked_status, mutate)
CACHE = Target(_read_cache, _cache_seeds, _undigested, mutate)
