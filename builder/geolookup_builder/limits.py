"""The limits of a source: at most so many losses of each kind that a build counts.

``KINDS`` has each word of the build report. The word is the key of its limit in ``[[source]]``::

    max_rejected = 100                          # a number
    max_nulled = { asn = "5%", city = "1%" }    # a share, by field
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.contract.schema import Schema
from geolookup.errors import BuildError, count_text
from geolookup_builder.build_report import SourceReport, rejects_file
from geolookup_builder.recipe.names import source_columns
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

    A share is of the rows read (``noun`` "row") or of the stated values of a field ("value");
    other nouns have only numbers. ``option`` of ``geolookup build`` sets the limit for all sources.
    """

    counter: str
    noun: str = "row"
    default: Bound | None = None
    option: str = ""

    def counts(self, report: SourceReport) -> dict[str, tuple[int, int]]:
        """Return the count and the whole that shares are of, by field of values, else by ""."""
        counted = getattr(report, self.counter)
        if self.noun == "value":
            return {field: (count, report.stated[field]) for field, count in counted.items()}
        if isinstance(counted, Counter):
            counted = counted.total()
        count = counted if isinstance(counted, int) else len(counted)
        return {"": (count, report.read if self.noun == "row" else 0)}


#: The limit of what every source should be free of. Of fewer than 100 rows it allows none.
ONE_PERCENT = Bound(Fraction(1, 100))
#: By word of the build report. Without a default, only a recipe limits what is no mistake of a
#: vendor as such.
KINDS = {
    "rejected": Kind("rejected", "row", ONE_PERCENT, "--max-rejects"),
    "nulled": Kind("nulled", "value", ONE_PERCENT, "--max-nulled"),
    "far": Kind("far"),
    "duplicate": Kind("duplicates"),
    "covered": Kind("covered"),
    "clipped": Kind("rows_clipped"),
    "folded": Kind("rows_folded"),
    "excluded": Kind("rows_excluded"),
    "left out": Kind("rows_left_out"),
    "alias": Kind("aliases"),
    "emptied": Kind("emptied", "cell"),
    "not read": Kind("unread", "column"),
    "not kept": Kind("dropped", "column"),
}
#: By word and field; the empty field is of all others.
Limits = Mapping[str, Mapping[str, Bound]]


def key(word: str) -> str:
    """Return the key of a kind's limit: ``max_left_out``."""
    return f"max_{word.replace(' ', '_')}"


KEYS = tuple(map(key, KINDS))


def limits_of_options(
    max_rejects: int | str | None, max_nulled: int | str | None
) -> dict[str, Bound]:
    """Return the limits that options set for all sources; ValueError for a malformed one."""
    limits = {"rejected": max_rejects, "nulled": max_nulled}
    bounds = {word: bound_of(value) for word, value in limits.items() if value is not None}
    for word, bound in bounds.items():
        if bound is None:
            problem = f"{KINDS[word].option.lstrip('-').replace('-', '_')} is {limits[word]!r}"
            raise ValueError(f'{problem}; write a number such as 10, or "1%"')
    return {word: bound for word, bound in bounds.items() if bound is not None}


def read_limits(table: Table, schema: Schema) -> Limits:
    """Return the limits of a ``[[source]]``; BuildError for a malformed one."""
    limits = dict[str, Mapping[str, Bound]]()
    for word, kind in KINDS.items():
        value = table.values.get(key(word))
        if kind.noun == "value" and isinstance(value, Mapping):
            limits[word] = read_by_field(table, key(word), schema)
        elif value is not None:
            form = EITHER if kind.noun in ("row", "value") else NUMBER
            limits[word] = {"": read_bound(table, key(word), value, form)}
    return limits


def read_by_field(table: Table, name: str, schema: Schema, form: str = EITHER) -> dict[str, Bound]:
    """Return bounds by column of a source; a group bounds each of its fields."""
    stated, bounds = table.values.get(name, {}), dict[str, Bound]()
    if not isinstance(stated, Mapping):
        table.refuse(name, "is not a table", f'write {name} = {{ asn = "99%" }}')
    for field, value in stated.items():
        bound = read_bound(Table(table.recipe, f"source.{name}", stated), field, value, form)
        columns = source_columns(table.recipe, f"source.{name}", field, schema)
        bounds |= dict.fromkeys(columns, bound)
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
    for word, kind in KINDS.items():
        stated = limits.get(word, {})
        for field, (count, whole) in kind.counts(report).items():
            bound = stated.get(field, stated.get("", kind.default))
            if bound is None or count <= bound.of(whole):
                continue
            of = f"{count:,} of {count_text(whole, kind.noun)}"
            problem = of if whole else count_text(count, kind.noun)
            problem += f" of {f'{field} in ' if field else ''}{report.name} {word}"
            if kind.noun == "column":
                problem += f": {', '.join(getattr(report, kind.counter))}"
            problem += f", the limit is {bound.of(whole):,} ({key(word)} = {bound})"
            remedy = f"correct the file, or raise {key(word)} in its [[source]]"
            if kind.option:
                remedy += f" or by 'build {kind.option} LIMIT'"
            first = rejects and rejects.first(word, field, mask)
            if not first:
                raise BuildError(recipe, problem, remedy=remedy)
            remedy += f"; {rejects_file(listed)} lists all"
            problem = f"{first.reason}; {problem}"
            raise BuildError(first.file, problem, line=first.line or None, remedy=remedy)
