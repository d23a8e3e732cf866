"""What identifies content: the canonical texts of JSON objects, and the digests of files."""

from __future__ import annotations

import json
import os
from json.encoder import encode_basestring

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from geolookup.dataset.files import Dataset
    from geolookup.dataset.manifest import FileDescription, Manifest

_THREADS = 2
#: Bytes of files that are worth a second thread.
LARGE = 1 << 20


def canonical(document: Mapping[str, object]) -> bytes:
    """Return the canonical text of a JSON object: sorted keys, UTF-8, one item a line.

    ``json.dumps`` with ``indent=1`` gives the same text in twice the time.
    """
    return (_indent(document, "\n") + "\n").encode()


def _indent(value: object, end: str) -> str:
    """Return a JSON text; ``end`` is the line feed and the indentation of its last line."""
    if type(value) is int:
        return repr(value)
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    # One blank more for each level: "\n", "\n ", "\n  ".
    inner = f"{end} "
    if isinstance(value, dict) and value:
        members = [
            f"{encode_basestring(key)}: {_indent(value[key], inner)}" for key in sorted(value)
        ]
        return f"{{{inner}{f',{inner}'.join(members)}{end}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{f',{inner}'.join([_indent(item, inner) for item in value])}{end}]"
    return json.dumps(value)


def wrong_files(folder: Path, manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Yield the files that are missing, or whose size or digest differs from the manifest.

    With each file comes its problem.
    """
    from geolookup.parallel import in_order

    paths = [folder / name for name in manifest.files]
    files = zip(paths, manifest.files.values(), strict=True)
    total_bytes = sum(file.bytes or 0 for file in manifest.files.values())
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


def _problem(file: tuple[Path, FileDescription]) -> str:
    path, description = file
    try:
        return _digest_problem(path, description)
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"


def _digest_problem(path: Path, description: FileDescription) -> str:
    import hashlib

    if not path.exists():
        return "missing"
    if not path.is_file():  # a read of a pipe or device could block
        return "not a plain file"
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        # A wrong size needs no digest.
        if size != description.bytes:
            return f"{size:,} bytes, but the manifest says {description.bytes:,}"
        if hashlib.file_digest(stream, "sha256").hexdigest() != description.sha256:
            return "its digest differs from the manifest"
    return ""
