"""Adding a generation to a store, and making it current, whatever it comes from.

Strategy: what arrives states its manifest and its signature first. The store checks whom it trusts
before anything is written. The files are written and verified in a staging directory, which is
renamed; then the pointer is replaced. Both steps are one rename, so a process that dies leaves the
old or the new generation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.integrity import verify
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.signatures import adopt_signature, check_trusted, manifest_text
from geolookup.store.trusted import trust_of


@dataclass(frozen=True, slots=True)
class Arriving:
    """A dataset that a store is to have: what it states, and how its files are written."""

    path: Path  # names it in errors
    generation: str
    manifest_text: bytes
    signature: bytes | None
    #: Writes the files to an empty folder and verifies them; DatasetError where it cannot.
    write: Callable[[Path], None]
    #: Checks the dataset where the store has its generation; the folder of that is given.
    check: Callable[[Path], None]


def add(store: Path, arriving: Arriving) -> None:
    """Make a dataset the current generation of a store, which is created if it is missing.

    Raises DatasetError for a dataset that the store does not trust or that is damaged, OutputError
    for a folder that is not a store or cannot be written; the store stays unchanged.
    """
    with changing(store, make=True) as published:
        trust = trust_of(store)
        if trust is not None:
            trust.check(arriving.manifest_text, arriving.signature, arriving.path)
        target = Path(pointer.folder_of(store, arriving.generation))
        if _is_undamaged(target) and not _signs_other_bytes(arriving, target):
            arriving.check(target)
            if arriving.signature is not None:
                adopt_signature(target, arriving.signature)
        else:
            with atomic.staged_folder(target) as fresh:
                arriving.write(fresh)
                if trust is not None:
                    check_trusted(fresh, trust)  # again: the source may have changed since
        others = [each for each in published if each.generation != arriving.generation]
        pointer.write(store, [*others, pointer.published_now(arriving.generation)])


def check_expected(generation: str, expect: str | None, path: Path) -> None:
    """Raise DatasetError, which names ``path``, for another generation than is expected."""
    if expect not in (None, generation):
        problem = f"its generation is {generation}, but {expect} was expected"
        whole = expect is not None and len(expect) == len(generation)
        remedy = "fetch the dataset that you expect" if whole else "state all 64 digits of the id"
        raise DatasetError(path, problem, remedy)


def _is_undamaged(folder: Path) -> bool:
    """Return whether a folder is an undamaged dataset."""
    try:
        verify(folder)
    except DatasetError:
        return False
    return True


def _signs_other_bytes(arriving: Arriving, target: Path) -> bool:
    """Return whether a signed dataset has other bytes than the generation of its id.

    The id is of the values: another version of Arrow, or a base, lays the same ones out otherwise.
    """
    return arriving.signature is not None and arriving.manifest_text != manifest_text(target)
