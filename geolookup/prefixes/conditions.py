"""Conditions on answers, as texts and as Python values.

A text is ``PATH OPERATOR VALUE``:

- ``location.country_code=AT,DE``: one of these values; ``null`` is unknown. A value with a comma,
  quotes or the text "null" stands in double quotes, doubled inside.
- ``network.asn>=64512``: a number that is greater or less; also ``>``, ``<=`` and ``<``.
- ``location.city_name^=San,Santa``: a text that begins with one of these texts.
- ``location~48.2,16.4,50km``: at most so many km from a latitude and longitude.
- ``location~46.3,9.5,49.1,17.2``: in the box of these latitudes and longitudes: south, west,
  north, east.

In Python a mapping states the same: the path, with the operator after it unless it is ``=``, to
the value, or to a list of values; unknown is None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, NamedTuple, cast

import pyarrow.compute as pc

from geolookup.contract.fields import DEGREES, LOCATION, STORED, TEXT, TEXTS, Field
from geolookup.contract.paths import is_address_or_network, resolve_field, unknown_field
from geolookup.prefixes.predicates import Among, Around, Compared, InBox, Predicate, StartsWith

#: What ``conditions_of`` takes.
Where = str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]] | None
_COMPARE = {">=": pc.greater_equal, "<=": pc.less_equal, ">": pc.greater, "<": pc.less}
_PATH, _OPERATOR = r"\s*([^\s=<>~^]+)\s*", r"(>=|<=|\^=|[=<>~])"
_TEXT = re.compile(rf"{_PATH}{_OPERATOR}(.*)", re.DOTALL)
#: "network.asn>=" -> "network.asn" and ">="; "network.asn" has no operator.
_KEY = re.compile(rf"{_PATH}(?:{_OPERATOR}\s*)?")
_NOT = "not"
_EXAMPLE = "write PATH=VALUE, such as location.country_code=AT,DE"
_PLACE = tuple(field for field in STORED if field.member in DEGREES)
#: Halves of a pair of UTF-16, also what stands for bytes of an argument that are not UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")
#: The most characters of a value in a message.
_LONGEST = 60
# AT, "a ""b"", c" and null: in quotes or plain, then a comma or the end.
_ITEM = re.compile(r"""(?:\s*"((?:[^"]|"")*)"\s*|([^",]*))(,|$)""")


class Condition(NamedTuple):
    """The conditions on fields of one table; with ``negated`` none of them may be met."""

    fields: tuple[Field, ...]
    predicate: Predicate
    negated: bool = False


def conditions_of(where: Where, not_: Where = None) -> tuple[Condition, ...]:
    """Return the conditions of ``where``, all of which must be met, and those of ``not_``, negated.

    The key ``"not"`` of a mapping leads to conditions none of which may be met. Raises ValueError
    for an unknown path, a value that the field cannot have, and a malformed text; TypeError for
    conditions that are neither texts nor mappings.
    """
    return (*_conditions(where, negated=False), *_conditions(not_, negated=True))


def _conditions(where: Where, *, negated: bool) -> Iterator[Condition]:
    if where is None:
        return
    if isinstance(where, str):
        yield _of_text(where, negated)
    elif isinstance(where, Mapping):
        yield from _of_mapping(where, negated)
    elif isinstance(where, Iterable):
        for condition in where:
            if not isinstance(condition, str | Mapping):
                raise TypeError(
                    f"a condition is a text or a mapping, not {type(condition).__name__}"
                )
            yield from _conditions(condition, negated=negated)
    else:
        raise TypeError(f"conditions are texts or mappings, not {type(where).__name__}")


def _of_mapping(where: Mapping[str, Any], negated: bool) -> Iterator[Condition]:
    for key, value in where.items():
        if key == _NOT:
            if negated:
                raise ValueError('"not" has no "not" inside')
            yield from _conditions(value, negated=True)
            continue
        match = _KEY.fullmatch(key) if isinstance(key, str) else None
        if match is None:
            raise unknown_field(key, "prefixes")
        yield _condition(match[1], match[2] or "=", value, negated)


def _of_text(text: str, negated: bool) -> Condition:
    match = _TEXT.fullmatch(text)
    if match is None:  # it may be an address: no message contains it
        raise ValueError(f"a condition has a path, an operator and a value; {_EXAMPLE}")
    path, operator, value = match.groups()
    return _condition(
        path, operator, _place_texts(value) if operator == "~" else _items(value), negated
    )


def _items(text: str) -> list[str | None]:
    """Return the values of a text, which commas separate; None for ``null``."""
    items: list[str | None] = []
    at, after = 0, ","
    while after == ",":
        match = _ITEM.match(text, at)
        quoted, plain, after = match.groups() if match else ("", "", "")
        plain = plain and plain.strip()
        if match is None or not (quoted or plain):
            raise ValueError(f"a value is missing or has a stray quote; {_EXAMPLE}, or =null")
        items.append(quoted.replace('""', '"') if quoted else None if plain == "null" else plain)
        at = match.end()
    return items


def _place_texts(text: str) -> list[str]:
    """Return the numbers of a place as texts: three of a circle, four of a box."""
    *first, last = (number.strip() for number in text.split(","))
    # Two numbers before the last: a circle, whose distance ends in km; three: a box.
    if (len(first) == 2) != last.endswith("km"):
        raise _malformed_place()
    return [*first, last.removesuffix("km")]


def _condition(path: str, operator: str, value: Any, negated: bool) -> Condition:
    if operator == "~":
        if path != LOCATION:
            raise ValueError(f"only {LOCATION} has a distance or a box: write {LOCATION}~…")
        return Condition(_PLACE, _place_predicate(value), negated)
    field = resolve_field(path, STORED, "prefixes")
    values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    if operator == "=":
        known_values = tuple(_value(field, item) for item in values if item is not None)
        predicate: Predicate = Among(known_values, unknown=None in values)
    elif operator == "^=":
        predicate = StartsWith(tuple(_begin(field, item) for item in values))
    else:
        predicate = Compared(_COMPARE[operator], _bound(field, operator, values))
    return Condition((field,), predicate, negated)


def _value(field: Field, value: Any) -> Any:
    """Return a value that the column of a field can have."""
    if field.type in (TEXT, TEXTS):
        if _is_text(value):
            return str(value)
    elif field.type == "bool":
        if isinstance(value, bool) or value in ("true", "false"):
            return value if isinstance(value, bool) else value == "true"
    elif (number := _number(field, value)) is not None:
        return number
    kind = {TEXT: "texts", TEXTS: "texts", "bool": "true or false"}.get(field.type, "numbers")
    raise ValueError(f"the values of {field.path} are {kind}; {value_for_message(value)} is none")


def value_for_message(value: object) -> str:
    """Return a value as a message names it; one that may be an address is not in it."""
    if is_address_or_network(value):
        return "(an address)"
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
            value = float(text) if field.type == "double" else int(text)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(_float(value)):
        return None
    if field.type == "double":
        return float(value)
    # 64512.0 is accepted, 0.5 is not.
    whole: int = math.floor(cast(Any, value))
    most = (1 << 32 if field.type == "uint32" else 1 << 63) - 1
    return whole if whole == value and 0 <= whole <= most else None


def _float(value: Any) -> float:
    """Return a number; infinity for one that is greater than any of this type."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _begin(field: Field, value: Any) -> str:
    if field.type not in (TEXT, TEXTS) or not _is_text(value) or not value:
        raise ValueError(f"^= takes the beginning of a text, of a field of texts: {field.path}")
    return str(value)


