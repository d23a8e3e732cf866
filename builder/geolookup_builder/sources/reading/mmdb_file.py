"""An MMDB file: its networks read by numpy, its records decoded by ``maxminddb``.

The search tree is one array of nodes. All nodes of one depth (a bit of the address) are expanded at
a time, from the root down. In a damaged tree nodes may form a cycle; the number of visited nodes
is therefore limited. The library limits the size and depth of a record; any exception of it for a
damaged file becomes one BuildError. Format: https://maxmind.github.io/MaxMind-DB/ (version 2.0).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U64, Addresses, Bools
from geolookup.errors import BuildError
from geolookup.filesystem.signatures import MMDB
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.sniffing import binary_kind_of, kind_error

Record: TypeAlias = Any
#: Of a compressed file: it is decompressed into memory.
_MAX_BYTES = 4 << 30
#: Zero bytes between the tree and the data section.
_SEPARATOR_BYTES = 16
_IPV4_DEPTH = 96  # of the IPv4 subtree ::/96 in an IPv6 tree
#: Visits of a node on average; more than one if a writer shares subtrees.
_MAX_VISITS = 4


class DamagedTreeError(Exception):
    """A search tree that is not valid."""


#: The library's exceptions for damaged files; its own error is a ValueError.
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
    """The library's reader of a file, and its bytes; they begin with the tree."""

    reader: Any
    data: IO[bytes]

    @property
    def bits(self) -> int:
        """The width of the addresses in the tree."""
        return {4: 32, 6: 128}[self.reader.metadata().ip_version]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The database type, then the descriptions; non-strings are skipped."""
        about = self.reader.metadata()
        descriptions = about.description if isinstance(about.description, dict) else {}
        texts = (about.database_type, *descriptions.values())
        return tuple(text for text in texts if isinstance(text, str))


@contextmanager
def open_mmdb(member: Member) -> Iterator[MmdbFile]:
    """Open a file in place, or in memory if it is compressed; BuildError if it is damaged."""
    with member.open() as stream, ExitStack() as stack:
        try:
            database, mode, data = _source(member, stream)
            reader = stack.enter_context(_library().open_database(database, mode))
            yield MmdbFile(reader, data)
        except _DAMAGE as error:
            if (kind := binary_kind_of(member)) not in (None, MMDB):
                raise kind_error(member.label, kind) from error
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
    """Return the arguments of the library's reader, and the bytes."""
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
    tree_networks = walk(nodes_of(tree, about.node_count, about.record_size), file.bits)
    if np.any(tree_networks.offsets < _SEPARATOR_BYTES):
        raise DamagedTreeError("its tree points before the data section")
    return tree_networks


