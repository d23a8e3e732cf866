"""The values of conditions, in the form that answers have them; those that no answer has.

Codes and the words of a fixed list match in any case; other texts are as in answers.
A value that no answer can have, such as a country code that ISO 3166 does not assign, is an error:
as a list of a firewall the empty result would admit nobody. A value that no row of this dataset has
is a notice.
"""

from __future__ import annotations

import math
import operator as op
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.countries import ALPHA_3
from geolookup.contract.fields import (
    BOOLEAN,
    COUNTRY_ALIASES,
    DEGREES,
    LIMITS,
    REAL,
    STORED,
    TEXT,
    TEXTS,
    Field,
)
from geolookup.contract.paths import is_address_or_network
from geolookup.contract.tzdatabase import zone_names
from geolookup.errors import count_text, near_match, near_word, suggestion

if TYPE_CHECKING:
    from geolookup.prefixes.conditions import Condition
    from geolookup.prefixes.predicates import RowColumns

#: Halves of a pair of UTF-16. Python also makes them of bytes of an argument that are not UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")
#: The most characters of a value in a message.
_LONGEST = 60
_TRUTHS = {"true": True, "false": False}
_COMPARE = {">=": op.ge, "<=": op.le, ">": op.gt, "<": op.lt}


class Fixed(NamedTuple):
    """The values that a field can have, by their texts in lower case.

    ``kind`` names one in a message, ``remedy`` is for another one.
    """

    values: Mapping[str, str]
    kind: str
    remedy: str


_CONTINENTS = ("AF", "AN", "AS", "EU", "NA", "OC", "SA")
_ALPHA_2, _COUNTRY = "an ISO 3166 code of two letters", "write one such as AT or DE"
#: By path, the fields that have fixed values beside ``Field.words``: their values, then ``Fixed``.
_FIXED: Mapping[str, tuple[Callable[[], Iterable[str]], str, str]] = {
    "location.continent_code": (
        lambda: _CONTINENTS,
        "the code of a continent",
        f"write {', '.join(_CONTINENTS[:-1])} or {_CONTINENTS[-1]}",
    ),
    "location.country_code": (lambda: ALPHA_3, _ALPHA_2, _COUNTRY),
    "location.country_code_iso3": (ALPHA_3.values, "an ISO 3166 code of three letters", _COUNTRY),
    "location.country_neighbors": (lambda: ALPHA_3, _ALPHA_2, _COUNTRY),
    "time.zone": (zone_names, "an IANA time zone", "write one such as Europe/Vienna"),
}
#: A field of capital letters; datasets may have codes of their own.
_CAPITALS = (*(path for path in _FIXED if path.startswith("location.")), "currency.code")
#: The most letters of a code.
_CODE = 3
#: The values of a condition that are named: to find a city that is like one takes half a second.
_NAMED = 5
#: The code and the name of a country.
_COUNTRIES = [field for field in STORED if field.member in ("country_name", "country_code")]
_CURRENCY = re.compile("[A-Z]{3}")


@lru_cache  # bounded: own columns are other fields in each dataset
def _fixed_values(field: Field) -> Fixed | None:
    """Return the fixed values of a field; None if it can have any."""
    if field.words:
        remedy = f"write one of {', '.join(sorted(field.words))}"
        return Fixed({word.casefold(): word for word in field.words}, f"a {field.member}", remedy)
    if field.path not in _FIXED:
        return None
    values, kind, remedy = _FIXED[field.path]
    return Fixed({value.casefold(): value for value in values()}, kind, remedy)


