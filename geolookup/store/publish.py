"""Publishing: add a dataset to a store as a generation, and make it current.

Strategy: link or copy the files into a staging directory, sync and verify them there.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, read_manifest
from geolookup.errors import DatasetError
from geolookup.integrity import verify
from geolookup.signing.statement import SIGNATURE, read_signature
from geolookup.store import resolve
from geolookup.store.adding import Arriving, add, check_expected
from geolookup.store.copying import link_or_copy
from geolookup.store.signatures import manifest_text


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
    source, store = Path(resolve.folder(os.fspath(dataset))), Path(store)
    manifest = read_manifest(source)
    check_expected(manifest.generation, expect, source)
    arriving = Arriving(
        source,
        manifest.generation,
        manifest_text(source),
        read_signature(source),
        partial(_write, source, manifest, copy),
        partial(_check_other, source),
    )
    add(store, arriving)
    return manifest.generation


def _write(source: Path, manifest: Manifest, copy: bool, fresh: Path) -> None:
    """Copy a dataset to an empty folder, and check the copy."""
    names = (*fmt.FILES, *(fmt.EXPLAINING if manifest.explains_rows else ()), fmt.MANIFEST)
    for name in names:
        link_or_copy(source / name, fresh / name, copy=copy)
    if (source / SIGNATURE).exists():
        link_or_copy(source / SIGNATURE, fresh / SIGNATURE, copy=copy)
    _check(fresh, source, manifest.generation)


def _check_other(source: Path, target: Path) -> None:
    """Verify a dataset: other data may state the id of the generation in the store."""
    if not source.samefile(target):
        verify(source)


def _check(fresh: Path, source: Path, generation: str) -> None:
    """Verify the copy; an error names the file of the original dataset."""
    try:
        verify(fresh)
    except DatasetError as error:
        at_fault = source / Path(error.path).relative_to(fresh)
        raise DatasetError(at_fault, error.problem, error.remedy) from error
    if read_manifest(fresh).generation != generation:
        raise DatasetError(source, "replaced while it was copied", "publish again")
