"""An MMDB file: its networks read by numpy, its records decoded by ``maxminddb``.

The search tree is one array of nodes. All nodes of one depth (a bit of the address) are expanded at
a time, from the root down. In a damaged tree nodes may form a cycle; the number of visited nodes
is therefore limited. The library limits the size and depth of a record; any exception of it for a
damaged file becomes one BuildError. Format: https://maxmind.github.io/MaxMind-DB/ (version 2.0).

Records become columns of text, one for each path: ``city.names.en``. A step of a path is a key of a
map, which may have dots itself, or a position in a list. A record that is itself a text or a number
has the path ``.``: some lists state a country code for each network, and no map.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64, Addresses, Bools, concat
from geolookup.errors import BuildError
from geolookup.filesystem.signatures import MMDB
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.sniffing import check_kind
from geolookup_builder.sources.reading.text import Layout

Record: TypeAlias = Any
#: Of a compressed file: it is decompressed into memory.
_MAX_BYTES = 4 << 30
#: Zero bytes between the tree and the data section.
_SEPARATOR_BYTES = 16
_IPV4_DEPTH = 96  # of the IPv4 subtree ::/96 in an IPv6 tree
#: Visits of a node on average; more than one if a writer shares subtrees.
_MAX_VISITS = 4
#: The path of a record that is a value.
ITSELF = "."
#: Limits memory if each record of a file has keys of its own.
_MAX_PATHS = 10_000
#: Stands for a map or a list: no field can hold it, so it is counted as invalid.
_NO_CELL = "\0"
#: Floats below hold every integer.
_EXACT = 2.0**53
#: The library's exceptions for damaged files; its own error is a ValueError.
_DAMAGE = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError),
    *(RuntimeError, TypeError, ValueError),
)


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of a tree in order of address, and its distinct records.

    ``record`` is the number of each network's record, ``example`` a network of each record.
    """

    ranges: ParsedRanges
    record: I64
    example: I64


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

    def networks(self) -> Networks:
        """Return the networks of the tree."""
        about = self.reader.metadata()
        tree = self.data.read(about.node_count * about.record_size // 4)
        first, host_bits, offsets = _walk(
            _nodes(tree, about.node_count, about.record_size), self.bits
        )
        if np.any(offsets < _SEPARATOR_BYTES):
            raise ValueError("its tree points before the data section")
        # Networks with the offsets 40 16 40: two records; of the networks the record is 1 0 1.
        _, example, record = np.unique(offsets, return_index=True, return_inverse=True)
        return Networks(_ranges(first, host_bits), record, example)

    def records(self, networks: Networks, numbers: Sequence[int]) -> list[Record]:
        """Return the records with these numbers, decoded."""
        kind: type[Any] = IPv4Address if self.bits == 32 else IPv6Address
        first, get = networks.ranges.first, self.reader.get
        return [get(kind(first.item(networks.example[number]))) for number in numbers]


@contextmanager
def open_mmdb(member: Member) -> Iterator[MmdbFile]:
    """Open a file in place, or in memory if it is compressed; BuildError if it is damaged."""
    maxminddb = _library()
    with member.open() as stream:
        try:
            if isinstance(stream, io.BufferedReader):
                with maxminddb.open_database(stream.name) as reader:
                    yield MmdbFile(reader, stream)
            else:
                data = stream.read(_MAX_BYTES + 1)
                if len(data) > _MAX_BYTES:
                    problem = "too large to be read packed"
                    raise BuildError(member.label, problem, remedy="unpack it")
                with maxminddb.open_database(io.BytesIO(data), maxminddb.MODE_FD) as reader:
                    yield MmdbFile(reader, io.BytesIO(data))
        except _DAMAGE as error:
            check_kind(member, MMDB)
            problem = f"not an MMDB file, or damaged ({error or type(error).__name__})"
            raise BuildError(member.label, problem, remedy="fetch it again") from error


def _library() -> Any:
    try:
        import maxminddb
    except ModuleNotFoundError as error:
        remedy = "pip install 'geolookup[mmdb]'"
        raise BuildError("mmdb", "needs the package maxminddb", remedy=remedy) from error
    return maxminddb


def _nodes(tree: bytes, count: int, record_bits: int) -> I64:
    """Return the nodes as an array (count, 2): the left and the right branch of each."""
    wide = np.frombuffer(tree, np.uint8).reshape(count, record_bits // 4).astype(np.int64)
    # A node is two records, big-endian: 24 + 24 bits in 6 bytes, 28 + 28 in 7, 32 + 32 in 8.
    #
    #     28 bits:  byte  0  1  2 |     3       | 4  5  6
    #               left  23 .. 0 | 27-24 27-24 | 23 .. 0  right
    half = record_bits // 8
    # Three bytes: 65536, 256, 1.
    weights = 256 ** np.arange(half - 1, -1, -1, dtype=np.int64)
    left, right = wide[:, :half] @ weights, wide[:, -half:] @ weights
    if record_bits == 28:  # the middle byte holds the top bits of both
        left |= wide[:, 3] >> 4 << 24
        right |= (wide[:, 3] & 15) << 24
    return np.stack([left, right], axis=1)


def _walk(nodes: I64, bits: int) -> tuple[Addresses, I64, I64]:
    """Return the networks of a tree over addresses of 32 or 128 ``bits``, in order of address.

    Of each the first address, the number of host bits, and the offset of its data from the tree's
    end.
    """
    count = len(nodes)
    if not count:
        raise ValueError("it has no nodes")
    root = Addresses.of(6, [0])
    ipv4 = _ipv4_node(nodes) if bits == 128 else count
    # The branches at one depth: the prefix, and the node or record that it leads to.
    prefixes, at, visits = root, np.zeros(1, np.int64), 0
    leaves: list[tuple[Addresses, I64, I64]] = []
    for host_bits in range(bits - 1, -1, -1):
        visits += len(at)
        if visits > _MAX_VISITS * count + bits:
            raise ValueError("its nodes form a cycle")
        # All left branches, then all right ones.
        right = Addresses.of(6, [1 << host_bits])
        prefixes = concat([prefixes, _union(prefixes, right)])
        at = nodes[at].T.ravel()
        # A record below ``count`` is a node, ``count`` itself is "no data", above it is data.
        data, is_node = np.flatnonzero(at > count), at < count
        leaves.append((prefixes[data], np.full(len(data), host_bits), at[data] - count))
        # Writers link the IPv4 subtree up to four times (mapped, 6to4, …); keep only ::/96.
        is_node &= (at != ipv4) | prefixes.equals(root)
        prefixes, at = prefixes[is_node], at[is_node]
    if len(at):
        raise ValueError("it is deeper than an address has bits")
    firsts, lengths, offsets = zip(*leaves, strict=True)
    first = concat(firsts)
    order = first.order()
    return first[order], np.concatenate(lengths)[order], np.concatenate(offsets)[order]


def _ipv4_node(nodes: I64) -> int:
    """Return the node of ::/96, or the number of nodes if there is none."""
    at = 0
    for _ in range(_IPV4_DEPTH):
        at = int(nodes[at, 0]) if at < len(nodes) else len(nodes)
    return min(at, len(nodes))


def _union(one: Addresses, other: Addresses) -> Addresses:
    """Return the bits of both addresses."""
    (low, high), (other_low, other_high) = one.halves(), other.halves()
    return Addresses(low | other_low, high | other_high)


def _ranges(first: Addresses, host_bits: I64) -> ParsedRanges:
    """Return the ranges of networks; those in ::/96 are IPv4."""
    # The greatest host part of each length: 0, 1, 3, 7, …
    last = _union(first, Addresses.of(6, [(1 << bits) - 1 for bits in range(129)])[host_bits])
    low, high = last.halves()
    in_ipv4 = (high == 0) & (low >> np.uint64(32) == 0)
    family = np.where(in_ipv4, 4, 6).astype(np.uint8)
    return ParsedRanges(family, first, last, np.zeros(len(family), np.uint8))


def paths_of(records: Sequence[Record]) -> set[str]:
    """Return the paths at which any of the records has a text, a number or a flag."""
    seen: set[str] = set()
    for record in records:
        # Per record too: a single record may have millions of paths.
        seen.update(islice(_paths(record, ""), _MAX_PATHS))
        if len(seen) > _MAX_PATHS:
            break
    return seen


def _paths(value: Record, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _paths(below, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, below in enumerate(value):
            yield from _paths(below, f"{path}.{at}" if path else str(at))
    else:
        yield path or ITSELF


def columns_of(records: Sequence[Record], layout: Layout) -> pa.RecordBatch:
    """Return a dictionary-encoded column for each path in ``layout.fields``.

    Those in ``layout.lists`` can hold lists of texts.
    Paths are followed step by step for all records at once; a shared step is followed once.
    """
    values_by_path: dict[str, Sequence[Record]] = {"": records, ITSELF: records}
    columns = {}
    for path in sorted(layout.fields):
        # A map is no value of "country" if "country.iso_code" is read too.
        is_above = any(other.startswith(f"{path}.") for other in layout.fields)
        texts = [
            value or None
            if value.__class__ is str
            else _text(value, path in layout.lists, is_above)
            for value in _at(path, values_by_path)
        ]
        columns[path] = pa.array(texts, pa.string()).dictionary_encode()
    return pa.RecordBatch.from_pydict(columns)


def _at(path: str, values_by_path: dict[str, Sequence[Record]]) -> Sequence[Record]:
    """Return the value of each record at a path; None if there is none."""
    if path not in values_by_path:
        # "city.names.en": the values at "city.names" are found once for all languages.
        above, _, step = path.rpartition(".")
        values = _at(above, values_by_path)
        values = [_below(value, step) for value in values]
        # A key may have dots itself: "names.en" in "city", or "city.names.en" in the record.
        while above and None in values:
            above, _, last = above.rpartition(".")
            step = f"{last}.{step}"
            values = [
                m.get(step) if v is None and m.__class__ is dict else v
                for v, m in zip(values, _at(above, values_by_path), strict=True)
            ]
        values_by_path[path] = values
    return values_by_path[path]


def _below(value: Record, step: str) -> Record:
    """Return the value of a key, or of a position in a list: "subdivisions.0"."""
    if value.__class__ is dict:
        return value.get(step)
    is_item = value.__class__ is list and step.isdecimal() and int(step) < len(value)
    return value[int(step)] if is_item else None


def _text(value: Record, may_be_list: bool, is_above: bool) -> str | None:
    """Return a value as a cell: a list of texts as JSON."""
    if value is None or (is_above and isinstance(value, dict | list)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
        return str(int(value) if is_whole else value)
    is_flat = isinstance(value, list) and all(isinstance(item, str | int | float) for item in value)
    if may_be_list and is_flat:
        return json.dumps(value, ensure_ascii=False)
    return _NO_CELL


def are_other(records: Sequence[Record], paths: Collection[str]) -> Bools:
    """Return which records are of a kind that no path can read.

    No key can be read from a text, and ``.`` cannot be read from a map.
    """
    steps = {path.partition(".")[0] if path != ITSELF else path for path in paths}
    kinds: list[type] = []
    if steps - {ITSELF}:
        kinds.append(dict)
    if any(step.isdecimal() for step in steps):
        kinds.append(list)
    if ITSELF in steps:
        kinds += [str, int, float, bool]
    return np.array([record.__class__ not in kinds for record in records], bool)
