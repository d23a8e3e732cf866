"""The values of conditions that a dataset does not have: errors and notices.

A value that no answer can have, such as a country code that ISO 3166 does not assign, is an error:
as a list of a firewall the empty result would admit nobody. A value that no row of this dataset has
is a notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from geolookup.contract.countries import ALPHA_3
from geolookup.contract.fields import COUNTRY_ALIASES, STORED, TEXT, TEXTS, Field
from geolookup.errors import count_text, near_match, near_word, suggestion
from geolookup.prefixes.condition_values import Fixed, fixed_values, value_for_message
from geolookup.prefixes.conditions import Condition
from geolookup.prefixes.predicates import RowColumns, absent, distinct

#: The values of a condition that are named: to find a city that is like one takes half a second.
_NAMED = 5
#: The name and the code of a country.
_NAME, _CODE = (
    next(field for field in STORED if field.member == member)
    for member in ("country_name", "country_code")
)


def check_values(tables: RowColumns, conditions: Iterable[Condition]) -> None:
    """Raise ValueError for a value that no answer can have, with the near match.

    Fields with fixed values are checked; a dataset may have more of them, from its own countries.
    """
    for condition, field, values in _absent(tables, conditions):
        fixed = fixed_values(field)
        for value in values:
            if fixed and value not in fixed.values.values():
                problem = f"{value_for_message(value)} is not {fixed.kind}"
                hint = _hint(tables, fixed, value)
                raise ValueError(f"{condition.call}: {problem}; {hint}")


def absent_values(tables: RowColumns, conditions: Iterable[Condition]) -> Iterator[str]:
    """Yield a line for each value of a condition that no row of the dataset has.

    Of a condition with many of them, one more line states how many others there are.
    """
    for _, field, values in _absent(tables, conditions):
        is_open = field.type in (TEXT, TEXTS) and not fixed_values(field)
        names = distinct(tables.column(field)).to_pylist() if values and is_open else ()
        for value in values[:_NAMED]:
            line = f"no answer of this dataset has the {field.path} {value_for_message(value)}"
            spelling = f"check its spelling; the dataset has {count_text(len(set(names)), 'other')}"
            hint = near_match(value, names, fallback=spelling) if names else ""
            yield line + (f"; {hint}" if hint else "")
        if len(values) > _NAMED:
            more = len(values) - _NAMED
            yield f"no answer of this dataset has {more:,} more values of {field.path}"


def _absent(
    tables: RowColumns, conditions: Iterable[Condition]
) -> Iterator[tuple[Condition, Field, list[Any]]]:
    """Yield the values of each condition on equality that no row has."""
    for condition in conditions:
        if condition.operator == "=":
            (field,) = condition.fields
            yield condition, field, absent(condition.values, tables.column(field))


def _hint(tables: RowColumns, fixed: Fixed, value: str) -> str:
    """Return a suggestion: the fixed value that is meant or similar."""
    words = dict(fixed.values)
    if "at" in words or "aut" in words:  # codes of countries
        words |= _country_words(tables, is_alpha_3="aut" in words)
    folded = value.lower()
    # A code of two or three letters is like many others.
    is_code = len(value) <= len("AUT")
    near = folded if folded in words else near_word(folded, () if is_code else words)
    return fixed.remedy if near is None else suggestion(words[near])


def _country_words(tables: RowColumns, *, is_alpha_3: bool) -> dict[str, str]:
    """Return the code of a country by its names and other codes, in lower case."""
    words = {alpha_3: alpha_2 for alpha_2, alpha_3 in ALPHA_3.items()} | COUNTRY_ALIASES
    columns = (tables.column(field).to_pylist() for field in (_NAME, _CODE))
    words |= {name: code for name, code in zip(*columns, strict=True) if name and code}
    if is_alpha_3:
        words = {word: ALPHA_3.get(code, code) for word, code in words.items()} | ALPHA_3
    return {word.casefold(): code for word, code in words.items()}
