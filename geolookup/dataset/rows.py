"""The row codec: a row is the JSON texts of its values, joined by line feeds, with a CRC-32C.

No JSON text holds a raw line feed, so a row is split at them, and a comma in
their place makes a JSON array of it. A value that the answer leaves out where
it is unknown has an empty text; it is the first of its row. The compiler
writes whole columns of rows by these definitions, the compiled kernel splits
rows in C, and ``integrity`` checks both independently.

A checksum proves nothing about who wrote a row. So each text is checked when its row is first
read: it must be the one serialisation of a value of its field's type (``KINDS``). After that,
answers copy it without parsing.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring

from geolookup.contract.fields import (
    BOOLEAN,
    COUNTRY,
    COUNTRY_MEMBERS,
    CURRENCY_MEMBERS,
    LOCATION,
    NETWORK,
    NETWORK_MEMBERS,
    NETWORK_MEMBERS_WITHOUT_ASN,
    PLACE_MEMBERS,
    REAL,
    TEXT,
    TEXTS,
    in_table,
)
from geolookup.contract.schema import CONTRACT
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from geolookup.contract.envelope import Object
    from geolookup.contract.fields import Field
    from geolookup.contract.schema import Schema

SEPARATOR = "\n"
#: The text of an unknown value, and of one that the answer then leaves out.
UNKNOWN, ABSENT = "null", ""
_SEPARATOR = SEPARATOR.encode()
#: The decoder of ``json.loads``; the steps around it would take longer than a row.
_scan = json.JSONDecoder().raw_decode
#: Whole numbers below have no exponent: they have 15 digits at most.
WHOLE_BELOW = 1e15
#: The forms of values.
STRING, STRINGS, NUMBER, WHOLE, BOOL, OBJECT = (
    *("string", "strings", "number", "whole", "bool", "object"),
)


class Kind:
    """The valid texts of a member: ``unknown``, or the one serialisation of a value.

    ``form`` is the form of the value: a string, a list of strings, a number, a whole number, a
    bool, or an object. Numbers lie between ``least`` and ``most``; an object has ``members``.
    """

    __slots__ = ("form", "least", "members", "most", "unknown")

    def __init__(
        self, form: str, unknown: str = UNKNOWN, least: float = 0, most: float = 0
    ) -> None:
        self.form, self.unknown, self.least, self.most = form, unknown, least, most
        self.members: dict[str, Kind] = {}

    def has(self, text: str) -> bool:
        """Return whether a text is of this kind."""
        return text == self.unknown or self.has_value(text)

    def has_value(self, text: str) -> bool:
        """Return whether a text is the one serialisation of a value."""
        return _IS_VALUE[self.form](text, self)


class Texts:
    """The rows of a table, each checked when it is first read."""

    __slots__ = ("_checked", "data", "kinds", "offsets", "path", "sums")

    def __init__(
        self,
        path: str,
        offsets: memoryview,
        data: memoryview,
        sums: memoryview,
        kinds: tuple[Kind, ...],
    ) -> None:
        if len(offsets) != len(sums) + 1:
            raise DatasetError(path, "the columns differ in length", REBUILD)
        self.path = path
        self.offsets, self.data, self.sums = offsets, data, sums
        self.kinds = kinds  # of the texts of a row, in their order
        self._checked = bytearray(len(sums))

    def __len__(self) -> int:
        return len(self.sums)

    def __getitem__(self, number: int) -> bytes:
        """Return a row; DatasetError if it is damaged."""
        try:
            row = bytes(self.data[self.offsets[number] : self.offsets[number + 1]])
            if not self._checked[number]:
                self.check(number, row)
                self._checked[number] = 1
        except IndexError:
            raise DatasetError(self.path, f"row {number} does not exist", REBUILD) from None
        return row

    def check(self, number: int, row: bytes) -> None:
        """Raise DatasetError if a row is damaged, or not of this table."""
        # Imported here, for the compiled kernel checks rows by itself.
        from geolookup.dataset.checksums import crc32c

        if crc32c(row) != self.sums[number] or not are_of_kinds(row, self.kinds):
            raise DatasetError(self.path, f"row {number} is damaged", REBUILD)


def are_of_kinds(row: bytes, kinds: tuple[Kind, ...]) -> bool:
    """Return whether a row has a text of each kind, in their order, and no other."""
    try:
        texts = row.decode().split(SEPARATOR)
    except UnicodeDecodeError:
        return False
    if len(texts) != len(kinds):
        return False
    return all(kind.has(text) for text, kind in zip(texts, kinds, strict=True))


def split(row: bytes) -> list[bytes]:
    """Return the JSON texts of a row."""
    return row.split(_SEPARATOR)


def country(texts: list[bytes]) -> Object:
    """Return a location object with only the country known."""
    of_country = members(COUNTRY_MEMBERS, _SEPARATOR.join(texts[: len(COUNTRY_MEMBERS)]))
    return {**of_country, **dict.fromkeys(PLACE_MEMBERS)}


def currency(texts: list[bytes]) -> Object:
    """Return the currency object of a country's row."""
    return members(CURRENCY_MEMBERS, _SEPARATOR.join(texts[len(COUNTRY_MEMBERS) :]))


