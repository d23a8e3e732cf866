"""What the addresses of a file have in common: countries, cities, networks, in order of frequency.

Strategy: rows of the dataset are counted, not answers; what the rows say is
looked up once at the end. Memory is that of a number for each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.engine import Engine
from geolookup.errors import TableFileError
from geolookup.files.enrich import Place, Step
from geolookup.files.reading import Reading
from geolookup.files.streams import incoming, input_name
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID

_CHUNK = 1 << 16
#: What is counted, by the name it is told under: members of the answer that make one thing.
KINDS = {
    "countries": ("location.country_code", "location.country_name"),
    "cities": ("location.city_name", "location.region_name", "location.country_code"),
    "networks": ("network.asn", "network.asn_organization"),
}


@dataclass(frozen=True, slots=True)
class Thing:
    """A country, city or network, and how many addresses of the file are in it."""

    names: tuple[Any, ...]  # the members of KINDS, None where unknown
    addresses: int


class Summary:
    """Counts of the addresses of any number of files, by one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        counts = engine.metadata.counts
        rows = counts["ipv4_intervals"] + counts["ipv6_intervals"]
        self._met = np.zeros(rows, np.int64)  # addresses by located row
        self.addresses = 0
        self.invalid = 0
        self.private = 0
        self.ipv6 = 0

    @property
    def located(self) -> int:
        """Addresses that have an answer, be it that nothing is known."""
        return self.addresses - self.invalid - self.private

    def add(self, column: Any) -> None:
        """Count a column of addresses."""
        rows = self._engine.locate(column).to_numpy()
        self.addresses += len(rows)
        self.invalid += int((rows == INVALID_ID).sum())
        self.private += int((rows == PRIVATE_ID).sum())
        np.add.at(self._met, rows[rows >= 0], 1)
        families = self._engine.enrich(column, fields="ip_type", threads=1)["ip_type"]
        self.ipv6 += pc.sum(pc.equal(families.cast(pa.string()), "ipv6")).as_py() or 0

    def things(self, kind: str) -> list[Thing]:
        """Return what of a kind was met, most frequent first, then by name; nothing unknown."""
        paths = KINDS[kind]
        names = [path.replace(".", "_") for path in paths]
        found = [each for each in self._taken(paths) if len(each)]
        if not found:
            return []
        table = pa.concat_tables(found).group_by(names).aggregate([("addresses", "sum")])
        table = table.filter(pc.is_valid(table[names[0]]))
        rows = zip(*(table[name].to_pylist() for name in [*names, "addresses_sum"]), strict=True)
        things = [Thing(row[:-1], row[-1]) for row in rows]
        return sorted(things, key=lambda thing: (-thing.addresses, [str(n) for n in thing.names]))

    def _taken(self, paths: tuple[str, ...]) -> Iterator[pa.Table]:
        """Yield the members of all rows met, with their counts, those alike put together."""
        rows = np.flatnonzero(self._met).astype(np.int32)
        for begin in range(0, len(rows), _CHUNK):
            part = rows[begin : begin + _CHUNK]
            taken = self._engine.take(pa.array(part), list(paths))
            plain = [_plain(column) for column in taken.columns]
            table = pa.table(
                [*plain, pa.array(self._met[part])], [*taken.schema.names, "addresses"]
            )
            grouped = table.group_by(taken.schema.names).aggregate([("addresses", "sum")])
            yield grouped.rename_columns(
                [name.removesuffix("_sum") for name in grouped.schema.names]
            ).select([*taken.schema.names, "addresses"])


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def count_file(
    summary: Summary,
    source: Place,
    column: str,
    delimiter: str | None,
    step: Step,
    *,
    header: bool = True,
) -> None:
    """Add the addresses of a file; raises TableFileError for one that cannot be read."""
    wanted = Reading(input_name(source.path), (column,), "dropped", delimiter, header=header)
    with incoming(source.path, source.kind.compression) as stream:
        rows = source.kind.format.reader.read(stream, wanted)
        before = summary.addresses
        for batch in rows.batches:
            try:
                summary.add(batch.column(0))
            except TypeError as error:
                raise TableFileError(
                    wanted.name, str(error), "name another by --ip-column"
                ) from error
            done = summary.addresses - before
            step(done / rows.total if rows.total else stream.fraction())