def typed_value(field: Field, value: Any) -> Any:
    """Return a value as the column of a field has it.

    Raises ValueError for a value that the column cannot have.
    """
    if field.type in (TEXT, TEXTS):
        text = _in_answers(field, str(value)) if _is_text(value) else None
        if text is not None and (field.path != "currency.code" or _CURRENCY.fullmatch(text)):
            return text
        kind = "texts" if text is None else "ISO 4217 codes of three letters"
    elif field.type == BOOLEAN:
        truth = _TRUTHS.get(value) if isinstance(value, str) else value
        if isinstance(truth, bool):
            return truth
        kind = "true or false"
    else:
        number = _number(field, value)
        is_whole = field.type == REAL or isinstance(number, int)
        if number is not None and is_whole and field.least <= number <= field.most:
            return number
        kind = f"numbers {_limits(field)}"
    raise ValueError(f"{_shown(value)} is not a {field.path}: its values are {kind}")


def _in_answers(field: Field, text: str) -> str:
    """Return a text in the case that answers have: ``at`` is the country code ``AT``."""
    if not text.isascii():  # the capitals of "ß" would be SS, South Sudan
        return text
    is_code = field.path in _CAPITALS and len(text) <= _CODE
    default, fixed = text.upper() if is_code else text, _fixed_values(field)
    return fixed.values.get(text.casefold(), default) if fixed else default


def _shown(value: object) -> str:
    """Return a value as a message names it; one that may be an address is not in it."""
    if isinstance(value, str) and is_address_or_network(value):
        return "an address"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _is_text(value: object) -> bool:
    """Return whether a value is a text of Unicode."""
    return isinstance(value, str) and not _SURROGATE.search(value)


def _number(field: Field, value: Any) -> float | None:
    """Return a number, or that of a text; None for any other value, infinity and NaN.

    For fields of integers, a whole number is an ``int``.
    """
    if isinstance(value, str):
        # "AS15169" is 15169.
        text = value[2:] if field.member == "asn" and value[:2].upper() == "AS" else value
        for read in (float, int):  # an integer beyond 2^53 is not rounded
            with suppress(ValueError):
                value = read(text)
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if field.type != REAL and math.isfinite(number) and number.is_integer():
        return int(cast(Any, value))
    return number if math.isfinite(number) else None


def _limits(field: Field) -> str:
    return f"from {field.least:.12g} to {field.most:.12g}"


def beginning(field: Field, value: Any) -> str:
    """Return the beginning of a text; raises ValueError unless value and field are texts."""
    if field.type not in (TEXT, TEXTS):
        raise ValueError(f"^= is for texts; the values of {field.path} are not texts")
    if not _is_text(value) or not value:
        raise ValueError(f"{field.path}^= takes the beginning of a text")
    return str(value).upper() if field.path in _CAPITALS else str(value)


def bound(field: Field, operator: str, values: list[Any]) -> float:
    """Return the number of a comparison.

    Raises ValueError unless the field has numbers, and one can meet the comparison.
    """
    if field.type in (TEXT, TEXTS, BOOLEAN):
        raise ValueError(f"{operator} is for numbers; the values of {field.path} are not numbers")
    number = _number(field, values[0]) if len(values) == 1 else None
    if number is None:
        raise ValueError(f"{field.path}{operator} takes one number")
    if not _COMPARE[operator](field.most if operator[0] == ">" else field.least, number):
        raise ValueError(
            f"no {field.path} is {operator}{number:.12g}: its values are {_limits(field)}"
        )
    least, most = LIMITS["int64"]
    return number if least <= number <= most else float(number)


def place_numbers(value: Any) -> tuple[float, ...]:
    """Return the three numbers of a circle, or the four of a box: south, west, north and east.

    A text has commas between them, and "km" after the distance. Raises ValueError for any other
    value.
    """
    try:
        items = value.strip().removesuffix("km").split(",") if isinstance(value, str) else value
        numbers = tuple(map(float, items))
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    latitude, longitude = DEGREES.values()
    limits = {3: (latitude, longitude, math.inf), 4: (latitude, longitude) * 2}.get(len(numbers))
    is_valid = limits and all(abs(item) <= most for item, most in zip(numbers, limits, strict=True))
    has_km = not isinstance(value, str) or value.rstrip().endswith("km") == (len(numbers) == 3)
    # The distance is not negative, and the south is not north of the north.
    if not is_valid or not has_km or (0 if len(numbers) == 3 else numbers[0]) > numbers[2]:
        raise ValueError(
            "location~ takes a latitude, a longitude and a distance, such as 48.2,16.4,50km, or "
            "the south, west, north and east of a box, such as 46.3,9.5,49.1,17.2"
        )
    return numbers


