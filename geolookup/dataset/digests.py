"""The files of a dataset, compared with the sizes and digests in its manifest. Needs no Arrow."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from geolookup.dataset.manifest import FileDescription, Manifest
from geolookup.parallel import in_order

_THREADS = 2
#: Bytes of files that are worth a second thread.
_LARGE = 1 << 20


def wrong_files(folder: Path, manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Yield the files that are missing, or whose size or digest differs from the manifest.

    With each file comes what is wrong with it.
    """
    paths = [folder / name for name in manifest.files]
    described = zip(paths, manifest.files.values(), strict=True)
    stated = sum(each.bytes or 0 for each in manifest.files.values())
    with in_order(_problem, described, _THREADS if stated > _LARGE else 0) as problems:
        for path, problem in zip(paths, problems, strict=True):
            if problem:
                yield path, problem


def _problem(file: tuple[Path, FileDescription]) -> str:
    path, described = file
    try:
        return _digest_problem(path, described)
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"


def _digest_problem(path: Path, described: FileDescription) -> str:
    if not path.exists():
        return "missing"
    if not path.is_file():  # a read of a pipe or device could block
        return "not a plain file"
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size != described.bytes:
            return f"{size:,} bytes, but the manifest says {described.bytes:,}"
        if hashlib.file_digest(stream, "sha256").hexdigest() != described.sha256:
            return "its digest differs from the manifest"
    return ""
