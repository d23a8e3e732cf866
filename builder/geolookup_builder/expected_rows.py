"""The demands of a recipe on the rows of a source, and the checks after reading it.

A row is usable if it decides for at least one public address within its table. A vendor that
delivers an empty or a shortened file, or two releases in one folder, must not go unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from geolookup.contract.schema import Schema
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, DatasetError, count_text
from geolookup.filesystem.unpacking import PACKED
from geolookup_builder import limits
from geolookup_builder.build_report import SourceReport, rejects_file
from geolookup_builder.limits import NUMBER, SHARE, Bound, Limits, read_bound, read_by_field
from geolookup_builder.recipe.table import Table

_WORDS = {"empty": "ok", "releases": "all", "on_missing": "skip"}
KEYS = (*_WORDS, "min_rows", "min_decided", "max_drop", "min_coverage", *limits.KEYS)
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
    """The demands of a ``[[source]]`` on its files and rows.

    ``min_coverage`` has the least number or share of its rows with a value, by column.
    """

    may_be_empty: bool = False
    all_releases: bool = False  # of files that differ by their date
    may_be_missing: bool = False  # without files, or not downloaded
    min_rows: int = 0
    min_decided: int = 0  # addresses of one layer and family that it decides in the dataset
    max_drop: Bound | None = None  # of the rows in an earlier dataset
    min_coverage: Mapping[str, Bound] = field(default_factory=dict)
    limits: Limits = field(default_factory=dict)

    def with_limits(self, of_all: Mapping[str, Bound]) -> RowRules:
        """Return the demands with the limits that an option sets for all sources."""
        stated = {word: {"": bound} for word, bound in of_all.items()}
        return replace(self, limits={**self.limits, **stated})


def read_expected(table: Table, schema: Schema) -> RowRules:
    """Return the demands of a ``[[source]]``; BuildError for a malformed value."""
    for key, only in _WORDS.items():
        if table.values.get(key, only) != only:
            problem = f"unknown value {table.values[key]!r} of source.{key}"
            raise BuildError(table.recipe, problem, remedy=f'write {key} = "{only}", or drop it')
    drop, least_decided = table.values.get("max_drop"), table.values.get("min_decided", 0)
    return RowRules(
        may_be_empty="empty" in table,
        all_releases="releases" in table,
        may_be_missing="on_missing" in table,
        min_rows=read_bound(table, "min_rows", table.values.get("min_rows", 0), NUMBER).of(0),
        min_decided=read_bound(table, "min_decided", least_decided, NUMBER).of(0),
        max_drop=read_bound(table, "max_drop", drop, SHARE) if drop is not None else None,
        min_coverage=read_by_field(table, "min_coverage", schema, SHARE),
        limits=limits.read_limits(table, schema),
    )


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
    rows = sum(table.used for table in tables)
    if not expected.may_be_empty:
        for table in tables:
            if not table.usable:
                raise _empty(recipe, path, table, "no usable row", rejects)
        if tables and not any(table.has_value for table in tables):
            raise _empty(recipe, path, tables[0], "no row with a value", rejects)
        if tables and not rows:
            problem = f"no row of {path} meets only, families and within"
            remedy = 'correct them; empty = "ok" in a recipe allows that'
            raise BuildError(recipe, problem, remedy=remedy)
    if rows < expected.min_rows:
        problem = f"{count_text(rows, 'usable row')} in {path}, min_rows is {expected.min_rows:,}"
        raise BuildError(recipe, problem, remedy="fetch the file again, or correct min_rows")
    _check_coverage(expected, recipe, path, tables)


def _empty(
    recipe: Path, path: str, table: SourceReport, problem: str, rejects: Path | None
) -> BuildError:
    counts = "; ".join(" ".join(line.split()) for line in table.lines())
    remedy = "check the file and its format"
    if table.rejected.total() or table.nulled.total():
        remedy += f"; {rejects_file(rejects)} lists the bad rows"
    return BuildError(
        recipe, f"{problem} in {path} ({counts})", remedy=f"{remedy}; {_MAY_BE_EMPTY}"
    )


def _check_coverage(
    expected: RowRules, recipe: Path, path: str, tables: Sequence[SourceReport]
) -> None:
    """Raise BuildError if too few rows of a source have a value of a field."""
    rows = sum(table.read - table.rejected.total() for table in tables)
    for column, bound in expected.min_coverage.items():
        known = sum(table.stated[column] - table.nulled[column] for table in tables)
        if known < bound.least(rows):
            problem = (
                f"{known:,} of {count_text(rows, 'row')} of {path} have a value of {column},"
                f" but min_coverage is {bound}"
            )
            raise BuildError(recipe, problem, remedy="fetch the file again, or correct the demand")


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
    if earlier is None:
        return None
    try:
        sources = read_manifest(earlier).metadata().sources
    except DatasetError:
        return None
    rows = [(source.name, source.rows) for source in sources if not source.dataset]
    of_datasets: dict[str, int] = {}
    for source in sources:
        if source.dataset:
            of_datasets[source.dataset] = of_datasets.get(source.dataset, 0) + (source.rows or 0)
    return RowsBefore([*rows, *of_datasets.items()])


def check_drop(
    expected: RowRules, recipe: Path, name: str, rows: int, earlier: RowsBefore | None
) -> str | None:
    """Raise BuildError if a source lost too many rows; return a warning if that is unknown."""
    before = None if earlier is None else earlier.take(name)
    if expected.max_drop is None:
        return None
    if earlier is None:
        return "max_drop was not checked: no earlier dataset"
    if before is None:
        return "max_drop was not checked: the earlier dataset has no rows of this source"
    # 1,001 rows and 20 %: 801 at least, not 800.8. Shares are exact, unlike floats.
    least = before - expected.max_drop.of(before)
    if rows < least:
        problem = (
            f"{name} has {count_text(rows, 'usable row')}, {before:,} before,"
            f" but max_drop = {expected.max_drop} allows {least:,} at least"
        )
        remedy = "fetch the file again; to accept the drop, raise max_drop or build to a new folder"
        raise BuildError(recipe, problem, remedy=remedy)
    return None
