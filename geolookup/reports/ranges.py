"""The section on ranges that changed: a CSV file in the page, with values before and after.

The file has the largest ranges of each family by addresses, at most ``MOST``.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from geolookup.comparison.change_table import ENDS, SIDES, diff_table
from geolookup.dataset.intervals import F64
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.reports.difference import Difference
from geolookup.reports.section import Download, Link, Section, Table, charts_section

#: The most ranges of a family in the file.
MOST = 4_000
#: The columns of the file after the ends of a range, and those of ``diff_table``.
_COLUMNS = {
    "change": "kind",
    **{
        f"{short}_{side}": f"{name}_{side}"
        for short, name in (
            ("country", "location_country_code"),
            ("region", "location_region_name"),
            ("city", "location_city_name"),
            ("asn", "network_asn"),
        )
        for side in SIDES
    },
}
_FIELDS = ("country_code", "region_name", "city_name", "asn")
_ALL = "all ranges, with all fields, the deciding sources, addresses and kilometres"
#: How formulas begin. A hyphen or a negative number stays.
_FORMULA = re.compile(r"(?!-[\d.,]*( %)?\Z)[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def ranges_section(difference: Difference, rows: str | None = None) -> Section | None:
    """Return the file of the ranges that changed; None if none did.

    ``rows`` is the path of a file with all of them, relative to the page.
    """
    old, new = difference.overlaid.old.path, difference.overlaid.new.path
    by_family = _largest_ranges(diff_table(old, new, _FIELDS))
    if not by_family:
        return None
    packed = b64encode(zlib.compress(_csv(by_family).encode(), 9)).decode()
    files = [(Link(line_text(rows), quote(rows)), _ALL)] if rows else []
    command = [] if rows else [f"geolookup diff OLD NEW --rows changes.parquet writes {_ALL}."]
    section = charts_section(
        "ranges",
        "Ranges that changed",
        " ".join([*map(_sentence, by_family, by_family.values()), *command]),
        [Download("Ranges that changed", "changed-ranges")],
        [Table("Files", ("File", "content"), files, words=(1,))] if files else [],
    )
    return replace(section, data={"changed-ranges": packed})


@dataclass(slots=True)
class _Ranges:
    """The largest ranges of a family so far, and all of them counted."""

    largest: pa.Table
    count: int
    addresses: float


def _largest_ranges(batches: Iterable[pa.RecordBatch]) -> dict[int, _Ranges]:
    """Return the largest ranges by family, in the order of their addresses."""
    by_family: dict[int, _Ranges] = {}
    for batch in batches:
        rows, family = pa.table(batch), batch["family"][0].as_py()
        largest, addresses = _largest(rows), float(_sizes(rows).sum())
        if before := by_family.get(family):
            before.largest = _largest(pa.concat_tables([before.largest, largest]))
            before.count += len(rows)
            before.addresses += addresses
        else:
            by_family[family] = _Ranges(largest, len(rows), addresses)
    return by_family


def _largest(rows: pa.Table) -> pa.Table:
    selection = np.sort(np.argsort(-_sizes(rows), kind="stable")[:MOST])
    return rows.unify_dictionaries().take(selection)


def _sizes(rows: pa.Table) -> F64:
    sizes: F64 = rows["addresses"].cast(pa.float64()).to_numpy()
    return sizes


def _sentence(family: int, ranges: _Ranges) -> str:
    shown, of = len(ranges.largest), ranges.count
    if shown == of:
        return f"IPv{family}: all {of:,} ranges whose country, region, city or AS differs."
    share = wording.percent(float(_sizes(ranges.largest).sum()) / ranges.addresses)
    return (
        f"IPv{family}: the {shown:,} largest of {of:,} ranges whose country, region, city or AS "
        f"differs, {share} of the addresses in them."
    )


def _csv(by_family: Mapping[int, _Ranges]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["first", "last", *_COLUMNS])
    for family, ranges in by_family.items():
        ends = (map(ip_address, ranges.largest[name].to_pylist()) for name in ENDS[family])
        columns = (map(_cell, ranges.largest[name].to_pylist()) for name in _COLUMNS.values())
        writer.writerows(zip(*ends, *columns, strict=True))
    return text.getvalue()


def _cell(value: object) -> str:
    return "" if value is None else without_formula(str(value))


def without_formula(text: str) -> str:
    """Return a cell that no spreadsheet runs as a formula, as ``assets/save.js`` does."""
    return f"'{text}" if _FORMULA.match(text) else text
