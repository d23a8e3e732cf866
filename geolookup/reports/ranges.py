"""The section on ranges that changed: the largest ones, with their values before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.comparison.change_table import ENDS, SIDES, diff_table
from geolookup.comparison.overlay import FAMILIES
from geolookup.dataset.intervals import UNIT_ADDRESSES, UNITS
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.reports.changes import Difference
from geolookup.reports.section import Link, Section, Table, charts_section

#: The most ranges of a family in its table.
MOST = 100
_FIELDS = ("country_code", "region_name", "city_name", "asn")
_COLUMNS = ("location_country_code", "location_region_name", "location_city_name", "network_asn")
#: The columns of words: all but the size.
_WORDS = (1, 3, 4, 5, 6, 7)
_ALL = "with the fields that sources state, and the deciding sources"


def ranges_section(difference: Difference, rows: str | None = None) -> Section | None:
    """Return the largest ranges whose country, region, city or AS differs; None if none does.

    ``rows`` is the path of a file with all of them, relative to the page.
    """
    families = {family: _Changed(family) for family in FAMILIES}
    for batch in diff_table(difference.overlaid.old.path, difference.overlaid.new.path, _FIELDS):
        families[batch["family"][0].as_py()].add(batch)
    changed = [of for of in families.values() if of.count]
    if not changed:
        return None
    note = " ".join(of.sentence() for of in changed)
    tables = [of.table() for of in changed]
    if rows:
        link = Link(line_text(rows), quote(rows))
        tables.append(Table("All ranges that changed", ("File", "rows"), [(link, _ALL)], (1,)))
    return charts_section("ranges", "Ranges that changed", note, [], tables)


@dataclass(slots=True)
class _Changed:
    """The changed ranges of a family: their number, their addresses, and the largest ones."""

    family: int
    count: int = 0
    addresses: int = 0
    largest: list[dict[str, Any]] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch, and keep the largest so far."""
        self.count += len(batch)
        self.addresses += int(pc.sum(batch["addresses"]).as_py())
        order = pc.array_sort_indices(batch["addresses"], order="descending")
        rows = self.largest + batch.take(order[:MOST]).to_pylist()
        self.largest = nlargest(MOST, rows, key=lambda row: row["addresses"])

    def sentence(self) -> str:
        """Return which part of the changed ranges the table has."""
        share = sum(int(row["addresses"]) for row in self.largest) / self.addresses
        return (
            f"IPv{self.family}: {len(self.largest):,} of {self.count:,} ranges whose country, "
            f"region, city or AS differs, with {wording.percent(share)} of the addresses in them."
        )

    def table(self) -> Table:
        """Return the largest ranges, the largest first."""
        head = ("First", "last", UNITS[self.family], "change", "country", "region", "city", "AS")
        rows = [
            (
                *(str(ip_address(row[name])) for name in ENDS[self.family]),
                wording.count(float(row["addresses"]) / UNIT_ADDRESSES[self.family]),
                row["kind"],
                *_values(row),
            )
            for row in self.largest
        ]
        return Table(f"IPv{self.family} ranges that changed", head, rows, _WORDS)


def _values(row: dict[str, Any]) -> Iterator[str]:
    """Yield the text of each value: DE, or DE → AT if it has changed."""
    for name in _COLUMNS:
        sides = [row[f"{name}_{side}"] for side in SIDES]
        texts = ["-" if value is None else wording.name(str(value)) for value in sides]
        yield texts[0] if sides[0] == sides[1] else " → ".join(texts)
