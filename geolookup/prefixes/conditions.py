"""Conditions on answers, as texts and as Python values.

A text is ``FIELD OPERATOR VALUE``, or the name of a Boolean field:

- ``country_is_eu``: a Boolean field is true.
- ``country=AT,DE``: one of these values; ``null`` is unknown. A value with a comma, quotes or the
  text "null" stands in double quotes, doubled inside.
- ``asn>=64512``: a number that is greater or less; also ``>``, ``<=`` and ``<``.
- ``city^=San,Santa``: a text that begins with one of these texts.
- ``location~48.2,16.4,50km``: at most so many km from a latitude and longitude.
- ``location~46.3,9.5,49.1,17.2``: in the box of these latitudes and longitudes: south, west,
  north, east.

In Python a mapping states the same: the field, with the operator after it unless it is ``=``, to
the value, or to a list of values; unknown is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from geolookup.contract.fields import BOOLEAN, DEGREES, LOCATION, NAMES, OWN_PREFIX, STORED, Field
from geolookup.contract.paths import resolve_field, unknown_field
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.prefixes.condition_values import beginning, bound, place_numbers, typed_value

#: What ``conditions_of`` takes.
Where = str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]] | None
_FIELD, _OPERATOR = r"\s*([^\s=<>~^]+)\s*", r"(>=|<=|\^=|[=<>~])"
_TEXT = re.compile(rf"{_FIELD}{_OPERATOR}(.*)", re.DOTALL)
#: "asn>=" -> "asn" and ">="; "asn" has no operator.
_KEY = re.compile(rf"{_FIELD}(?:{_OPERATOR}\s*)?")
_NOT = "not"
_EXAMPLE = "write FIELD=VALUE, such as country=AT,DE"
_COORDINATES = tuple(field for field in STORED if field.member in DEGREES)
# AT, "a ""b"", c" and null: in quotes or plain, then a comma or the end.
_ITEM = re.compile(r"""(?:\s*"((?:[^"]|"")*)"\s*|([^",]*))(,|$)""")


class Condition(NamedTuple):
    """A condition on a field, or on both coordinates; with ``negated`` it must not be met.

    ``predicates.meets`` describes operators and values. ``call`` is the call or option that stated
    the condition: messages begin with it.
    """

    fields: tuple[Field, ...]
    operator: str
    values: tuple[Any, ...]
    negated: bool
    call: str


def conditions_of(
    where: Where, call: str, schema: Schema = CONTRACT, *, negated: bool = False
) -> tuple[Condition, ...]:
    """Return the conditions of ``where``: all must be met, or none if ``negated``.

    The key ``"not"`` of a mapping has conditions that must not be met. ``call`` is the call
    or option, for messages; ``schema`` has the fields of the dataset. Raises
    ValueError for a name that no stored field has, a value that the field cannot have, and a
    malformed text; TypeError for conditions that are neither texts nor mappings.
    """
    return tuple(_Reader(call, schema).conditions(where, negated=negated))


class _Reader:
    """Reads conditions; its messages begin with the call or option."""

    def __init__(self, call: str, schema: Schema) -> None:
        self._call, self._fields = call, schema.stored

    def conditions(self, where: Where, *, negated: bool) -> Iterator[Condition]:
        listed: Any = () if where is None else where
        is_list = isinstance(listed, Iterable) and not isinstance(listed, str | Mapping)
        for condition in listed if is_list else [listed]:
            if isinstance(condition, str):
                yield self._of_text(condition, negated)
            elif isinstance(condition, Mapping):
                yield from self._of_mapping(condition, negated)
            else:
                kind, problem = type(condition).__name__, "a condition is a text or a mapping"
                raise TypeError(f"{self._call}: {problem}, not {kind}")

    def _of_mapping(self, where: Mapping[str, Any], negated: bool) -> Iterator[Condition]:
        for key, value in where.items():
            if key == _NOT:
                if negated:
                    raise self._error('"not" cannot contain "not"')
                yield from self.conditions(value, negated=True)
                continue
            match = _KEY.fullmatch(key) if isinstance(key, str) else None
            if match is None:
                raise unknown_field(key, self._call, self._fields)
            yield self._condition(match[1], match[2] or "=", value, negated)

    def _of_text(self, text: str, negated: bool) -> Condition:
        match = _TEXT.fullmatch(text)
        if match is None:
            return self._condition(self._flag(text.strip()), "=", True, negated)
        name, operator, value = match.groups()
        values = value if operator == "~" else self._items(value)
        return self._condition(name, operator, values, negated)

    def _flag(self, name: str) -> str:
        """Return the path of the Boolean field of a name; ValueError for any other text."""
        path, types = NAMES.get(name, name), {field.path: field.type for field in self._fields}
        if types.get(path) == BOOLEAN:
            return path
        if name.startswith(OWN_PREFIX) or OWN_PREFIX + name in types:
            resolve_field(name, self._fields, self._call)
        # The text may be an address: no message contains it.
        raise self._error(f"a condition has a field, an operator and a value; {_EXAMPLE}")

    def _items(self, text: str) -> list[str | None]:
        """Return the values of a text, separated by commas; None for ``null``."""
        items: list[str | None] = []
        at, after = 0, ","
        while after == ",":
            match = _ITEM.match(text, at)
            quoted, plain, after = match.groups() if match else ("", "", "")
            plain = plain and plain.strip()
            if match is None or not (quoted or plain):
                problem = "a value is missing or has a stray quote"
                raise self._error(f"{problem}; {_EXAMPLE}, or =null")
            unquoted = None if plain == "null" else plain
            items.append(quoted.replace('""', '"') if quoted else unquoted)
            at = match.end()
        return items

    def _condition(self, name: str, operator: str, value: Any, negated: bool) -> Condition:
        is_place = operator == "~"
        if is_place and name != LOCATION:
            raise self._error(f"only {LOCATION} has a distance or a box; write {LOCATION}~…")
        fields = _COORDINATES if is_place else (resolve_field(name, self._fields, self._call),)
        values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        try:
            checked = place_numbers(value) if is_place else _checked(fields[0], operator, values)
        except ValueError as error:
            raise self._error(str(error)) from None
        return Condition(fields, operator, checked, negated, self._call)

    def _error(self, text: str) -> ValueError:
        return ValueError(f"{self._call}: {text}")


def _checked(field: Field, operator: str, values: list[Any]) -> tuple[Any, ...]:
    if operator == "=":
        return tuple(None if value is None else typed_value(field, value) for value in values)
    if operator == "^=":
        return tuple(beginning(field, value) for value in values)
    return (bound(field, operator, values),)
