"""Bounds of a recipe: numbers or shares, of rows, values and columns; the options of a build.

``BOUNDS`` has the keys of ``[[source]]`` that are bounds, one for each word of the build report::

    max_rejected = 100                          # a number
    max_nulled = { asn = "5%", city = "1%" }    # a share, by field
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.contract.schema import Schema
from geolookup.errors import BuildError, count_text
from geolookup_builder.build_report import KINDS, SourceReport, rejects_file
from geolookup_builder.memory import MemoryBudget
from geolookup_builder.recipe.names import source_columns
from geolookup_builder.recipe.table import Table
from geolookup_builder.vocabulary import EMPTY_WORDS

if TYPE_CHECKING:
    from geolookup.remote.key import Mask
    from geolookup.signing.keys import PrivateKey
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
    max_rejects: int | str | None = None  # of a source table; None: the limit of the recipe
    max_nulled: int | str | None = None  # of each field of it
    max_memory: str | int | None = None  # such as "2GB"; None: three quarters of free memory
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    earlier: Path | None = None  # a dataset: ``max_drop`` and ``min_coverage`` compare with it
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset

    def __post_init__(self) -> None:
        MemoryBudget.of(self.max_memory)
        for name in ("max_rejects", "max_nulled"):
            value = getattr(self, name)
            if value is not None and bound_of(value) is None:
                raise ValueError(f'{name} is {value!r}; write a number such as 10, or "1%"')

    @property
    def limits(self) -> Limits:
        """The limits of all sources, whatever their recipe says."""
        limits = {"max_rejected": self.max_rejects, "max_nulled": self.max_nulled}
        bounds = {key: bound_of(value) for key, value in limits.items()}
        return {key: {"": bound} for key, bound in bounds.items() if bound is not None}


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
        stated = limits.get(key(word), {})
        for field, (count, whole) in report.counts(word).items():
            bound = stated.get(field) or stated.get("") or bound_of(kind.default)
            if bound is None or count <= bound.of(whole):
                continue
            unit = kind.noun.split()[-1]
            text = f"{count:,} of {count_text(whole, unit)}" if whole else count_text(count, unit)
            text += f" of {f'{field} in ' if field else ''}{report.name} {word}"
            if kind.noun == "column":
                text += f": {', '.join(getattr(report, kind.counter))}"
            text += f", the limit is {bound.of(whole):,} ({key(word)} = {bound})"
            first = rejects and rejects.first(word, field, mask)
            remedy = f"correct the file, {_written(first.reason) if first else ''}"
            remedy += f"or raise {key(word)} in its [[source]]"
            remedy += f" or by 'build {kind.option} LIMIT'" if kind.option else ""
            if not first:
                raise BuildError(recipe, text, remedy=remedy)
            text, remedy = f"{first.reason}; {text}", f"{remedy}; {rejects_file(listed)} lists all"
            raise BuildError(first.file, text, line=first.line or None, remedy=remedy)


def _written(reason: str) -> str:
    """Return how a recipe reads an invalid value, for a message; empty if it cannot."""
    matches = ((remedy, re.search(pattern, reason)) for remedy, pattern in _REMEDIES.items())
    return next((remedy.format(*match.groups()) for remedy, match in matches if match), "")
