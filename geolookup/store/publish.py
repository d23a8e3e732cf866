"""Publishing: add a dataset to a store as a generation, and make it current.

Strategy: link or copy the files into a staging directory, sync and verify them there, rename
the directory, then replace the pointer. Both steps are one rename, so a process that dies
leaves the old or the new generation.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.integrity import verify
from geolookup.signing.statement import SIGNATURE, read_signature
from geolookup.signing.trust import Trust
from geolookup.store import follow, pointer
from geolookup.store.changing import changing
from geolookup.store.copying import link_or_copy
from geolookup.store.pointer import Published
from geolookup.store.signatures import adopt_signature, check_trusted, manifest_text
from geolookup.store.trusted import trust_of


def publish(
    dataset: str | os.PathLike[str],
    store: str | os.PathLike[str],
    *,
    copy: bool = False,
    expect: str | None = None,
) -> str:
    """Make a dataset the current generation of a store; return its id, 64 hexadecimal digits.

    On one file system the files are hard-linked, unless ``copy`` is true. A generation
    that the store already has only becomes current. ``dataset`` may also be a store: then
    its current generation is published. A missing store is created. ``expect`` is the only
    generation id that is accepted. Raises DatasetError for a missing or damaged dataset, for
    one whose id is not that of its content, and for another id than ``expect``; OutputError
    for a folder that is not a store or cannot be written; the store stays unchanged.

    A store that trusts keys (``geolookup trust``) takes only what one of them has signed, of the
    name that it has, and not signed before what it has; DatasetError for any other dataset.
    """
    source, store = Path(follow.folder(os.fspath(dataset))), Path(store)
    generation = _generation(source, expect)
    with changing(store, make=True) as published:
        trust = trust_of(store)
        if trust is not None:
            check_trusted(source, trust)
        target = Path(pointer.folder_of(store, generation))
        if not _is_undamaged(target) or _signs_other_bytes(source, target):
            _add(source, target, generation, trust, copy=copy)
        elif not source.samefile(target):
            verify(source)  # other data may state the id of the generation in the store
            if (signature := read_signature(source)) is not None:
                adopt_signature(target, signature)
        others = [each for each in published if each.generation != generation]
        pointer.write(store, [*others, Published(generation, _now())])
    return generation


def _generation(source: Path, expect: str | None) -> str:
    generation = read_manifest(source).generation
    if expect not in (None, generation):
        problem = f"its generation is {generation}, but {expect} was expected"
        whole = expect is not None and len(expect) == len(generation)
        remedy = "fetch the dataset that you expect" if whole else "state all 64 digits of the id"
        raise DatasetError(source, problem, remedy)
    return generation


def _is_undamaged(folder: Path) -> bool:
    """Return whether a folder is an undamaged dataset."""
    try:
        verify(folder)
    except DatasetError:
        return False
    return True


def _signs_other_bytes(source: Path, target: Path) -> bool:
    """Return whether a signed dataset has other bytes than the generation of its id.

    The id is of the values: another version of Arrow, or a base, lays the same ones out otherwise.
    """
    return (source / SIGNATURE).exists() and manifest_text(source) != manifest_text(target)


def _add(source: Path, target: Path, generation: str, trust: Trust | None, *, copy: bool) -> None:
    """Copy a dataset into the store, atomically, and check the copy."""
    manifest = read_manifest(source)
    names = (*fmt.FILES, *(fmt.EXPLAINING if manifest.explains_rows else ()), fmt.MANIFEST)
    with atomic.staged_folder(target) as fresh:
        for name in names:
            link_or_copy(source / name, fresh / name, copy=copy)
        if (source / SIGNATURE).exists():
            link_or_copy(source / SIGNATURE, fresh / SIGNATURE, copy=copy)
        _check(fresh, source, generation)
        if trust is not None:
            check_trusted(fresh, trust)  # again: the source may have changed since


def _check(fresh: Path, source: Path, generation: str) -> None:
    """Verify the copy; an error names the file of the original dataset."""
    try:
        verify(fresh)
    except DatasetError as error:
        at_fault = source / Path(error.path).relative_to(fresh)
        raise DatasetError(at_fault, error.problem, error.remedy) from error
    if read_manifest(fresh).generation != generation:
        raise DatasetError(source, "replaced while it was copied", "publish again")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