def place_members(row: bytes) -> Object:
    """Return the members of a location object that do not follow from its country."""
    return members(PLACE_MEMBERS, row)


def network(row: bytes) -> Object:
    """Return the network object."""
    if row.startswith(_SEPARATOR):
        return members(NETWORK_MEMBERS_WITHOUT_ASN, row[1:])
    return members(NETWORK_MEMBERS, row)


def members(names: tuple[str, ...], row: bytes) -> Object:
    """Name the values of a row."""
    # 15169\n"Google" becomes [15169,"Google"].
    values = _scan("[" + row.decode().replace(SEPARATOR, ",") + "]")[0]
    return dict(zip(names, values, strict=True))


# --- kinds


def _kind(field: Field) -> Kind:
    unknown = ABSENT if field.optional else UNKNOWN
    return Kind(_FORMS.get(field.type, WHOLE), unknown, field.least, field.most)


def _is_string(text: str, _kind: Kind) -> bool:
    # The text without its quotes, written again.
    if encode_basestring(text[1:-1]) == text:  # nothing in it is escaped
        return len(text) > 2
    value = _parse(text)
    # An escaped lone surrogate differs here, too: it is written raw.
    return isinstance(value, str) and encode_basestring(value) == text


def _is_list_of_strings(text: str, _kind: Kind) -> bool:
    values = _parse(text)
    is_list = isinstance(values, list) and all(isinstance(item, str) and item for item in values)
    return is_list and _json(values) == text


def _is_object(text: str, kind: Kind) -> bool:
    """Return whether a text is a JSON object of fields by name, none of them unknown."""
    values = _parse(text)
    if not isinstance(values, dict) or not values.keys() <= kind.members.keys():
        return False
    is_of_fields = all(kind.members[name].has_value(_json(item)) for name, item in values.items())
    return is_of_fields and bool(values) and _json(values) == text


def _is_number(text: str, kind: Kind) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    if not kind.least <= value <= kind.most:  # this form rejects NaN
        return False
    return text == number_text(value)


def number_text(value: float) -> str:
    """Return the JSON text of a number: 48 and 48.5, not 48.0 or 4.85e1; from 1e15 as Python."""
    return str(int(value)) if value.is_integer() and abs(value) < WHOLE_BELOW else repr(value)


def _is_whole(text: str, kind: Kind) -> bool:
    try:
        value = int(text)
    except ValueError:
        return False
    return kind.least <= value <= kind.most and text == str(value)


def _parse(text: str) -> object:
    """Return the value of a JSON text; None for any other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_bool(text: str, _kind: Kind) -> bool:
    return text in ("true", "false")


_IS_VALUE: dict[str, Callable[[str, Kind], bool]] = {
    STRING: _is_string,
    STRINGS: _is_list_of_strings,
    NUMBER: _is_number,
    WHOLE: _is_whole,
    BOOL: _is_bool,
    OBJECT: _is_object,
}
#: The form of values by the type of a field; integers of all sizes are whole numbers.
_FORMS = {TEXT: STRING, TEXTS: STRINGS, REAL: NUMBER, BOOLEAN: BOOL}
#: The kinds of the texts of a table's rows, in their order; ``kinds`` adds own columns.
KINDS = {
    table: tuple(_kind(field) for field in in_table(table))
    for table in (LOCATION, NETWORK, COUNTRY)
}


def kinds(table: str, schema: Schema = CONTRACT) -> tuple[Kind, ...]:
    """Return the kinds of the texts of a table's rows, in their order."""
    return KINDS.get(table) or tuple(_kind(field) for field in schema.in_table(table))


def value_kinds(schema: Schema) -> tuple[Kind, ...]:
    """Return the kind of the values of a source row in one layer."""
    kind = Kind(OBJECT, ABSENT)
    kind.members = {name: _kind(field) for name, field in schema.by_source_column.items()}
    return (kind,)
