"""The section on ranges that changed: the largest ones, with their values before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote

import pyarrow.compute as pc

from geolookup.comparison.change_table import ENDS, SIDES, diff_table
from geolookup.dataset.intervals import UNIT_ADDRESSES, UNITS
from geolookup.errors import count_text, line_text
from geolookup.pictures import wording
from geolookup.progress import stage
from geolookup.reports.changes import Difference
from geolookup.reports.section import Link, Section, Table, charts_section

Row = dict[str, Any]  # of diff_table
#: The most ranges of a family in its table.
MOST = 100
_FIELDS = ("country_code", "region_name", "city_name", "asn")
_COLUMNS = ("location_country_code", "location_region_name", "location_city_name", "network_asn")
#: The columns of words: all but the size.
_WORDS = (1, 3, 4, 5, 6, 7)
_ALL = "with the fields that sources state, and the deciding sources"


@stage("listing changed ranges")
def ranges_section(difference: Difference, rows: str | None = None) -> Section | None:
    """Return the largest ranges whose country, region, city or AS differs; None if none does.

    ``rows`` is the path of a file with all of them, relative to the page.
    """
    counts, addresses = Counter[int](), Counter[int]()
    largest: dict[int, list[Row]] = {}
    for batch in diff_table(difference.overlaid.old.path, difference.overlaid.new.path, _FIELDS):
        family = batch["family"][0].as_py()
        counts[family] += len(batch)
        addresses[family] += int(pc.sum(batch["addresses"]).as_py())
        order = pc.array_sort_indices(batch["addresses"], order="descending")
        listed = largest.get(family, []) + batch.take(order[:MOST]).to_pylist()
        largest[family] = nlargest(MOST, listed, key=lambda row: row["addresses"])
    if not counts:
        return None
    note = " ".join(
        f"IPv{family}: {len(listed):,} of {count_text(counts[family], 'range')} whose country, "
        f"region, city or AS differs, with {_share(listed, addresses[family])} of their addresses."
        for family, listed in largest.items()
    )
    tables = list(map(_table, largest, largest.values()))
    if rows:
        link = Link(line_text(rows), quote(rows))
        tables.append(Table("All ranges that changed", ("File", "rows"), [(link, _ALL)], (1,)))
    return charts_section("ranges", "Ranges that changed", note, [], tables)


def _share(rows: Sequence[Row], addresses: int) -> str:
    return wording.percent(sum(int(row["addresses"]) for row in rows) / addresses)


def _table(family: int, listed: Sequence[Row]) -> Table:
    head = ("First", "last", UNITS[family], "change", "country", "region", "city", "AS")
    rows = [
        (
            *(str(ip_address(row[name])) for name in ENDS[family]),
            wording.count(float(row["addresses"]) / UNIT_ADDRESSES[family]),
            row["kind"],
            *_values(row),
        )
        for row in listed
    ]
    return Table(f"IPv{family} ranges that changed", head, rows, _WORDS)


def _values(row: Row) -> Iterator[str]:
    """Yield the text of each value: DE, or DE → AT if it has changed."""
    for name in _COLUMNS:
        sides = [row[f"{name}_{side}"] for side in SIDES]
        texts = ["-" if value is None else wording.name(str(value)) for value in sides]
        yield texts[0] if sides[0] == sides[1] else " → ".join(texts)
