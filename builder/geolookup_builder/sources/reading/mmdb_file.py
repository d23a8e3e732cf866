"""An MMDB file, opened: its tree as numpy sees it, its records as the library decodes them.

Strategy: whatever a damaged file makes the library raise becomes one
BuildError; the library limits the size and depth of a record, the walk that
of the tree.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import IO, Any, TypeAlias

import numpy as np

from geolookup.dataset.intervals import Points
from geolookup.errors import BuildError
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.mmdb_tree import DamagedTreeError, Networks, nodes_of, walk

Record: TypeAlias = Any
#: Of a file that has to be unpacked into memory.
_MOST_BYTES = 4 << 30
#: Between the tree and the data.
_SEPARATOR_BYTES = 16
#: What the library raises for files that are not what they say; its own error is a ValueError.
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
    """The library's reader of a file, and its bytes from the beginning, which is the tree."""

    reader: Any
    data: IO[bytes]

    @property
    def bits(self) -> int:
        """The width of the addresses in the tree."""
        return {4: 32, 6: 128}[self.reader.metadata().ip_version]


@contextmanager
def opened(member: Member) -> Iterator[MmdbFile]:
    """Open where it lies, or in memory where it is packed; damage is a BuildError."""
    with member.open() as stream, ExitStack() as stack:
        try:
            place, mode, data = _placed(member, stream)
            reader = stack.enter_context(_library().open_database(place, mode))
            yield MmdbFile(reader, data)
        except _DAMAGE as error:
            problem = f"not an MMDB file, or damaged ({error or type(error).__name__})"
            raise BuildError(member.label, problem, remedy="fetch it again") from error


def _library() -> Any:
    try:
        import maxminddb
    except ModuleNotFoundError as error:
        remedy = "pip install 'geolookup[mmdb]'"
        raise BuildError("mmdb", "needs the package maxminddb", remedy=remedy) from error
    return maxminddb


def _placed(member: Member, stream: IO[bytes]) -> tuple[Any, int, IO[bytes]]:
    """Return what the library opens and how, and the bytes."""
    if isinstance(stream, io.BufferedReader):
        return stream.name, _library().MODE_AUTO, stream
    data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise BuildError(member.label, "too large to be read packed", remedy="unpack it")
    return io.BytesIO(data), _library().MODE_FD, io.BytesIO(data)


def networks(file: MmdbFile) -> Networks:
    """Return the networks of the tree."""
    about = file.reader.metadata()
    tree = file.data.read(about.node_count * about.record_size // 4)
    found = walk(nodes_of(tree, about.node_count, about.record_size), file.bits)
    if np.any(found.offsets < _SEPARATOR_BYTES):
        raise DamagedTreeError("its tree leads to no data")
    return found


class Records:
    """The records at some addresses, decoded as they are asked for."""

    def __init__(self, file: MmdbFile, addresses: Points) -> None:
        self._file, self._addresses = file, addresses

    def __len__(self) -> int:
        return len(self._addresses)

    def sample(self, most: int) -> list[Record]:
        """Return records from all over the file, at most about ``most`` of them."""
        return self._decoded(range(0, len(self), max(1, len(self) // most)))

    def chunks(self, size: int) -> Iterator[list[Record]]:
        """Yield all records in order, ``size`` at a time."""
        for begin in range(0, len(self), size):
            yield self._decoded(range(begin, min(begin + size, len(self))))

    def _decoded(self, rows: Sequence[int]) -> list[Record]:
        get = self._file.reader.get
        kind: type[Any] = IPv4Address if self._file.bits == 32 else IPv6Address
        return [get(kind(self._addresses.item(row))) for row in rows]
