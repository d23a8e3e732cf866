"""The section on ranges that changed: a CSV file in the page, with values before and after.

The file has the largest ranges of each family by addresses, at most ``MOST``.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
_ALL = "all ranges, with the values and sources before and after, addresses and kilometres"
#: How formulas begin. A hyphen or a negative number stays.
_FORMULA = re.compile(r"(?!-[\d.,]*( %)?\Z)[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def ranges_section(difference: Difference, rows: str | None = None) -> Section | None:
    """Return the file of the ranges that changed; None if none did.

    ``rows`` is the path of a file with all of them, relative to the page.
    """
    old, new = difference.overlaid.old.path, difference.overlaid.new.path
    changed = diff_table(old, new, _FIELDS).read_all().unify_dictionaries()
    if not len(changed):
        return None
    by_family = {
        family: changed.filter(pc.equal(changed["family"], family))
        for family in changed["family"].unique().to_pylist()
    }
    largest = {family: _largest(ranges) for family, ranges in by_family.items()}
    notes = [_sentence(family, largest[family], ranges) for family, ranges in by_family.items()]
    packed = b64encode(zlib.compress(_csv(largest).encode(), 9)).decode()
    files = [(Link(line_text(rows), quote(rows)), _ALL)] if rows else []
    command = [] if rows else [f"geolookup diff OLD NEW --rows changes.parquet writes {_ALL}."]
    section = charts_section(
        "ranges",
        "Ranges that changed",
        " ".join([*notes, *command]),
        [Download("Ranges that changed", "changed-ranges")],
        [Table("Files", ("File", "content"), files, words=(1,))] if files else [],
    )
    return replace(section, data={"changed-ranges": packed})


def _largest(rows: pa.Table) -> pa.Table:
    selection = np.sort(np.argsort(-_sizes(rows), kind="stable")[:MOST])
    return rows.take(selection)


def _sizes(rows: pa.Table) -> F64:
    sizes: F64 = rows["addresses"].cast(pa.float64()).to_numpy()
    return sizes


def _sentence(family: int, largest: pa.Table, every: pa.Table) -> str:
    shown, of = len(largest), len(every)
    if shown == of:
        return f"IPv{family}: all {of:,} ranges whose country, region, city or AS differs."
    share = wording.percent(float(_sizes(largest).sum() / _sizes(every).sum()))
    return (
        f"IPv{family}: the {shown:,} largest of {of:,} ranges whose country, region, city or AS "
        f"differs, {share} of the addresses in them."
    )


def _csv(largest: Mapping[int, pa.Table]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["first", "last", *_COLUMNS])
    for family, rows in largest.items():
        ends = (map(ip_address, rows[name].to_pylist()) for name in ENDS[family])
        columns = (map(_cell, rows[name].to_pylist()) for name in _COLUMNS.values())
        writer.writerows(zip(*ends, *columns, strict=True))
    return text.getvalue()


def _cell(value: object) -> str:
    return "" if value is None else without_formula(str(value))


def without_formula(text: str) -> str:
    """Return a cell that no spreadsheet runs as a formula, as ``assets/save.js`` does."""
    return f"'{text}" if _FORMULA.match(text) else text
