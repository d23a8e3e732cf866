"""The demands of a recipe on the rows of a source, and the checks after reading it.

A row is usable if it decides for at least one public address within its table. A vendor that
delivers an empty or a shortened file, or two releases in one folder, must not go unnoticed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from geolookup.contract.schema import Schema
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, DatasetError, count_text
from geolookup.filesystem.unpacking import PACKED
from geolookup_builder import limits
from geolookup_builder.build_report import SourceReport, rejects_file
from geolookup_builder.limits import Bound, Limits
from geolookup_builder.recipe.table import Table

_WORDS = {"empty": "ok", "releases": "all", "on_missing": "skip"}
KEYS = (*_WORDS, *limits.BOUNDS)
_MAY_BE_EMPTY = 'if it may be empty, write empty = "ok" in its recipe'
#: A date in a path, with or without separators and a time; a month needs a separator before it.
_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
# 20261101, 2026-11-01T0930, 2026_11; a separator must be repeated (\1). Not in 120261101.
_DATE = re.compile(
    rf"(?<![0-9])(?:{_YEAR}([-_.]?){_MONTH}\1{_DAY}(?:[-_.T][0-2][0-9][0-5][0-9](?:[0-5][0-9])?)?"
    rf"|(?<![A-Za-z]){_YEAR}[-_.]?{_MONTH})(?![0-9])"
)
_PACKED = re.compile(f"(?:{'|'.join(map(re.escape, PACKED))})(?=!|$)", re.IGNORECASE)


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

    def with_limits(self, of_all: Mapping[str, Bound]) -> RowRules:
        """Return the demands with the limits that an option sets for all sources."""
        stated = {key: {"": bound} for key, bound in of_all.items()}
        return replace(self, limits={**self.limits, **stated})


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
        if other != label and _DATE.findall(other) and _dates(other) != _dates(label):
            problem = f"two releases of one product, with {other}"
            remedy = 'name one of them; to read all, write releases = "all" in a recipe'
            raise BuildError(label, problem, remedy=remedy)


def product(label: str) -> str:
    """Return a path without dates, compression and a folder that repeats the archive's name."""
    # "GeoLite2-City_20260101.tar.gz!GeoLite2-City_20260101/GeoLite2-City.mmdb" becomes
    # "GeoLite2-City_@/GeoLite2-City.mmdb".
    parts = re.split(r"[/\\!]", _PACKED.sub("", _DATE.sub("@", label)))
    return "/".join(part for at, part in enumerate(parts) if at == 0 or part != parts[at - 1])


def _dates(label: str) -> list[str]:
    return [date[0] for date in _DATE.finditer(label)]


def check_some(
    expected: RowRules,
    recipe: Path,
    path: str,
    tables: Sequence[SourceReport],
    rejects: Path | None = None,
) -> None:
    """Raise BuildError for a table without usable rows, and for too few rows of a source.

    ``rejects`` is the file that lists the rejected rows.
    """
    rows, least = sum(table.used for table in tables), expected.bound("min_rows")
    if tables and not expected.may_be_empty:
        for table in tables:
            if not table.usable:
                raise _empty(recipe, path, table, "no usable row", rejects)
        if not any(table.has_value for table in tables):
            raise _empty(recipe, path, tables[0], "no row with a value", rejects)
        if not rows:
            problem = f"no row of {path} meets only, families and within"
            remedy = 'correct them; empty = "ok" in a recipe allows that'
            raise BuildError(recipe, problem, remedy=remedy)
    if least and rows < least.of(0):
        problem = f"{count_text(rows, 'usable row')} in {path}, min_rows is {least}"
        raise BuildError(recipe, problem, remedy="fetch the file again, or correct min_rows")
    rows = sum(table.read - table.rejected.total() for table in tables)
    for column, bound in expected.limits.get("min_coverage", {}).items():
        known = sum(table.stated[column] - table.nulled[column] for table in tables)
        if known < bound.least(rows):
            of = f"{known:,} of {count_text(rows, 'row')} of {path} have a value of {column}"
            problem = f"{of}, but min_coverage is {bound}"
            raise BuildError(recipe, problem, remedy="fetch the file again, or correct the demand")


def _empty(
    recipe: Path, path: str, table: SourceReport, problem: str, rejects: Path | None
) -> BuildError:
    counts = "; ".join(" ".join(line.split()) for line in table.lines())
    remedy = "check the file and its format; "
    if table.rejected.total() or table.nulled.total():
        remedy += f"{rejects_file(rejects)} lists the bad rows; "
    return BuildError(recipe, f"{problem} in {path} ({counts})", remedy=remedy + _MAY_BE_EMPTY)


class RowsBefore:
    """The usable rows of each source of an earlier dataset, by name without dates."""

    def __init__(self, sources: Iterable[tuple[str, int | None]]) -> None:
        self._rows: dict[str, list[int | None]] = {}
        for name, rows in sources:
            self._rows.setdefault(product(name), []).append(rows)

    def take(self, name: str) -> int | None:
        """Return the rows of the next source of a name; None if they are not known."""
        counts = self._rows.get(product(name))
        return counts.pop(0) if counts else None


def rows_before(earlier: Path | None) -> RowsBefore | None:
    """Return the rows of the sources of an earlier dataset; None if it is missing or damaged.

    A dataset has the rows of the sources behind it.
    """
    of_datasets, of_files = Counter[str](), list[tuple[str, int | None]]()
    try:
        for source in read_manifest(earlier).metadata().sources if earlier else ():
            if source.dataset:
                of_datasets[source.dataset] += source.rows or 0
            else:
                of_files.append((source.name, source.rows))
    except DatasetError:
        return None
    return RowsBefore([*of_files, *of_datasets.items()]) if earlier else None


def check_drop(
    expected: RowRules, recipe: Path, name: str, rows: int, earlier: RowsBefore | None
) -> str | None:
    """Raise BuildError if a source lost too many rows; return a warning if that is unknown."""
    before = earlier.take(name) if earlier else None
    most = expected.bound("max_drop")
    if most is None:
        return None
    if before is None:
        missing = "the earlier dataset has no rows of this source"
        return f"max_drop was not checked: {missing if earlier else 'no earlier dataset'}"
    # 1,001 rows and 20 %: 801 at least, not 800.8. Shares are exact, unlike floats.
    least = before - most.of(before)
    if rows < least:
        problem = (
            f"{name} has {count_text(rows, 'usable row')}, {before:,} before,"
            f" but max_drop = {most} allows {least:,} at least"
        )
        remedy = "fetch the file again; to accept the drop, raise max_drop or build to a new folder"
        raise BuildError(recipe, problem, remedy=remedy)
    return None
