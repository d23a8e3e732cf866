"""The files of an archive: written to a folder, then verified.

Strategy: an archive may contain only the files that its manifest describes, and a delta only
patches of those that its base does not have; any other member is refused. Sizes are compared with
the size of the archive and with the free space before a file is written. The digest of each file is
computed while it is written, and ``verify`` reads all of them again.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from geolookup.archives.delta import apply_patch, largest_patch
from geolookup.archives.head import REPACK, Head
from geolookup.archives.members import Members, described_files
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD
from geolookup.filesystem import atomic, limits
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.store.incoming import copy_file
from geolookup.store.signatures import manifest_text

#: The suffix of a patch, after the name of its file.
PATCH = ".delta"
#: Size and SHA-256 of files, by name.
_Described = dict[str, tuple[int, str]]
_Writer = Callable[[Path, Iterable[bytes | memoryview]], str]


def extract(head: Head, members: Members, folder: Path, base: Path | None) -> VerifiedDataset:
    """Write the dataset of an archive to an empty folder, and verify it; see ``write_files``."""
    write_files(head, members, folder, base)
    return VerifiedDataset(folder, lambda name: f"{members.archive}!{name}")


def write_files(
    head: Head, members: Members, folder: Path, base: Path | None, *, durable: bool = True
) -> None:
    """Write the files of an archive to an empty folder; all but copied ones have their digests.

    ``base`` is the checked base of a delta, None for a whole dataset. Files that the base has too
    are copied. ``durable``: sync each file to the disk. DatasetError for an archive that is damaged
    or has other members, OutputError for too little space.
    """
    missing = described_files(head.manifest, members.archive, REPACK)
    shared = {} if head.header is None else _shared_files(missing, head.header.files)
    _check_size(members, missing, base, folder)
    for name, content in head.texts():
        _write(folder / name, [content], durable=durable)
    if base is not None:
        for name, (size, _) in shared.items():
            copy_file(base / name, folder / name, size, durable=durable)
            del missing[name]
    _take_all(members, folder, base, missing, partial(_write, durable=durable))


def check_delta(head: Head, members: Members, folder: Path, base: Path) -> None:
    """Check that a delta makes the files of ``folder`` from its base; nothing is written.

    The digests of the made files are compared. DatasetError for any difference.
    """
    if head.header is None or head.manifest_text != manifest_text(folder):
        raise members.error(f"not a delta to {folder}")
    missing = described_files(head.manifest, members.archive, REPACK)
    for name in _shared_files(missing, head.header.files):
        del missing[name]
    _take_all(members, folder, base, missing, _digest)


def _shared_files(files: _Described, base: Mapping[str, str]) -> _Described:
    """Return the files that the base has with the same digest."""
    return {name: file for name, file in files.items() if base.get(name) == file[1]}


def _check_size(members: Members, files: _Described, base: Path | None, folder: Path) -> None:
    """Raise an error if the files are more than the archive may hold, or the disk can take.

    A delta may make as many bytes more as its base has.
    """
    size = _bytes(files)
    allowed = limits.allowed_bytes(members.archive.stat().st_size)
    if base is not None:
        # A patch can copy any part of the base, so a small delta may make a large file.
        allowed += _bytes(described_files(read_manifest(base), base, REBUILD))
    if size > allowed:
        raise members.error(limits.excess())
    limits.check_space(folder, size)


def _bytes(files: _Described) -> int:
    return sum(size for size, _ in files.values())


def _take_all(
    members: Members, folder: Path, base: Path | None, missing: _Described, write: _Writer
) -> None:
    """Write the missing files, each from its member; ``write`` returns the digest of one."""
    suffix = "" if base is None else PATCH
    while (member := members.next()) is not None:
        name = member.name.removesuffix(suffix)
        if name not in missing or member.name != name + suffix:
            raise members.error(f"unexpected member {member.name!r}")
        # pop: a second member of the same name is refused.
        size, sha256 = missing.pop(name)
        content = (
            _whole(members, member, size)
            if base is None
            else [_patched_file(members, member, folder / name, base, size)]
        )
        if write(folder / name, content) != sha256:
            raise members.error(f"{name} is damaged: its digest differs from the manifest")
    if missing:
        raise members.error(f"{min(missing)}{suffix} is missing")


def _whole(members: Members, member: tarfile.TarInfo, size: int) -> Iterator[bytes]:
    """Return the content of a file that the archive has."""
    if member.size != size:
        problem = f"{member.name} has {member.size} bytes, but the manifest says {size}"
        raise members.error(problem)
    return members.data(member)


def _patched_file(
    members: Members, member: tarfile.TarInfo, path: Path, base: Path, size: int
) -> memoryview:
    """Return the content of a file that the archive has a patch of."""
    if member.size > largest_patch(size):
        raise members.error(f"{member.name} is larger than a patch of {size:,} bytes can be")
    patch = b"".join(members.data(member))
    try:
        return apply_patch(base, path.parent, path.name, patch)
    except ValueError as error:
        raise members.error(f"{member.name} is damaged ({error})") from error


def _write(path: Path, content: Iterable[bytes | memoryview], *, durable: bool) -> str:
    """Write a file and return its digest."""
    digest = hashlib.sha256()
    # Never an existing file, nor a link that another member has made.
    with create(path) as file:
        for chunk in content:
            digest.update(chunk)
            file.write(chunk)
        if durable:
            atomic.sync(file)
    return digest.hexdigest()


def _digest(_path: Path, content: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for chunk in content:
        digest.update(chunk)
    return digest.hexdigest()
