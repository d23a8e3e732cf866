"""Canonical texts of JSON objects, and the digests of a dataset's files."""

from __future__ import annotations

import json
import os

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import opener

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from geolookup.dataset.files import Dataset
    from geolookup.dataset.manifest import Entry, Manifest

_THREADS = 2
#: Bytes of files that are worth a second thread.
LARGE = 1 << 20


def canonical(document: Mapping[str, object]) -> bytes:
    """Return the canonical text of a JSON object: sorted keys, UTF-8, one item a line."""
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    return (text + "\n").encode()


def wrong_files(folder: Path, manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Yield the files that are missing, or whose size or digest differs from the manifest.

    With each file comes its problem.
    """
    from geolookup.parallel import in_order

    paths = [folder / name for name in manifest.files]
    files = zip(paths, manifest.files.values(), strict=True)
    total_bytes = sum(entry["bytes"] for entry in manifest.files.values())
    with in_order(_problem, files, _THREADS if total_bytes > LARGE else 0) as problems:
        for path, problem in zip(paths, problems, strict=True):
            if problem:
                yield path, problem


def check_digests(dataset: Dataset) -> None:
    """Raise DatasetError unless all files have the size and digest in the manifest."""
    from pathlib import Path

    for path, problem in wrong_files(Path(dataset.path), dataset.manifest):
        raise DatasetError(path, problem, REBUILD)


def is_whole(folder: Path) -> bool:
    """Return whether a folder has a dataset, and its files the digests in the manifest."""
    try:
        return not any(wrong_files(folder, read_manifest(folder)))
    except DatasetError:
        return False


def _problem(file: tuple[Path, Entry]) -> str:
    import hashlib

    path, entry = file
    try:
        with open(path, "rb", opener=opener) as stream:
            size = os.fstat(stream.fileno()).st_size
            # A wrong size needs no digest.
            if size != entry["bytes"]:
                return f"{size:,} bytes, but the manifest says {entry['bytes']:,}"
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return "" if digest == entry.get("sha256") else "its digest differs from the manifest"
