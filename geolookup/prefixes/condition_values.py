"""The values of conditions, in the form that answers have them.

Codes and the words of a fixed list match in any case; other texts are as in answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from numbers import Real
from typing import Any, cast

from geolookup.contract.countries import ALPHA_3
from geolookup.contract.fields import BOOLEAN, DEGREES, LIMITS, REAL, TEXT, TEXTS, Field
from geolookup.contract.paths import is_address_or_network
from geolookup.contract.tzdatabase import zone_names

#: Halves of a pair of UTF-16. Python also makes them of bytes of an argument that are not UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")
#: The most characters of a value in a message.
_LONGEST = 60
_TRUTHS = {"true": True, "false": False}
#: The values of a field by its path, of those that have fixed ones beside ``Field.words``.
_FIXED: Mapping[str, Callable[[], Any]] = {
    "location.continent_code": lambda: ("AF", "AN", "AS", "EU", "NA", "OC", "SA"),
    "location.country_code": lambda: ALPHA_3,
    "location.country_code_iso3": ALPHA_3.values,
    "location.country_neighbors": lambda: ALPHA_3,
    "time.zone": zone_names,
}
#: A field of capital letters; datasets may have codes of their own.
_CAPITALS = (*(path for path in _FIXED if path.startswith("location.")), "currency.code")
#: The most letters of a code.
_CODE = 3
_CURRENCY = re.compile("[A-Z]{3}")


@lru_cache  # bounded: own columns are other fields in each dataset
def fixed_values(field: Field) -> Mapping[str, str]:
    """Return the values of a field that has fixed ones, each by its text in lower case."""
    values = field.words or (_FIXED[field.path]() if field.path in _FIXED else ())
    return {value.casefold(): value for value in values}


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
        if isinstance(value, bool) or value in _TRUTHS:
            return _TRUTHS.get(value, value)
        kind = "true or false"
    else:
        number = _number(field, value)
        if number is not None:
            return number
        kind = f"numbers {_limits(field)}"
    raise ValueError(f"{value_for_message(value)} is not a {field.path}: its values are {kind}")


def _in_answers(field: Field, text: str) -> str:
    """Return a text in the case that answers have: ``at`` is the country code ``AT``."""
    if not text.isascii():  # the capitals of "ß" would be SS, South Sudan
        return text
    is_code = field.path in _CAPITALS and len(text) <= _CODE
    default = text.upper() if is_code else text
    return fixed_values(field).get(text.casefold(), default)


def value_for_message(value: object) -> str:
    """Return a value as a message names it; one that may be an address is not in it."""
    if isinstance(value, str) and is_address_or_network(value):
        return "an address"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _is_text(value: object) -> bool:
    """Return whether a value is a text of Unicode."""
    return isinstance(value, str) and not _SURROGATE.search(value)


def _number(field: Field, value: Any) -> float | None:
    """Return a number that the column of a field can have, or None."""
    if isinstance(value, str):
        # "AS15169" is 15169.
        text = value[2:] if field.member == "asn" and value[:2].upper() == "AS" else value
        try:
            value = float(text) if field.type == REAL else int(text)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(_float(value)):
        return None
    # 64512.0 is accepted, 0.5 is not.
    number = float(value) if field.type == REAL else math.floor(cast(Any, value))
    return number if number == value and field.least <= number <= field.most else None


def _limits(field: Field) -> str:
    return f"from {field.least:.12g} to {field.most:.12g}"


def _float(value: Any) -> float:
    """Return a number; infinity for one that is greater than any of this type."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


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
    try:
        (value,) = values
        whole = _whole(field, value)
        number: float = _float(value) if whole is None else whole
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"{field.path}{operator} takes one number")
    is_above = operator.startswith(">")
    outermost = field.most if is_above else field.least
    can_meet = number < outermost if is_above else number > outermost
    if not can_meet and (number != outermost or operator in (">", "<")):
        raise ValueError(
            f"no {field.path} is {operator}{number:.12g}: its values are {_limits(field)}"
        )
    return number


def _whole(field: Field, value: Any) -> int | None:
    """Return a bound for a column of integers; None for any other number, and beyond int64."""
    if field.type == REAL or isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        number = int(value)
    except ValueError:
        return None
    least, most = LIMITS["int64"]
    return number if least <= number <= most else None


def place_numbers(value: Any) -> list[float]:
    """Return the three numbers of a circle, the four of a box, or none for any other value."""
    try:
        numbers = [] if isinstance(value, str) else [_float(number) for number in value]
    except (TypeError, ValueError):
        return []
    if len(numbers) == 3 and _are_degrees(numbers[:2]) and numbers[2] >= 0:
        return numbers
    # (south, west) and (north, east), each a latitude and a longitude.
    is_box = len(numbers) == 4 and all(map(_are_degrees, (numbers[:2], numbers[2:])))
    return numbers if is_box and numbers[0] <= numbers[2] else []


def _are_degrees(numbers: list[float]) -> bool:
    return all(abs(number) <= most for number, most in zip(numbers, DEGREES.values(), strict=True))
