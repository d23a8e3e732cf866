"""Bounds of a recipe: numbers or shares, of rows, values and columns; the options of a build.

``BOUNDS`` has the keys of ``[[source]]`` that are bounds, one for each word of the build report::

    max_rejected = 100                          # a number
    max_nulled = { asn = "5%", city = "1%" }    # a share, by field

Other demands on the rows of a source are checked after reading it. A row is usable if it decides
for at least one public address within its table. A vendor that delivers an empty or a shortened
file, or two releases in one folder, must not go unnoticed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.contract.schema import Schema
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, DatasetError, count_text
from geolookup.filesystem.unpacking import PACKED
from geolookup_builder.build_report import KINDS, BuildReport, Demand, SourceReport, rejects_file
from geolookup_builder.memory import MemoryBudget
from geolookup_builder.recipe.names import source_columns
from geolookup_builder.recipe.table import Table
from geolookup_builder.values import EMPTY_WORDS

if TYPE_CHECKING:
    from geolookup.remote.key import Mask
    from geolookup.signing.keys import PrivateKey
    from geolookup_builder.recipe.document import SourceSpec
    from geolookup_builder.rejects import Rejects

#: The forms of a bound.
NUMBER, SHARE, EITHER = "a number", "a percentage", "a percentage or a number"
_PERCENT = re.compile(r"(\d{1,2}(?:\.\d+)?|100)%", re.ASCII)


@dataclass(frozen=True, slots=True)
class Bound:
    """A number, or a share of a whole."""

    value: int | Fraction

    @property
    def is_share(self) -> bool:
        """Whether it is a share."""
        return isinstance(self.value, Fraction)

    def of(self, whole: int) -> int:
        """Return the number, or the share of a whole, rounded down: 1 % of 250 is 2."""
        return math.floor(self.value * whole if self.is_share else self.value)

    def least(self, whole: int) -> int:
        """Return the number, or the share of a whole, rounded up."""
        return math.ceil(self.value * whole if self.is_share else self.value)

    def __str__(self) -> str:
        return f'"{float(100 * self.value):g}%"' if self.is_share else str(self.value)


def bound_of(value: object) -> Bound | None:
    """Return the bound that a number, or a text such as "99.5%", means; exact: 199/200."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63:
        return Bound(value)
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    return Bound(Fraction(match[1]) / 100) if match else None


def key(word: str) -> str:
    """Return the key of the limit of a word in the build report: ``max_left_out``."""
    return f"max_{word.replace(' ', '_')}"


#: The form of each bound of a ``[[source]]``, by key.
BOUNDS = {
    "min_rows": NUMBER,
    "min_decided": NUMBER,
    "max_drop": SHARE,
    "min_coverage": SHARE,
    **{
        key(word): EITHER if kind.noun in ("row", "invalid value") else NUMBER
        for word, kind in KINDS.items()
    },
}
#: How a recipe reads invalid values, by their reason.
_REMEDIES = {
    'write decimal = "," in [source.cells], ': r"'[+-]?\d+,\d+' is not a (finite )?number",
    # Quoted as Python does: a backslash is two, as in a recipe.
    'write empty = ["{}"] in [source.cells], ': (
        f"'({'|'.join(re.escape(repr(word)[1:-1]) for word in sorted(EMPTY_WORDS))})' "
    ),
    "swap latitude and longitude in columns, ": r"latitude '[+-]?(9\d|1[0-7]\d)(\.\d*)?' is not",
}
#: By key and field; the empty field is of all others.
Limits = Mapping[str, Mapping[str, Bound]]
_WORDS = {"empty": "ok", "releases": "all", "on_missing": "skip"}
KEYS = (*_WORDS, *BOUNDS)
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


def read_limits(table: Table, schema: Schema) -> Limits:
    """Return the bounds of a ``[[source]]``; BuildError for a malformed one."""
    limits = dict[str, dict[str, Bound]]()
    for key, form in BOUNDS.items():
        stated = table.values.get(key)
        if key == "min_coverage" or (key == "max_nulled" and isinstance(stated, Mapping)):
            by_field, limits[key] = table.table(key), {}
            for field, value in by_field.values.items():
                bound = read_bound(by_field, field, value, form)
                columns = source_columns(table.recipe, f"source.{key}", field, schema)
                limits[key] |= dict.fromkeys(columns, bound)  # of a group, those of each field
        elif stated is not None:
            limits[key] = {"": read_bound(table, key, stated, form)}
    return limits