def check_values(tables: RowColumns, conditions: Iterable[Condition]) -> None:
    """Raise ValueError for a value that no answer can have, with the near match.

    Fields with fixed values are checked; a dataset may have more of them, from its own countries.
    """
    for condition, field, values in _absent(tables, conditions):
        fixed = _fixed_values(field)
        for value in values:
            if fixed and value not in fixed.values.values():
                problem = f"{_shown(value)} is not {fixed.kind}"
                hint = _hint(tables, fixed, value)
                raise ValueError(f"{condition.call}: {problem}; {hint}")


def absent_values(tables: RowColumns, conditions: Iterable[Condition]) -> Iterator[str]:
    """Yield a line for each value of a condition that no row of the dataset has.

    Of a condition with many of them, one more line states how many others there are.
    """
    for _, field, values in _absent(tables, conditions):
        is_open = field.type in (TEXT, TEXTS) and not _fixed_values(field)
        names = _distinct(tables.column(field)).to_pylist() if values and is_open else ()
        for value in values[:_NAMED]:
            line = f"no answer of this dataset has the {field.path} {_shown(value)}"
            spelling = f"check its spelling; the dataset has {count_text(len(set(names)), 'other')}"
            hint = near_match(value, names, fallback=spelling) if names else ""
            yield line + (f"; {hint}" if hint else "")
        if len(values) > _NAMED:
            more = count_text(len(values) - _NAMED, "more value")
            yield f"no answer of this dataset has {more} of {field.path}"


def _absent(
    tables: RowColumns, conditions: Iterable[Condition]
) -> Iterator[tuple[Condition, Field, list[Any]]]:
    """Yield the known values of each condition on equality that no row has, each once."""
    for condition in conditions:
        if condition.operator == "=":
            (field,) = condition.fields
            present = _distinct(tables.column(field))
            known = [value for value in condition.values if value is not None]
            wanted = pa.array(known, present.type).unique()
            # Arrow hashes the second argument: the few values of the condition, not the column.
            present = present.filter(pc.is_in(present, wanted))
            yield condition, field, wanted.filter(pc.invert(pc.is_in(wanted, present))).to_pylist()


def _distinct(column: pa.Array) -> pa.Array:
    """Return the values of a column: of texts each once."""
    if pa.types.is_list(column.type):
        return column.flatten()
    return column.dictionary if pa.types.is_dictionary(column.type) else column


def _hint(tables: RowColumns, fixed: Fixed, value: str) -> str:
    """Return a suggestion: the fixed value that is meant or similar."""
    words = dict(fixed.values)
    if "at" in words or "aut" in words:  # codes of countries
        words |= _country_words(tables, is_alpha_3="aut" in words)
    folded = value.lower()
    # A code of two or three letters is like many others.
    is_code = len(value) <= _CODE
    near = folded if folded in words else near_word(folded, () if is_code else words)
    return fixed.remedy if near is None else suggestion(words[near])


def _country_words(tables: RowColumns, *, is_alpha_3: bool) -> dict[str, str]:
    """Return the code of a country by its names and other codes, in lower case."""
    words = {alpha_3: alpha_2 for alpha_2, alpha_3 in ALPHA_3.items()} | COUNTRY_ALIASES
    columns = (tables.column(field).to_pylist() for field in _COUNTRIES)
    words |= {name: code for code, name in zip(*columns, strict=True) if name and code}
    if is_alpha_3:
        words = {word: ALPHA_3.get(code, code) for word, code in words.items()} | ALPHA_3
    return {word.casefold(): code for word, code in words.items()}
