"""The limits of a source: at most so many losses of each kind that a build counts.

``KINDS`` has each word of the build report. The word is the key of its limit in ``[[source]]``::

    max_rejected = 100                          # a number
    max_nulled = { asn = "5%", city = "1%" }    # a share, by field
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.contract.fields import OWN_PREFIX
from geolookup.contract.schema import Schema
from geolookup.errors import BuildError, count_text
from geolookup_builder.build_report import SourceReport, rejects_file
from geolookup_builder.recipe.field_names import source_columns
from geolookup_builder.recipe.table import Table

if TYPE_CHECKING:
    from geolookup.remote.key import Mask
    from geolookup_builder.rejects import Rejects

#: The forms of a bound.
NUMBER, SHARE, EITHER = "a number", "a percentage", "a percentage or a number"
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


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of loss: its counter in ``SourceReport``, and the limit if a recipe states none.

    ``whole`` is the counter that a share is of, None if the limit must be a number. ``option`` of
    ``geolookup build`` sets the limit for all sources. Rows of ``is_listed`` are in the rejects.
    """

    counter: str
    whole: str | None = "read"
    default: Bound | None = None
    option: str = ""
    is_listed: bool = False

    def counts(self, report: SourceReport) -> dict[str, int]:
        """Return the count, by field if each has a limit of its own; else its key is empty."""
        counted = getattr(report, self.counter)
        if self.whole == "stated":
            return dict(counted)
        if isinstance(counted, Counter):
            return {"": counted.total()}
        return {"": counted if isinstance(counted, int) else len(counted)}


#: The limit of what every source should be free of. Of fewer than 100 rows it allows none.
ONE_PERCENT = Bound(Fraction(1, 100))
#: By word of the build report. Without a default, only a recipe limits what is no mistake of a
#: vendor as such.
KINDS = {
    "rejected": Kind("rejected", "read", ONE_PERCENT, "--max-rejects", is_listed=True),
    "nulled": Kind("nulled", "stated", ONE_PERCENT, "--max-nulled", is_listed=True),
    "far": Kind("far", is_listed=True),
    "duplicate": Kind("duplicates"),
    "covered": Kind("covered"),
    "clipped": Kind("rows_clipped"),
    "folded": Kind("rows_folded"),
    "excluded": Kind("rows_excluded"),
    "left out": Kind("rows_left_out"),
    "alias": Kind("aliases"),
    "not read": Kind("unread", whole=None),
    "emptied": Kind("emptied", whole=None),
    "not kept": Kind("dropped", whole=None),
}


def limits_of_options(
    max_rejects: int | str | None, max_nulled: int | str | None
) -> dict[str, Bound]:
    """Return the limits that options set for all sources; ValueError for a malformed one."""
    limits = {}
    for word, option, value in (
        ("rejected", "max_rejects", max_rejects),
        ("nulled", "max_nulled", max_nulled),
    ):
        bound = bound_of(value)
        if value is not None and bound is None:
            raise ValueError(f'{option} is {value!r}; write a number such as 10, or "1%"')
        if bound is not None:
            limits[word] = bound
    return limits


#: By word and field; the empty field is of all others.
Limits = Mapping[str, Mapping[str, Bound]]


def key(word: str) -> str:
    """Return the key of a kind's limit: ``max_left_out``."""
    return f"max_{word.replace(' ', '_')}"


KEYS = tuple(map(key, KINDS))


def read_limits(table: Table, schema: Schema) -> Limits:
    """Return the limits of a ``[[source]]``; BuildError for a malformed one."""
    return {
        word: _bounds(table, word, kind, schema)
        for word, kind in KINDS.items()
        if key(word) in table
    }


def _bounds(table: Table, word: str, kind: Kind, schema: Schema) -> dict[str, Bound]:
    name = key(word)
    value = table.values[name]
    if kind.whole is None:
        return {"": read_bound(table, name, value, NUMBER)}
    if kind.whole == "stated" and isinstance(value, Mapping):
        return read_by_field(table, name, schema)
    return {"": read_bound(table, name, value)}


def read_by_field(table: Table, name: str, schema: Schema, form: str = EITHER) -> dict[str, Bound]:
    """Return bounds by column of a source; a group bounds each of its fields."""
    bounds = dict[str, Bound]()
    by_field, option = table.table(name, *table.values.get(name, {})), f"source.{name}"
    for field, value in by_field.values.items():
        bound = read_bound(by_field, field, value, form)
        bounds |= dict.fromkeys(source_columns(table.recipe, option, field, schema), bound)
    return bounds


def read_bound(table: Table, name: str, value: object, form: str = EITHER) -> Bound:
    """Return a bound that a recipe states; BuildError for another value or form."""
    bound = bound_of(value)
    if bound is None or (form != EITHER and bound.is_share != (form == SHARE)):
        example = 10 if form == NUMBER else '"1%"'
        table.refuse(name, f"is not {form}", f"write {name} = {example}, for example")
    return bound


def check_limits(
    recipe: Path,
    report: SourceReport,
    rejects: Rejects | None,
    limits: Limits,
    mask: Mask,
    listed: Path | None,
) -> None:
    """Raise BuildError for the first loss of a table above its limit; ``listed`` is its file."""
    for word, field, count, whole, bound in _above(report, limits):
        kind, first = KINDS[word], None
        if rejects is not None and kind.is_listed:
            first = rejects.first(word, field, mask)
        subject = "column" if kind.whole is None else "value" if field else "row"
        of = f"{count:,} of {count_text(whole, subject)}" if whole else count_text(count, subject)
        problem = f"{of} of {f'{field} in ' if field else ''}{report.name} {word}"
        if kind.whole is None:
            problem += f": {', '.join(getattr(report, kind.counter))}"
        problem += f", the limit is {bound.of(whole):,} ({key(word)} = {bound})"
        remedy = _remedy(word, field, count, whole, listed)
        if first is None:
            raise BuildError(recipe, problem, remedy=remedy)
        raise BuildError(
            first.file, f"{first.reason}; {problem}", line=first.line or None, remedy=remedy
        )


def _above(report: SourceReport, limits: Limits) -> Iterator[tuple[str, str, int, int, Bound]]:
    """Yield each kind above its limit: its word, field, count, the whole, and the bound."""
    for word, kind in KINDS.items():
        stated = limits.get(word, {})
        for field, count in kind.counts(report).items():
            whole = getattr(report, kind.whole) if kind.whole else 0
            of = whole if isinstance(whole, int) else whole[field]
            bound = stated.get(field, stated.get("", kind.default))
            if bound is not None and count > bound.of(of):
                yield word, field, count, of, bound


def _remedy(word: str, field: str, count: int, whole: int, listed: Path | None) -> str:
    """Return what to do: mend the file, or set the limit that the table would meet."""
    kind = KINDS[word]
    least = Bound(Fraction(-(-100 * count // whole), 100) if whole else count)
    name = field.removeprefix(OWN_PREFIX)
    limit = f"{{ {name} = {least} }}" if field else least
    remedy = f"correct the file, or allow that: {key(word)} = {limit} in [[source]]"
    if kind.option:
        value = count if kind.whole == "read" else f"{least}".strip('"')
        remedy += f", or 'build {kind.option} {value}'"
    return f"{remedy}; {rejects_file(listed)} lists all" if kind.is_listed else remedy