def _bound(field: Field, operator: str, values: list[Any]) -> float:
    if field.type in (TEXT, TEXTS, "bool"):
        raise ValueError(f"{operator} compares numbers; the values of {field.path} are none")
    try:
        (bound,) = map(_float, values)
    except (TypeError, ValueError):
        bound = math.nan
    if math.isnan(bound):
        raise ValueError(f"{field.path}{operator} takes one number")
    return bound


def _place_predicate(value: Any) -> Predicate:
    """Return the circle of three numbers, or the box of four."""
    if isinstance(value, str):
        raise _malformed_place()
    try:
        numbers = [_float(number) for number in value]
    except (TypeError, ValueError):
        raise _malformed_place() from None
    if len(numbers) == 3 and _are_degrees(numbers[:2]) and numbers[2] >= 0:
        return Around(*numbers)
    # (south, west) and (north, east), each a latitude and a longitude.
    if len(numbers) == 4 and all(map(_are_degrees, (numbers[:2], numbers[2:]))):
        south, _, north, _ = numbers
        if south <= north:
            return InBox(*numbers)
    raise _malformed_place()


def _are_degrees(numbers: list[float]) -> bool:
    return all(abs(number) <= most for number, most in zip(numbers, DEGREES.values(), strict=True))


def _malformed_place() -> ValueError:
    return ValueError(
        "location~ takes a latitude, a longitude and a distance, such as 48.2,16.4,50km, or the "
        "south, west, north and east of a box, such as 46.3,9.5,49.1,17.2"
    )