class Records:
    """The records at the given addresses, decoded on demand."""

    def __init__(self, file: MmdbFile, addresses: Addresses) -> None:
        self._file, self._addresses = file, addresses

    def __len__(self) -> int:
        return len(self._addresses)

    def sample(self, most: int) -> list[Record]:
        """Return about ``most`` records, evenly spaced over the file."""
        return self._decode(range(0, len(self), max(1, len(self) // most)))

    def chunks(self, size: int) -> Iterator[list[Record]]:
        """Yield all records in order, ``size`` at a time."""
        for begin in range(0, len(self), size):
            yield self._decode(range(begin, min(begin + size, len(self))))

    def _decode(self, rows: Sequence[int]) -> list[Record]:
        get = self._file.reader.get
        kind: type[Any] = IPv4Address if self._file.bits == 32 else IPv6Address
        return [get(kind(self._addresses.item(row))) for row in rows]


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches at one depth: the prefix as an address, and the node or record it leads to."""

    high: U64
    low: U64
    at: I64

    def __getitem__(self, index: Bools | I64) -> Branches:
        return Branches(self.high[index], self.low[index], self.at[index])


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of a tree by address; ``offsets`` of their data count from the tree's end."""

    ranges: ParsedRanges
    offsets: I64


def nodes_of(tree: bytes, count: int, record_bits: int) -> I64:
    """Return the nodes as an array (count, 2): the left and the right branch of each."""
    wide = np.frombuffer(tree, np.uint8).reshape(count, record_bits // 4).astype(np.int64)
    # A node is two records, big-endian: 24 + 24 bits in 6 bytes, 28 + 28 in 7, 32 + 32 in 8.
    #
    #     28 bits:  byte  0  1  2 |     3       | 4  5  6
    #               left  23 .. 0 | 27-24 27-24 | 23 .. 0  right
    if record_bits == 28:  # the middle byte holds the top bits of both
        left = wide[:, 3] >> 4 << 24 | wide[:, 0] << 16 | wide[:, 1] << 8 | wide[:, 2]
        right = (wide[:, 3] & 15) << 24 | wide[:, 4] << 16 | wide[:, 5] << 8 | wide[:, 6]
        return np.stack([left, right], axis=1)
    size = record_bits // 8
    # Three bytes: 65536, 256, 1.
    weights = 256 ** np.arange(size - 1, -1, -1, dtype=np.int64)
    return np.stack([wide[:, :size] @ weights, wide[:, size:] @ weights], axis=1)


def walk(nodes: I64, bits: int) -> Networks:
    """Return the networks of a tree over addresses of 32 or 128 ``bits``."""
    count = len(nodes)
    if not count:
        raise DamagedTreeError("it has no nodes")
    ipv4 = _ipv4_node(nodes) if bits == 128 else count
    branches = Branches(np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.int64))
    all_leaves: list[Branches] = []
    lengths: list[I64] = []
    visits = 0
    # A record below ``count`` is a node, ``count`` itself is "no data", above it is data.
    for depth in range(1, bits + 1):
        visits += len(branches.at)
        if visits > _MAX_VISITS * count + bits:
            raise DamagedTreeError("its nodes form a cycle")
        branches = _children(branches, nodes, bits - depth)
        leaves = branches[branches.at > count]
        all_leaves.append(leaves)
        lengths.append(np.full(len(leaves.at), depth))
        branches = branches[branches.at < count]
        # Writers link the IPv4 subtree up to four times (mapped, 6to4, …); keep only ::/96.
        branches = branches[(branches.at != ipv4) | (branches.high == 0) & (branches.low == 0)]
    if len(branches.at):
        raise DamagedTreeError("it is deeper than an address has bits")
    return _networks(all_leaves, np.concatenate(lengths), count, bits)


def _ipv4_node(nodes: I64) -> int:
    """Return the node of ::/96, or the number of nodes if there is none."""
    at = 0
    for _ in range(_IPV4_DEPTH):
        if at >= len(nodes):
            # Data above ::/96: no subtree of IPv4.
            return len(nodes)
        at = int(nodes[at, 0])
    return min(at, len(nodes))


def _children(branches: Branches, nodes: I64, bit: int) -> Branches:
    """Return the branches below, left and right; ``bit`` of the address tells them apart."""
    # One of the halves is 0: bit 127 is bit 63 of the high half.
    high, low = (1 << bit) >> 64, (1 << bit) & (1 << 64) - 1
    return Branches(
        np.concatenate([branches.high, branches.high | np.uint64(high)]),
        np.concatenate([branches.low, branches.low | np.uint64(low)]),
        np.concatenate([nodes[branches.at, 0], nodes[branches.at, 1]]),
    )


def _networks(leaves: list[Branches], lengths: I64, count: int, bits: int) -> Networks:
    high, low, at = (
        np.concatenate([getattr(branches, name) for branches in leaves])
        for name in ("high", "low", "at")
    )
    order = np.lexsort((low, high))
    high, low, host = high[order], low[order], bits - lengths[order]
    first = Addresses(low, high)
    # 72 host bits: all of the low half, 8 bits of the high half.
    last = Addresses(low | _ones(host), high | _ones(host - 64))
    in_ipv4 = (high == 0) & (low >> np.uint64(32) == 0) & (host <= 32)
    family = np.where(in_ipv4, 4, 6).astype(np.uint8)
    ranges = ParsedRanges(family, first, last, np.zeros(len(order), np.uint8))
    return Networks(ranges, at[order] - count)


def _ones(bits: I64) -> NDArray[np.uint64]:
    """Return a mask of that many low bits; none below 1, all 64 above 64."""
    count = np.clip(bits, 0, 64)
    # numpy leaves a shift by 64 undefined.
    some = ~np.uint64(0) >> np.minimum(64 - count, 63).astype(np.uint64)
    return np.where(count == 0, np.uint64(0), some)
