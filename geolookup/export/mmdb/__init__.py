"""A dataset as an MMDB file, the database format of MaxMind's readers.

Strategy: the rows of the dataset give encoded records, the intervals give boundaries, and the
search tree follows from those. No Python code runs for a single interval.
Format: https://maxmind.github.io/MaxMind-DB/ (version 2.0).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geolookup.compat import LANGUAGE, build_epoch
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses
from geolookup.dataset.metadata import Metadata
from geolookup.dataset.public_ranges import U32
from geolookup.dataset.runs import factorize
from geolookup.errors import ExportError
from geolookup.export.formats import FLAT, Counts, Values
from geolookup.export.mmdb.boundaries import ALIAS, NOTHING, boundaries
from geolookup.export.mmdb.encoding import UINT16, UINT32, UINT64, encode
from geolookup.export.mmdb.members import Parts
from geolookup.export.mmdb.records import Records
from geolookup.export.mmdb.schemas import Schema, schema_of, with_own
from geolookup.export.mmdb.tree import Tree
from geolookup.progress import Progress

_IP_VERSION = 6
#: The depth of ::/96, at which the IPv4 addresses begin.
_IPV4_DEPTH = 96
_SEPARATOR = bytes(16)
_MARKER = b"\xab\xcd\xefMaxMind.com"
#: The sizes that a record of the tree may have, in bits.
_RECORD_BITS = (24, 28, 32)
#: The build epoch of data without a date: libmaxminddb refuses a file with 0.
_UNDATED = 1
#: Nodes that are written at once.
_CHUNK = 1 << 18
#: The numbers of ranges without a record, as places from the end of a column.
_TO_ALIAS, _TO_NOTHING = -2, -1


def write(dataset: Dataset, path: Path, values: Values, progress: Progress) -> Counts:
    """Write the file; see ``formats.Write``."""
    about = dataset.manifest.metadata()
    schema = schema_of(values.get("schema", FLAT), about.fields, values.get("fields", ()))
    schema = with_own(schema, values.get("columns", ()), dataset.schema)
    with progress.stage("encoding rows"):
        parts = Parts(dataset, schema)
    with progress.stage("joining intervals"):
        starts, pairs = boundaries(dataset, parts.pairs, parts.tables, progress)
    with progress.stage("writing records"):
        distinct, codes = _distinct(pairs)
        records = Records([*parts.by_table.values()], parts.codes(distinct))
    with progress.stage("writing the search tree"):
        tree = _tree(starts, codes, records)
        _write_file(path, tree, records, _metadata(about, schema, tree))
    return {"nodes": len(tree.nodes), "records": len(distinct), "record bits": tree.bits}


class _Nodes(NamedTuple):
    """The nodes (count, 2) of a search tree, and the bits of each of their records."""

    nodes: U32
    bits: int


def _distinct(pairs: I64) -> tuple[I64, I64]:
    """Return the distinct pairs, and the number of each pair among them.

    The number is _TO_NOTHING without a record, _TO_ALIAS for an alias.
    """
    is_pair = pairs > NOTHING
    codes = np.where(pairs == ALIAS, _TO_ALIAS, _TO_NOTHING)
    codes[is_pair], first = factorize([pairs[is_pair]])
    return pairs[is_pair][first], codes


def _tree(starts: Addresses, codes: I64, records: Records) -> _Nodes:
    """Return the tree whose records point to nodes and into the data section."""
    # The code of the range before the first boundary; at address 0 no boundary is needed.
    codes = np.append(_TO_NOTHING, codes)
    if len(starts) and starts.item(0) == 0:
        starts, codes = starts[1:], codes[1:]
    low, high = starts.halves()
    tree = Tree(high, low)
    # A record below ``count`` is a node, ``count`` is "nothing", ``count`` + 16 + p is data at p.
    base = tree.count + len(_SEPARATOR)
    bits = next((size for size in _RECORD_BITS if base + records.size < 1 << size), None)
    if bits is None:
        remedy = "limit it by --fields, or write a schema of fewer members"
        raise ExportError("the dataset is too large for records of 32 bits", remedy)
    has_ipv4 = bool(high[0] == 0 and low[0] >> np.uint64(32) == 0)
    values = np.concatenate([base + records.positions, [0, tree.count]]).astype(np.uint32)
    # The nodes of the path 000...0 have the numbers 0, 1, 2, ...: ::/96 is node 96, unless all
    # IPv4 addresses have one value: the first.
    values[_TO_ALIAS] = _IPV4_DEPTH if has_ipv4 else values[codes[0]]
    return _Nodes(tree.nodes(values[codes]), bits)


def _write_file(path: Path, tree: _Nodes, records: Records, metadata: bytes) -> None:
    with path.open("wb") as stream:
        for chunk in chain(_pack_nodes(tree), [_SEPARATOR], records.chunks()):
            stream.write(chunk)
        stream.write(_MARKER + metadata)


def _pack_nodes(tree: _Nodes) -> Iterator[bytes]:
    """Yield the bytes of the nodes; in 28 bits the middle byte has the top bits of both records."""
    for begin in range(0, len(tree.nodes), _CHUNK):
        nodes = tree.nodes[begin : begin + _CHUNK]
        # (nodes, 2 records, 4 bytes), the most significant byte first.
        octets = nodes.astype(">u4").view(np.uint8).reshape(-1, 2, 4)
        if tree.bits == 28:
            # Records 0LLLLLLL and 0RRRRRRR, in hexadecimal digits, become LLLLLL LR RRRRRR.
            middle = octets[:, 0, :1] << 4 | octets[:, 1, :1]
            yield np.hstack([octets[:, 0, 1:], middle, octets[:, 1, 1:]]).tobytes()
        else:
            yield octets[:, :, 4 - tree.bits // 8 :].tobytes()


def _metadata(about: Metadata, schema: Schema, tree: _Nodes) -> bytes:
    owed = (source.attribution for source in about.sources if source.attribution)
    return encode(
        {
            "binary_format_major_version": (UINT16, 2),
            "binary_format_minor_version": (UINT16, 0),
            "build_epoch": (UINT64, max(build_epoch(about), _UNDATED)),
            "database_type": schema.database_type,
            "description": {LANGUAGE: "; ".join(dict.fromkeys([about.name, *owed]))},
            "ip_version": (UINT16, _IP_VERSION),
            "languages": [LANGUAGE],
            "node_count": (UINT32, len(tree.nodes)),
            "record_size": (UINT16, tree.bits),
        }
    )
