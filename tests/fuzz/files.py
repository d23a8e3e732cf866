"""Small files: a store's pointer, the record of updates, the files of a cache, a recipe, and a list
that ``prefixes --since`` reads, whose syntax the first byte of an input says."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pyarrow as pa

from geolookup.errors import BuildError, DatasetError, TableFileError
from tests.builder.test_recipe import GOOD, WRONG
from tests.conftest import ROOT
from tests.damage import refused
from tests.fuzz.target import (
    Change,
    Target,
    accepted,
    check_one_line,
    emptied,
    mutated_json,
    scratch,
)
from tests.internals.builder import auto, document
from tests.internals.dataset import is_generation
from tests.internals.prefixes import SYNTAXES, Lists, checked_names, read_list
from tests.internals.remote import CacheEntry, Remote, sha256_of
from tests.internals.store import CURRENT, Pointer, Publication, pointer
from tests.internals.updates import STATE, State, read_state, write_state

_IDS = [digit * 64 for digit in "abc"]
_TIME = "2026-11-23T10:00:00Z"


def _pointers() -> Iterator[bytes]:
    entries = [Publication(name, _TIME, _TIME, withdrawn=name == _IDS[1]) for name in _IDS]
    for published in (entries[:1], entries):
        pointer.save(scratch(), Pointer(published, []))
        yield (scratch() / CURRENT).read_bytes()


def _read_pointer(data: bytes) -> None:
    """What is accepted has a current generation, and is the same when it is written again."""
    (scratch() / CURRENT).write_bytes(data)
    content = accepted(lambda: pointer.read(scratch()), DatasetError, scratch(), refused)
    if content is None:
        return
    assert content.not_withdrawn
    assert all(is_generation(entry.generation) for entry in content.published)
    pointer.save(scratch(), content)
    assert pointer.read(scratch()).document() == content.document()


def _states() -> Iterator[bytes]:
    followed = State("https://example.net/geo", _TIME, generation=_IDS[0], index=_IDS[1], serial=7)
    for state in (followed, followed.after("failed", "timed out"), followed.after("held")):
        write_state(scratch(), state)
        yield (scratch() / STATE).read_bytes()


def _read_state(data: bytes) -> None:
    """A state is whole, or that of a store that was never updated; the next update is counted."""
    (scratch() / STATE).write_bytes(data)
    state = read_state(scratch())
    failed = state.after("failed", "timed out")
    assert failed.failures == state.failures + 1
    write_state(scratch(), failed)
    assert read_state(scratch()) == failed


_CONTENT = b"downloaded\n"
_REMOTE = Remote(Path("recipe.toml"), "https://example.net/rows.csv", "rows.csv")
#: Between kept.json, part.json and compiled.json in an input of ``download-cache``.
_CUT = b"\n--8<--\n"


def _cached() -> Iterator[bytes]:
    known = {"bytes": len(_CONTENT), "sha256": sha256_of(_kept_file(""))}
    kept = {**known, "etag": '"1"', "modified": ""}
    for part in ({"etag": '"1"', "bytes": 900}, {"etag": "", "bytes": 0}):
        yield _CUT.join(json.dumps(members).encode() for members in (kept, part, kept))


def _kept_file(name: str) -> Path:
    path = scratch() / f"{_REMOTE.file}-{_REMOTE.identity}" / name / _REMOTE.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_CONTENT)
    return path


def _read_cache(data: bytes) -> None:
    """A kept file is in the cache and has its digest; a part is where the download goes on.

    Neither acceptance nor refusal loses a file that is there, whole.
    """
    emptied(scratch())
    digest = sha256_of(_kept_file(""))
    cached = CacheEntry(scratch(), _REMOTE)
    _kept_file(digest[:16])
    folder = _kept_file("part").parent.parent
    names = ("kept.json", "part.json", "compiled.json")
    for name, content in zip(names, data.split(_CUT), strict=False):
        (folder / name).write_bytes(content)
    current = cached.current()
    if current is not None:
        assert current.path.resolve().is_relative_to(scratch().resolve())
        assert sha256_of(current.path) == current.sha256 == digest
    resumed = cached.part()
    if resumed is not None:
        assert resumed.path == folder / "part" / _REMOTE.file
        assert resumed.path.stat().st_size < resumed.bytes
    if current is not None:
        cached.refuse(current.path)
        cached.accept(current.path)
        assert cached.current(digest) is not None


def _mutate_cache(data: bytes, change: Change, rng: random.Random) -> bytes:
    parts = data.split(_CUT)
    at = rng.randrange(len(parts))
    parts[at] = mutated_json(parts[at], change, rng)
    return _CUT.join(parts)


def _recipes() -> Iterator[bytes]:
    bundled = (ROOT / "builder/geolookup_builder/recipes").glob("*.toml")
    for path in (ROOT / "sample_data/recipe.toml", *bundled):
        yield path.read_bytes()
    for page in ("docs/data/tutorial.md", "docs/data/recipe.md"):
        yield from re.findall(rb"```toml[^\n]*\n(.*?)```", (ROOT / page).read_bytes(), re.DOTALL)
    for text in (GOOD, *WRONG):
        yield text.encode()


def _read_recipe(data: bytes) -> None:
    path = scratch() / "recipe.toml"
    path.write_bytes(data)
    known = auto.options()
    result = accepted(lambda: document.read_recipe(path, known), BuildError, path, check_error)
    if result is not None:
        assert result.sources
        assert all(isinstance(source.name, str) for source in result.sources)


def check_error(error: BuildError, subject: str) -> None:
    """Fail unless an error is one line that names its place and what to do."""
    check_one_line(error, subject)
    assert error.problem
    assert error.remedy, str(error)[:200]


_SYNTAXES = [syntax for syntax in SYNTAXES.values() if syntax.changes is not None]
_EMPTY: Lists = {4: [], 6: []}
_LISTS: Lists = {4: [pa.array(["8.8.8.0/24", "9.0.0.0/8"])], 6: [pa.array(["2600::/32"])]}


def _lists() -> Iterator[bytes]:
    for number, syntax in enumerate(_SYNTAXES):
        for lists in (_LISTS, _EMPTY):
            yield bytes([number]) + b"".join(syntax.text(lists, checked_names()))


def _read_list(data: bytes) -> None:
    syntax = _SYNTAXES[(data or b"\0")[0] % len(_SYNTAXES)]
    path = scratch() / "list.txt"
    path.write_bytes(data[1:])
    lists = accepted(lambda: read_list(path, syntax), TableFileError, path)
    if lists is None:
        return
    assert set(lists) == {4, 6}
    for family, batches in lists.items():
        for prefix in (text for batch in batches for text in batch.to_pylist()):
            address, _, length = prefix.partition("/")
            assert ip_address(address).version == family
            assert 0 <= int(length) <= ip_address(address).max_prefixlen


TARGETS = {
    "store-pointer": Target(_read_pointer, _pointers, mutated_json),
    "update-state": Target(_read_state, _states, mutated_json),
    "download-cache": Target(_read_cache, _cached, _mutate_cache),
    "recipe": Target(_read_recipe, _recipes),
    "prefix-list": Target(_read_list, _lists),
}