def read_bound(table: Table, name: str, value: object, form: str) -> Bound:
    """Return a bound that a recipe states; BuildError for another value or form."""
    bound = bound_of(value)
    if bound is None or (form != EITHER and bound.is_share != (form == SHARE)):
        example = 10 if form == NUMBER else '"1%"'
        table.refuse(name, f"is not {form}", f"write {name} = {example}, for example")
    return bound


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a build, a check and an update; ValueError for a malformed limit or size."""

    force: bool = False
    rejects: Path | None = None
    max_rejected: int | str | None = None  # of a source table; None: the limit of the recipe
    max_nulled: int | str | None = None  # of each field of it
    max_memory: str | int | None = None  # such as "2GB"; None: three quarters of free memory
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    earlier: Path | None = None  # a dataset: ``max_drop`` and ``min_coverage`` compare with it
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset

    def __post_init__(self) -> None:
        MemoryBudget.of(self.max_memory)
        for name in ("max_rejected", "max_nulled"):
            value = getattr(self, name)
            if value is not None and bound_of(value) is None:
                raise ValueError(f'{name} is {value!r}; write a number such as 10, or "1%"')

    @property
    def limits(self) -> Limits:
        """The limits of all sources, whatever their recipe says."""
        limits = {"max_rejected": self.max_rejected, "max_nulled": self.max_nulled}
        bounds = {key: bound_of(value) for key, value in limits.items()}
        return {key: {"": bound} for key, bound in bounds.items() if bound is not None}


def check_limits(
    recipe: Path,
    tables: Iterable[tuple[SourceReport, Rejects | None]],
    limits: Limits,
    mask: Mask,
    listed: Path | None,
) -> None:
    """Raise BuildError for the losses of a source above their limits; ``listed`` is their file.

    It names the row of the first loss, and the counts of all.
    """
    exceeded = [
        (word, text, rejects and rejects.first(word, column, mask))
        for report, rejects in tables
        for word, column, text in _exceeded(report, limits)
    ]
    if not exceeded:
        return
    first = exceeded[0][2]
    text = "; also ".join(text for _, text, _ in exceeded)
    words = dict.fromkeys(word for word, _, _ in exceeded)
    options = [f"{KINDS[word].option} LIMIT" for word in words if KINDS[word].option]
    remedy = f"correct the file, {_written(first.reason) if first else ''}"
    remedy += f"or raise {' and '.join(map(key, words))} in its [[source]]"
    remedy += f" or by 'build {' '.join(options)}'" if options else ""
    if not first:
        raise BuildError(recipe, text, remedy=remedy)
    text, remedy = f"{first.reason}; {text}", f"{remedy}; {rejects_file(listed)} lists all"
    raise BuildError(first.file, text, line=first.line or None, remedy=remedy)


def _exceeded(report: SourceReport, limits: Limits) -> Iterator[tuple[str, str, str]]:
    """Yield the word, the field and the text of each loss of a table above its limit."""
    for word, kind in KINDS.items():
        stated = limits.get(key(word), {})
        for column, (count, whole) in report.counts(word).items():
            bound = stated.get(column) or stated.get("") or bound_of(kind.default)
            if bound is None or count <= bound.of(whole):
                continue
            unit = kind.noun.split()[-1]
            text = f"{count:,} of {count_text(whole, unit)}" if whole else count_text(count, unit)
            text += f" of {f'{column} in ' if column else ''}{report.name} {word}"
            if kind.noun == "column":
                text += f": {', '.join(getattr(report, kind.counter))}"
            yield word, column, f"{text}, the limit is {bound.of(whole):,} ({key(word)} = {bound})"


def _written(reason: str) -> str:
    """Return how a recipe reads an invalid value, for a message; empty if it cannot."""
    matches = ((remedy, re.search(pattern, reason)) for remedy, pattern in _REMEDIES.items())
    return next((remedy.format(*match.groups()) for remedy, match in matches if match), "")


def read_expected(table: Table, schema: Schema) -> RowRules:
    """Return the demands of a ``[[source]]``; BuildError for a malformed value."""
    for key, only in _WORDS.items():
        if table.values.get(key, only) != only:
            problem = f"unknown value {table.values[key]!r} of source.{key}"
            raise BuildError(table.recipe, problem, remedy=f'write {key} = "{only}", or drop it')
    words = (key in table for key in _WORDS)
    return RowRules(read_limits(table, schema), *words)


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
    """Add the demands on the rows of a source to a report; BuildError for those that are not met.

    A drop that cannot be checked is a warning.
    """
    expected, of_name = spec.expected, earlier.get(product(name))
    before = of_name.pop(0) if of_name else None
    if "max_drop" in expected.limits and before is None:
        report.warnings.append(f"{name}: max_drop was not checked: no earlier dataset has its rows")
    unmet = list[str]()
    for demand, observed, is_met in _demands(expected, rows, before, tables):
        report.quality.append(Demand(f"{demand} of {name}", observed, is_met))
        if not is_met:
            unmet.append(f"{demand} of {name}: found {observed}")
    if unmet:
        remedy = "fetch the file again, or correct the demand" + "s" * (len(unmet) > 1)
        raise BuildError(spec.recipe, "; also ".join(unmet), remedy=remedy)


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
