"""The values of conditions that a dataset does not have: errors and notices.

A value that no answer can have, such as a country code that ISO 3166 does not assign, is an error:
as a list of a firewall the empty result would admit nobody. A value that no row of this dataset has
is a notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import pyarrow as pa

from geolookup.contract.countries import ALPHA_3
from geolookup.contract.fields import COUNTRY_ALIASES, STORED, TEXT, TEXTS, Field
from geolookup.errors import count_text, near_match, near_word, suggestion
from geolookup.prefixes.condition_values import fixed_values, value_for_message
from geolookup.prefixes.conditions import Condition
from geolookup.prefixes.predicates import Among, distinct

#: The values of a condition that are named: to find a city that is like one takes half a second.
_NAMED = 5
_ALPHA_2, _ALPHA_3 = "an ISO 3166 code of two letters", "an ISO 3166 code of three letters"
#: How a message names the fixed values of a field, by its path.
_KINDS = {
    "location.continent_code": "the code of a continent",
    "location.country_code": _ALPHA_2,
    "location.country_code_iso3": _ALPHA_3,
    "location.country_neighbors": _ALPHA_2,
    "time.zone": "an IANA time zone",
}
_FALLBACKS = {
    "location.continent_code": "write AF, AN, AS, EU, NA, OC or SA",
    "time.zone": "write one such as Europe/Vienna",
}
_FALLBACK = "write one such as AT or DE"
#: The name and the code of a country.
_NAME, _CODE = (
    next(field for field in STORED if field.member == member)
    for member in ("country_name", "country_code")
)


class Columns(Protocol):
    """The values of answers by field, such as ``RowTables``."""

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field; they may repeat."""


def check_values(tables: Columns, conditions: Iterable[Condition]) -> None:
    """Raise ValueError for a value that no answer can have, with the near match.

    Fields with fixed values are checked; a dataset may have more of them, from its own countries.
    """
    for condition, field, absent in _absent(tables, conditions):
        fixed = fixed_values(field)
        for value in absent:
            if fixed and value not in fixed.values():
                kind = _KINDS.get(field.path, f"a {field.member}")
                problem = f"{value_for_message(value)} is not {kind}"
                raise ValueError(f"{condition.call}: {problem}; {_hint(tables, field, value)}")


def absent_values(tables: Columns, conditions: Iterable[Condition]) -> Iterator[str]:
    """Yield a line for each value of a condition that no row of the dataset has.

    Of a condition with many of them, one more line states how many others there are.
    """
    for _, field, absent in _absent(tables, conditions):
        is_open = field.type in (TEXT, TEXTS) and not fixed_values(field)
        names = distinct(tables.column(field)).to_pylist() if absent and is_open else ()
        for value in absent[:_NAMED]:
            line = f"no answer of this dataset has the {field.path} {value_for_message(value)}"
            spelling = f"check its spelling; the dataset has {count_text(len(set(names)), 'other')}"
            hint = near_match(value, names, fallback=spelling) if names else ""
            yield line + (f"; {hint}" if hint else "")
        if len(absent) > _NAMED:
            more = len(absent) - _NAMED
            yield f"no answer of this dataset has {more:,} more values of {field.path}"


def _absent(
    tables: Columns, conditions: Iterable[Condition]
) -> Iterator[tuple[Condition, Field, list[Any]]]:
    """Yield the values of each condition on equality that no row has."""
    for condition in conditions:
        if isinstance(condition.predicate, Among):
            (field,) = condition.fields
            absent = condition.predicate.absent(tables.column(field))
            yield condition, field, list(dict.fromkeys(absent))


def _hint(tables: Columns, field: Field, value: str) -> str:
    """Return a suggestion: the fixed value that is meant or similar."""
    words = dict(fixed_values(field))
    if _KINDS.get(field.path) in (_ALPHA_2, _ALPHA_3):
        words |= _country_words(tables, is_alpha_3=_KINDS[field.path] == _ALPHA_3)
    folded = value.lower()
    # A code of two or three letters is like many others.
    is_code = len(value) <= len("AUT")
    near = folded if folded in words else near_word(folded, () if is_code else words)
    return _FALLBACKS.get(field.path, _FALLBACK) if near is None else suggestion(words[near])


def _country_words(tables: Columns, *, is_alpha_3: bool) -> dict[str, str]:
    """Return the code of a country by its names and other codes, in lower case."""
    words = {alpha_3: alpha_2 for alpha_2, alpha_3 in ALPHA_3.items()} | COUNTRY_ALIASES
    columns = (tables.column(field).to_pylist() for field in (_NAME, _CODE))
    words |= {name: code for name, code in zip(*columns, strict=True) if name and code}
    if is_alpha_3:
        words = {word: ALPHA_3.get(code, code) for word, code in words.items()} | ALPHA_3
    return {word.casefold(): code for word, code in words.items()}
