"""Where the addresses of files are: countries, cities and networks by number of addresses.

Strategy: addresses are counted by interval id, not by answer; the answers are
taken once at the end. Memory is 8 bytes for each interval of the dataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.engine import Engine
from geolookup.files.enrich import Step
from geolookup.files.table_files import AddressColumn, TableFile, open_addresses
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.tables.clean import cleaned
from geolookup.tables.locate import chunks, column_of, locate_chunk
from geolookup.tables.take import is_known

_CHUNK = 1 << 16
#: The kinds that are counted, each with the members of the answer that identify one.
KINDS = {
    "countries": ("location.country_code", "location.country_name"),
    "cities": ("location.city_name", "location.region_name", "location.country_code"),
    "networks": ("network.asn", "network.asn_organization"),
}


@dataclass(frozen=True, slots=True)
class Count:
    """A country, city or network, and the number of addresses in it."""

    members: tuple[Any, ...]  # the values of KINDS, None where unknown
    addresses: int


class Summary:
    """Counts of the addresses of any number of files, located by one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._state = engine._open_state()  # noqa: SLF001 - as adapters do
        counts = engine.metadata.counts
        intervals = counts["ipv4_intervals"] + counts["ipv6_intervals"]
        self._addresses_by_interval = np.zeros(intervals, np.int64)
        self.addresses = 0
        self.invalid = 0
        self.private = 0
        self.ipv6 = 0
        #: a line for each file that has malformed lines; their addresses are invalid
        self.malformed: list[str] = []

    @property
    def located(self) -> int:
        """Public addresses about which something is known."""
        intervals = np.flatnonzero(self._addresses_by_interval).astype(np.int32)
        known = is_known(self._state, intervals)
        return int(self._addresses_by_interval[intervals[known]].sum())

    @property
    def public(self) -> int:
        """Public addresses, also those about which nothing is known."""
        return self.addresses - self.invalid - self.private

    def add(self, column: Any, *, clean: bool = False) -> None:
        """Count a column of addresses, cleaned as by ``contract.cleaning`` if ``clean``."""
        for chunk in chunks(column_of(column)):
            located = locate_chunk(self._state, chunk)
            if clean:
                _, located = cleaned(self._state, chunk, located)
            self._add(located.ids, located.families)

    def _add(self, intervals: NDArray[np.int32], families: NDArray[np.uint8]) -> None:
        self.addresses += len(intervals)
        self.invalid += int((intervals == INVALID_ID).sum())
        self.private += int((intervals == PRIVATE_ID).sum())
        public = intervals >= 0
        np.add.at(self._addresses_by_interval, intervals[public], 1)
        self.ipv6 += int((families[public] == 6).sum())

    def by(self, kind: str) -> list[Count]:
        """Return the counts of a kind, the largest first, then by name, without the unknown."""
        paths = KINDS[kind]
        names = [path.replace(".", "_") for path in paths]
        found = [each for each in self._taken(paths) if len(each)]
        if not found:
            return []
        table = pa.concat_tables(found).group_by(names).aggregate([("addresses", "sum")])
        table = table.filter(pc.is_valid(table[names[0]]))
        rows = zip(*(table[name].to_pylist() for name in [*names, "addresses_sum"]), strict=True)
        counts = [Count(row[:-1], row[-1]) for row in rows]
        return sorted(counts, key=lambda each: (-each.addresses, [str(n) for n in each.members]))

    def _taken(self, paths: tuple[str, ...]) -> Iterator[pa.Table]:
        """Yield the members of the intervals with addresses, grouped, with their counts."""
        intervals = np.flatnonzero(self._addresses_by_interval).astype(np.int32)
        for begin in range(0, len(intervals), _CHUNK):
            part = intervals[begin : begin + _CHUNK]
            taken = self._engine.take(pa.array(part), list(paths))
            plain = [_plain(column) for column in taken.columns]
            addresses = pa.array(self._addresses_by_interval[part])
            table = pa.table([*plain, addresses], [*taken.schema.names, "addresses"])
            grouped = table.group_by(taken.schema.names).aggregate([("addresses", "sum")])
            yield grouped.rename_columns(
                [name.removesuffix("_sum") for name in grouped.schema.names]
            ).select([*taken.schema.names, "addresses"])


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def count_file(summary: Summary, file: TableFile, column: AddressColumn, step: Step) -> None:
    """Add the addresses of a file; raises TableFileError for a file that cannot be read."""
    with open_addresses(file, column) as table:
        before = summary.addresses
        for batch in table.rows.batches:
            summary.add(batch.column(0), clean=column.clean)
            step(table.fraction(summary.addresses - before))
        summary.malformed += table.malformed()
