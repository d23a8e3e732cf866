"""An MMDB file: its search tree as bytes for numpy, its records decoded by ``maxminddb``.

Any exception of the library for a damaged file becomes one BuildError. The
library limits the size and depth of a record, ``mmdb_tree`` the size of the tree.
Format: https://maxmind.github.io/MaxMind-DB/ (version 2.0).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import IO, Any, TypeAlias

import numpy as np

from geolookup.dataset.intervals import Addresses
from geolookup.errors import BuildError
from geolookup.filesystem.signatures import MMDB
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.mmdb_tree import DamagedTreeError, Networks, nodes_of, walk
from geolookup_builder.sources.reading.recognition import misnamed, recognised

Record: TypeAlias = Any
#: Of a compressed file, which is decompressed into memory.
_MAX_BYTES = 4 << 30
#: Zero bytes between the tree and the data section.
_SEPARATOR_BYTES = 16
#: What the library raises for damaged files; its own error is a ValueError.
_DAMAGE = (
    AttributeError,
    KeyError,
    MemoryError,
    OverflowError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
    DamagedTreeError,
)


@dataclass(frozen=True, slots=True)
class MmdbFile:
    """The library's reader of a file, and its bytes, which begin with the tree."""

    reader: Any
    data: IO[bytes]

    @property
    def bits(self) -> int:
        """The width of the addresses in the tree."""
        return {4: 32, 6: 128}[self.reader.metadata().ip_version]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The database type, then the descriptions; what is no text is left out."""
        about = self.reader.metadata()
        described = about.description if isinstance(about.description, dict) else {}
        texts = (about.database_type, *described.values())
        return tuple(each for each in texts if isinstance(each, str))


@contextmanager
def opened(member: Member) -> Iterator[MmdbFile]:
    """Open a file in place, or in memory where it is compressed; BuildError where it is damaged."""
    with member.open() as stream, ExitStack() as stack:
        try:
            place, mode, data = _source(member, stream)
            reader = stack.enter_context(_library().open_database(place, mode))
            yield MmdbFile(reader, data)
        except _DAMAGE as error:
            if (kind := recognised(member)) not in (None, MMDB):
                raise misnamed(member.label, kind) from error
            problem = f"not an MMDB file, or damaged ({error or type(error).__name__})"
            raise BuildError(member.label, problem, remedy="fetch it again") from error


def _library() -> Any:
    try:
        import maxminddb
    except ModuleNotFoundError as error:
        remedy = "pip install 'geolookup[mmdb]'"
        raise BuildError("mmdb", "needs the package maxminddb", remedy=remedy) from error
    return maxminddb


def _source(member: Member, stream: IO[bytes]) -> tuple[Any, int, IO[bytes]]:
    """Return what the library opens and how, and the bytes."""
    if isinstance(stream, io.BufferedReader):
        return stream.name, _library().MODE_AUTO, stream
    data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise BuildError(member.label, "too large to be read packed", remedy="unpack it")
    return io.BytesIO(data), _library().MODE_FD, io.BytesIO(data)


def networks(file: MmdbFile) -> Networks:
    """Return the networks of the tree."""
    about = file.reader.metadata()
    tree = file.data.read(about.node_count * about.record_size // 4)
    found = walk(nodes_of(tree, about.node_count, about.record_size), file.bits)
    if np.any(found.offsets < _SEPARATOR_BYTES):
        raise DamagedTreeError("its tree points before the data section")
    return found


class Records:
    """The records at the given addresses, decoded on demand."""

    def __init__(self, file: MmdbFile, addresses: Addresses) -> None:
        self._file, self._addresses = file, addresses

    def __len__(self) -> int:
        return len(self._addresses)

    def sample(self, most: int) -> list[Record]:
        """Return about ``most`` records, evenly spaced over the file."""
        return self._decoded(range(0, len(self), max(1, len(self) // most)))

    def chunks(self, size: int) -> Iterator[list[Record]]:
        """Yield all records in order, ``size`` at a time."""
        for begin in range(0, len(self), size):
            yield self._decoded(range(begin, min(begin + size, len(self))))

    def _decoded(self, rows: Sequence[int]) -> list[Record]:
        get = self._file.reader.get
        kind: type[Any] = IPv4Address if self._file.bits == 32 else IPv6Address
        return [get(kind(self._addresses.item(row))) for row in rows]
