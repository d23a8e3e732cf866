"""The section on ranges that changed: a CSV file in the page, with values before and after.

The file has the largest ranges of each family by addresses, at most ``MOST``; the text beside the
button states their share of all that changed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.changes import KINDS, UNCHANGED
from geolookup.comparison.overlay import Answers
from geolookup.comparison.values import CODE, Pair, Values
from geolookup.contract.address import MAX
from geolookup.dataset.intervals import F64, I64
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.pictures.page_data import deflate
from geolookup.reports.difference import Difference
from geolookup.reports.section import Section

#: How formulas begin. A hyphen or a negative number stays.
_FORMULA = re.compile(r"(?!-[\d.,]*( %)?\Z)[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]")
#: The most ranges of a family in the file, and the most characters that the page has for it.
MOST, LIMIT = 10_000, 200_000
_FIELDS = {
    "country": CODE,
    "region": "location.region_name",
    "city": "location.city_name",
    "asn": "network.asn",
}
_HEAD = ("first", "last", "change",
         *(f"{name}_{side}" for name in _FIELDS for side in ("before", "after")))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedRanges:
    """n ranges of one family that changed, ascending: adjacent intervals that are alike are one.

    ``begin`` and ``end`` are positions in the joint intervals, ``end`` excluded; ``answers`` are
    positions in the answers.
    """

    family: int
    begin: I64
    end: I64
    answers: I64
    weights: F64

    def largest(self, most: int) -> ChangedRanges:
        """Return those with the most addresses, ascending."""
        rows = np.sort(np.argsort(-self.weights, kind="stable")[:most])
        begin, end, answers = (column[rows] for column in (self.begin, self.end, self.answers))
        return ChangedRanges(self.family, begin, end, answers, self.weights[rows])


def changed_ranges(difference: Difference, family: int) -> ChangedRanges:
    """Return the ranges of a family whose answer differs."""
    joint, kinds = difference.overlaid.joints[family], difference.kinds[family]
    changed = np.flatnonzero(kinds != UNCHANGED)
    intervals, answers = joint.reached[changed], joint.answers.take(changed)
    # The intervals 4 5 6 9 with answers a a b b are three ranges: 4-5 of a, 6 of b, 9 of b.
    begins = np.flatnonzero(_differ(intervals, answers))
    ends = np.append(begins[1:], len(changed))[: len(begins)] - 1
    weights = np.add.reduceat(answers.weight, begins) if len(begins) else answers.weight
    return ChangedRanges(
        family, intervals[begins], intervals[ends] + 1, changed[begins], weights.astype(np.float64)
    )


def _differ(intervals: I64, answers: Answers) -> NDArray[np.bool_]:
    """Mark what does not continue the interval before it."""
    differs: NDArray[np.bool_] = np.diff(intervals, prepend=-2) != 1
    for column in (answers.old_location, answers.new_location,
                   answers.old_network, answers.new_network):  # fmt: skip
        differs[1:] |= column[1:] != column[:-1]
    return differs


def ranges_section(difference: Difference, rows: str | None = None) -> Section | None:
    """Return the file of the ranges that changed; None if none did.

    ``rows`` is the path of a file with all of them, relative to the page.
    """
    every = [changed_ranges(difference, family) for family in (4, 6)]
    most = MOST
    # Fewer until they fit: names may have any length.
    while len(packed := deflate(_csv(difference, every, most).encode())) > LIMIT:
        most -= most // 4 or 1
    if not any(len(ranges.begin) for ranges in every):
        return None
    values = {
        "notes": list(_notes(every, most)),
        "data": "changed-ranges",
        "rows": rows and quote(rows),
        "rows_name": rows and line_text(rows),
    }
    return Section(
        "ranges",
        "Ranges that changed",
        "ranges.html",
        values,
        data={"changed-ranges": packed},
        scripts=("page_data.js",),
    )


def _notes(every: Sequence[ChangedRanges], most: int) -> Iterator[str]:
    for ranges in every:
        count, of = min(most, len(ranges.begin)), len(ranges.begin)
        share = ranges.largest(most).weights.sum() / (ranges.weights.sum() or 1.0)
        if count < of:
            yield (
                f"IPv{ranges.family}: the {count:,} largest of {of:,} ranges, "
                f"{wording.percent(float(share))} of the addresses that changed."
            )
        else:
            yield f"IPv{ranges.family}: all {of:,} ranges."


def _csv(difference: Difference, every: Sequence[ChangedRanges], most: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_HEAD)
    for ranges in every:
        writer.writerows(_rows(difference, ranges.largest(most)))
    return text.getvalue()


def _rows(difference: Difference, ranges: ChangedRanges) -> Iterator[list[str]]:
    joint, values = difference.overlaid.joints[ranges.family], difference.overlaid.values
    kinds = difference.kinds[ranges.family][ranges.answers].tolist()
    answers = joint.answers.take(ranges.answers)
    columns = [column for path in _FIELDS.values() for column in _texts(values, path, answers)]
    address = IPv4Address if ranges.family == 4 else IPv6Address
    for at, (begin, end) in enumerate(zip(ranges.begin.tolist(), ranges.end.tolist(), strict=True)):
        last = joint.starts.item(end) - 1 if end < len(joint.starts) else MAX[ranges.family]
        ends = str(address(joint.starts.item(begin))), str(address(last))
        yield [*ends, KINDS[kinds[at]], *(without_formula(column[at]) for column in columns)]


def _texts(values: Values, path: str, answers: Answers) -> Iterator[list[str]]:
    """Yield the values of a field before and after."""
    if path in values.network:
        pair, rows = values.network[path], (answers.old_network, answers.new_network)
    else:
        pair, rows = values.location[path], (answers.old_location, answers.new_location)
    for codes, of in zip((pair.old, pair.new), rows, strict=True):
        yield _take(pair, codes[of])


def _take(pair: Pair, codes: NDArray[np.int32]) -> list[str]:
    texts = pair.values
    return ["" if at < 0 or texts is None else str(texts[at].as_py()) for at in codes.tolist()]


def without_formula(text: str) -> str:
    """Return a cell that no spreadsheet runs as a formula, as ``assets/save.js`` does."""
    return f"'{text}" if _FORMULA.match(text) else text
