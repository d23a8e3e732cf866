"""The demands of a recipe on the rows of a source, and the checks after reading it.

A row is usable if it decides for at least one public address within its table. A vendor that
delivers an empty or a shortened file, or two releases in one folder, must not go unnoticed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.contract.schema import Schema
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, DatasetError, count_text
from geolookup.filesystem.unpacking import PACKED
from geolookup_builder import limits
from geolookup_builder.build_report import BuildReport, Demand, SourceReport, rejects_file
from geolookup_builder.limits import Bound, Limits
from geolookup_builder.recipe.table import Table

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import SourceSpec

_WORDS = {"empty": "ok", "releases": "all", "on_missing": "skip"}
KEYS = (*_WORDS, *limits.BOUNDS)
#: A date in a path, with or without separators and a time; a month needs a separator before it.
_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
# 20261101, 2026-11-01T0930, 2026_11; a separator must be repeated (\1). Not in 120261101.
_DATE = re.compile(
    rf"(?<![0-9])(?:{_YEAR}([-_.]?){_MONTH}\1{_DAY}(?:[-_.T][0-2][0-9][0-5][0-9](?:[0-5][0-9])?)?"
    rf"|(?<![A-Za-z]){_YEAR}[-_.]?{_MONTH})(?![0-9])"
)
_PACKED = re.compile(f"(?:{'|'.join(map(re.escape, PACKED))})(?=!|$)", re.IGNORECASE)


#: The usable rows of the sources of an earlier dataset, by name without dates.
RowsBefore = dict[str, list[int | None]]


@dataclass(frozen=True, slots=True)
class RowRules:
    """The demands of a ``[[source]]`` on its files and rows; ``limits`` are its bounds by key."""

    limits: Limits = field(default_factory=dict)
    may_be_empty: bool = False
    all_releases: bool = False  # of files that differ by their date
    may_be_missing: bool = False  # without files, or not downloaded

    def bound(self, key: str) -> Bound | None:
        """Return a bound that is not by field."""
        return self.limits.get(key, {}).get("")


def read_expected(table: Table, schema: Schema) -> RowRules:
    """Return the demands of a ``[[source]]``; BuildError for a malformed value."""
    for key, only in _WORDS.items():
        if table.values.get(key, only) != only:
            problem = f"unknown value {table.values[key]!r} of source.{key}"
            raise BuildError(table.recipe, problem, remedy=f'write {key} = "{only}", or drop it')
    words = (key in table for key in _WORDS)
    return RowRules(limits.read_limits(table, schema), *words)


def check_releases(expected: RowRules, labels: Iterable[str]) -> None:
    """Raise BuildError if two files are the same but for a date: two releases of one product."""
    seen: dict[str, str] = {}
    for label in () if expected.all_releases else labels:
        other = seen.setdefault(product(label), label)
        dates, own = ([date[0] for date in _DATE.finditer(text)] for text in (other, label))
        if dates and dates != own:
            problem = f"two releases of one product, with {other}"
            remedy = 'name one of them; to read all, write releases = "all" in a recipe'
            raise BuildError(label, problem, remedy=remedy)


def product(label: str) -> str:
    """Return a path without dates, compression and a folder that repeats the archive's name."""
    # "GeoLite2-City_20260101.tar.gz!GeoLite2-City_20260101/GeoLite2-City.mmdb" becomes
    # "GeoLite2-City_@/GeoLite2-City.mmdb".
    parts = re.split(r"[/\\!]", _PACKED.sub("", _DATE.sub("@", label)))
    return "/".join(part for at, part in enumerate(parts) if at == 0 or part != parts[at - 1])


def check_some(spec: SourceSpec, tables: Sequence[SourceReport], rejects: Path | None) -> None:
    """Raise BuildError for a source without usable rows, and for one of its tables.

    ``rejects`` is the file that lists the rejected rows.
    """
    if spec.expected.may_be_empty or not tables:
        return
    path = spec.remote.safe_uri if spec.remote else str(spec.base / spec.path)
    allow = 'if it may be empty, write empty = "ok" in its recipe'
    empty = next((table for table in tables if not table.used + table.rows["left out"]), None)
    if empty or not any(table.has_value for table in tables):
        table, problem = empty or tables[0], "no usable row" if empty else "no row with a value"
        counts = "; ".join(" ".join(line.split()) for line in table.lines())
        remedy = "check the file and its format"
        if table.rejected.total() or table.nulled.total():
            remedy += f"; {rejects_file(rejects)} lists the bad rows"
        if table.rows["clipped"]:
            remedy += "; private networks need own columns with private = true"
        raise BuildError(
            spec.recipe, f"{problem} in {path} ({counts})", remedy=f"{remedy}; {allow}"
        )
    if not any(table.used for table in tables):
        problem = f"no row of {path} meets only, families and within"
        raise BuildError(spec.recipe, problem, remedy=f"correct them; {allow}")


def rows_before(earlier: Path | None) -> RowsBefore:
    """Return the rows of the sources of an earlier dataset; none if it is missing or damaged.

    A dataset has the rows of the sources behind it.
    """
    rows, of_datasets = RowsBefore(), Counter[str]()
    with suppress(DatasetError):
        for source in read_manifest(earlier).metadata().sources if earlier else ():
            if source.dataset:
                of_datasets[source.dataset] += source.rows or 0
            else:
                rows.setdefault(product(source.name), []).append(source.rows)
    for name, count in of_datasets.items():
        rows.setdefault(product(name), []).append(count)
    return rows


def check_demands(
    spec: SourceSpec,
    name: str,
    rows: int,
    tables: Sequence[SourceReport],
    earlier: RowsBefore,
    report: BuildReport,
) -> None:
    """Add the demands on the rows of a source to a report; BuildError for one that is not met.

    A drop that cannot be checked is a warning.
    """
    expected, of_name = spec.expected, earlier.get(product(name))
    before = of_name.pop(0) if of_name else None
    if "max_drop" in expected.limits and before is None:
        report.warnings.append(f"{name}: max_drop was not checked: no earlier dataset has its rows")
    for demand, observed, is_met in _demands(expected, rows, before, tables):
        report.quality.append(Demand(f"{demand} of {name}", observed, is_met))
        if not is_met:
            problem = f"{demand} of {name}: found {observed}"
            remedy = "fetch the file again, or correct the demand"
            raise BuildError(spec.recipe, problem, remedy=remedy)


def _demands(
    expected: RowRules, rows: int, before: int | None, tables: Sequence[SourceReport]
) -> Iterator[tuple[str, str, bool]]:
    """Yield each demand, the observed value, and whether it is met."""
    usable = count_text(rows, "usable row")
    if least := expected.bound("min_rows"):
        yield f"min_rows = {least}", usable, rows >= least.of(0)
    if (most := expected.bound("max_drop")) and before is not None:
        # 1,001 rows and 20 %: 801 at least, not 800.8. Shares are exact, unlike floats.
        is_met = rows >= before - most.of(before)
        yield f"max_drop = {most}", f"{usable}, {before:,} before", is_met
    of = sum(table.read - table.rejected.total() for table in tables)
    for column, bound in expected.limits.get("min_coverage", {}).items():
        known = sum(table.stated[column] - table.nulled[column] for table in tables)
        observed = f"{known:,} of {count_text(of, 'row')} with a value"
        yield f"min_coverage {column} = {bound}", observed, known >= bound.least(of)
