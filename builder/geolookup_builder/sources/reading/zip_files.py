"""The data files of a zip archive, read where they lie by ``zipfile``.

Sizes, links and methods are checked in the directory, before anything is unpacked. Only stored and
deflated members are read: of the other methods ``zipfile`` unpacks more than it is asked for.
"""

from __future__ import annotations

import io
import stat
import weakref
import zipfile
from functools import partial
from pathlib import Path

from geolookup.errors import BuildError
from geolookup.filesystem import limits, open_regular
from geolookup_builder.sources.reading.data_files import Budget, Opener, cannot_unpack, data

#: Flags of a member: encrypted, a patch, strongly encrypted (APPNOTE.TXT of PKWARE, 4.4.4).
_UNREADABLE = 0x01 | 0x20 | 0x40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class _ArchiveFile(io.BufferedReader):
    """A file of which ``zipfile`` reads the directory in one call, up to a limit."""

    most: float = 0

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self.most:
            problem = f"its directory has {size:,} bytes, over {self.most:,}"
            raise cannot_unpack(str(self.name), problem)
        return super().read(size)


def zip_files(path: Path, suffixes: tuple[str, ...], budget: Budget) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each data file of an archive, ordered by name."""
    archive = _open(path)
    infos = archive.infolist()
    budget.check_members(len(infos))
    members = data(path, suffixes, {info: info.filename for info in infos})
    for info in members:
        _check(f"{path}!{info.filename}", info)
    # Overlapping members: a small file of many large ones ("zip bomb").
    if sum(info.compress_size for info in members) > path.stat().st_size:
        raise BuildError(path, "its members share the same bytes", remedy="fetch it again")
    budget.check(sum(info.file_size for info in members))
    return [
        (f"{path}!{info.filename}", budget.limited(partial(archive.open, info))) for info in members
    ]


def _open(path: Path) -> zipfile.ZipFile:
    """Open an archive; all members share it, and it closes with the last opener."""
    file = _ArchiveFile(open_regular(path).detach())  # type: ignore[attr-defined]
    file.most = limits.ALLOWED_DIRECTORY
    try:
        archive = zipfile.ZipFile(file)
    except BaseException as error:
        file.close()
        if isinstance(error, NotImplementedError):  # a later version of the format
            raise cannot_unpack(str(path), f"cannot be unpacked ({error})") from error
        raise
    file.most = float("inf")
    weakref.finalize(archive, file.close)
    return archive


def _check(label: str, info: zipfile.ZipInfo) -> None:
    """Raise BuildError for a member that is not a plain file."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind and not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise cannot_unpack(label, "not a regular file")
    if info.flag_bits & _UNREADABLE:
        raise cannot_unpack(label, "is encrypted")
    if info.compress_type not in _METHODS:
        raise cannot_unpack(label, f"is compressed by method {info.compress_type}, not by deflate")
