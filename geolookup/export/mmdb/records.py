"""The records of an MMDB file: one for each distinct pair of a location and a network.

Strategy: the members of a record that follow from the location row are encoded once for each
distinct location, those of the network row likewise; a record is a header and both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.data import DataSection
from geolookup.export.mmdb.encoding import MAP, binary, header, joined
from geolookup.export.mmdb.members import Columns, Group, Leaf, Member, keys_of, nested, table_of
from geolookup.export.mmdb.schemas import Schema
from geolookup.tables.rows import row_tables

U32 = NDArray[np.uint32]


class Records:
    """The records that a schema gives for a dataset.

    The *pair* of a location and a network row is a number that is equal for rows whose records
    are equal, and 0 where the record has no member.
    """

    def __init__(self, dataset: Dataset, schema: Schema) -> None:
        members = nested(schema.paths)
        self._members = members
        self._parts: dict[str, Group] = {}
        columns = Columns(row_tables(dataset), schema)
        for table in (LOCATION, NETWORK):
            of_table = {name: each for name, each in members.items() if table_of(each) == table}
            if of_table:
                self._parts[table] = columns.group(of_table, table)
        self._networks = 1 + len(self._parts[NETWORK].rows) if NETWORK in self._parts else 1

    def pairs(self, location_rows: U32, network_rows: U32) -> I64:
        """Return the pair of each of n intervals, by its rows."""
        found = np.zeros(len(location_rows), np.int64)
        if LOCATION in self._parts:
            found = (self._parts[LOCATION].codes[location_rows] + 1) * self._networks
        if NETWORK in self._parts:
            found = found + self._parts[NETWORK].codes[network_rows] + 1
        return found

    def write(self, section: DataSection, pairs: I64) -> I64:
        """Write the records of distinct pairs, none of them 0; return the position of each."""
        keys = section.keys(list(dict.fromkeys(keys_of(self._members))))
        codes = dict(zip((LOCATION, NETWORK), np.divmod(pairs, self._networks), strict=True))
        of_pairs = {table: codes[table] - 1 for table in self._parts}
        _refer(
            section,
            keys,
            [
                each
                for table, part in self._parts.items()
                for each in _uses(part, _uses_of(of_pairs[table], len(part.rows)))
            ],
        )
        counts, contents = np.zeros(len(pairs), np.int64), []
        for table, part in self._parts.items():
            of_pair = of_pairs[table]
            counts += np.append(part.counts, 0)[of_pair]
            contents.append(part.contents(keys).take(pa.array(of_pair, mask=of_pair < 0)))
        headers = binary(header(MAP, count) for count in range(len(self._members) + 1))
        return section.append(joined(headers.take(pa.array(counts)), *contents))


#: A member, and how often each of its values is in what contains it, by code.
_Use = tuple[Member, I64]


def _refer(section: DataSection, keys: Mapping[str, bytes], uses: Sequence[_Use]) -> None:
    """Write what several parents have, and set the references of all members, inner ones first."""
    for height in range(1 + max((each.height for each, _ in uses), default=-1)):
        level = [(member, count) for member, count in uses if member.height == height]
        values = [
            each.encoded if isinstance(each, Leaf) else each.encoded(keys) for each, _ in level
        ]
        counts = np.concatenate([count for _, count in level])
        references = section.share(pa.concat_arrays(values), counts)
        begin = 0
        for member, count in level:
            member.references = references.slice(begin, len(count))
            begin += len(count)


def _uses(group: Group, parents: I64) -> Iterator[_Use]:
    """Yield all members inside a group, of which there are so many copies by code."""
    for member, codes in zip(group.members.values(), group.rows.T, strict=True):
        if isinstance(member, Leaf):
            yield member, _uses_of(codes, len(member.encoded), parents)
        else:
            count = _uses_of(codes, len(member.rows), parents)
            yield member, count
            yield from _uses(member, np.ones(len(count), np.int64))


def _uses_of(codes: I64, count: int, parents: I64 | None = None) -> I64:
    """Count each of ``count`` codes; each parent counts once, or as often as stated."""
    is_known = codes >= 0
    weights = None if parents is None else parents[is_known]
    return np.bincount(codes[is_known], weights, count).astype(np.int64)
