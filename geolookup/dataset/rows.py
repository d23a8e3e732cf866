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
from sys import float_info

from geolookup.contract.fields import (
    COUNTRY,
    COUNTRY_MEMBERS,
    CURRENCY_MEMBERS,
    DEGREES,
    FIELDS,
    LOCATION,
    NETWORK,
    NETWORK_MEMBERS,
    NETWORK_MEMBERS_WITHOUT_ASN,
    PLACE_MEMBERS,
    TEXT,
    TEXTS,
    in_table,
)
from geolookup.dataset.crc32c import crc32c
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from geolookup.contract.envelope import Object
    from geolookup.contract.fields import Field

    #: The text of an unknown value, and whether another text is the one serialisation of a value.
    Kind = tuple[str, Callable[[str], bool]]

SEPARATOR = "\n"
#: The text of an unknown value, and of one that the answer then leaves out.
UNKNOWN, ABSENT = "null", ""
_SEPARATOR = SEPARATOR.encode()
#: What ``json.loads`` comes down to; its wrapping would cost more than a row does.
_scan = json.JSONDecoder().raw_decode


class Texts:
    """The rows of a table, each checked when it is first read."""

    __slots__ = ("_checked", "_kinds", "data", "offsets", "path", "sums")

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
        self._kinds = kinds  # of the texts of a row, in their order
        self._checked = bytearray(len(sums))

    def __len__(self) -> int:
        return len(self.sums)

    def __getitem__(self, number: int) -> bytes:
        """Return a row; DatasetError where it is damaged."""
        try:
            row = bytes(self.data[self.offsets[number] : self.offsets[number + 1]])
            if not self._checked[number]:
                self.check(number, row)
                self._checked[number] = 1
        except IndexError:
            raise DatasetError(self.path, f"there is no row {number}", REBUILD) from None
        return row

    def check(self, number: int, row: bytes) -> None:
        """Raise DatasetError where a row is not what was written, or not of this table."""
        if crc32c(row) != self.sums[number] or not self._is_of_kinds(row):
            raise DatasetError(self.path, f"row {number} is damaged", REBUILD)

    def _is_of_kinds(self, row: bytes) -> bool:
        try:
            texts = row.decode().split(SEPARATOR)
        except UnicodeDecodeError:
            return False
        if len(texts) != len(self._kinds):
            return False
        for text, (unknown, is_value) in zip(texts, self._kinds, strict=True):
            if text != unknown and not is_value(text):
                return False
        return True


def split(row: bytes) -> list[bytes]:
    """Return the JSON texts of a row."""
    return row.split(_SEPARATOR)


def country(texts: list[bytes]) -> Object:
    """Return a location object in which the country alone is known."""
    known = _object(COUNTRY_MEMBERS, _SEPARATOR.join(texts[: len(COUNTRY_MEMBERS)]))
    return {**known, **dict.fromkeys(PLACE_MEMBERS)}


def currency(texts: list[bytes]) -> Object:
    """Return the currency object of a country's row."""
    return _object(CURRENCY_MEMBERS, _SEPARATOR.join(texts[len(COUNTRY_MEMBERS) :]))


def place(row: bytes) -> Object:
    """Return the members of a location object that do not follow from its country."""
    return _object(PLACE_MEMBERS, row)


def network(row: bytes) -> Object:
    """Return the network object."""
    if row.startswith(_SEPARATOR):
        return _object(NETWORK_MEMBERS_WITHOUT_ASN, row[1:])
    return _object(NETWORK_MEMBERS, row)


def _object(members: tuple[str, ...], row: bytes) -> Object:
    """Name the values of a row."""
    values = _scan("[" + row.decode().replace(SEPARATOR, ",") + "]")[0]
    return dict(zip(members, values, strict=True))


# --- kinds


def _kinds(table: str) -> tuple[Kind, ...]:
    fields = in_table(table)
    return tuple((ABSENT if each.optional else UNKNOWN, _is_value(each)) for each in fields)


def _is_value(field: Field) -> Callable[[str], bool]:
    if field.member in DEGREES:
        limit = DEGREES[field.member]
        return lambda text: _is_number(text, -limit, limit)
    return _IS_VALUE[field.type]


def _is_text(text: str) -> bool:
    if encode_basestring(text[1:-1]) == text:  # nothing in it is escaped
        return len(text) > 2
    value = _parsed(text)
    # An escaped lone surrogate differs here, too: it is written raw.
    return isinstance(value, str) and encode_basestring(value) == text


def _is_list_of_texts(text: str) -> bool:
    values = _parsed(text)
    is_list = isinstance(values, list) and all(isinstance(each, str) and each for each in values)
    return is_list and _written(values) == text


def is_object(text: str) -> bool:
    """Return whether a text is that of a JSON object of fields by name, none of them unknown."""
    values = _parsed(text)
    if not isinstance(values, dict) or not values.keys() <= _IS_STATED.keys():
        return False
    known = all(_IS_STATED[name](_written(value)) for name, value in values.items())
    return known and bool(values) and _written(values) == text


def _is_number(text: str, least: float, most: float) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    if not least <= value <= most:  # this form rejects NaN
        return False
    return text == (str(int(value)) if value.is_integer() else repr(value))


def _is_whole(text: str, least: int, most: int) -> bool:
    try:
        value = int(text)
    except ValueError:
        return False
    return least <= value <= most and text == str(value)


def _parsed(text: str) -> object:
    """Return the value of a JSON text; None for any other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


#: By the type of a field; areas and whole numbers are not negative.
_IS_VALUE: dict[str, Callable[[str], bool]] = {
    TEXT: _is_text,
    TEXTS: _is_list_of_texts,
    "double": lambda text: _is_number(text, 0.0, float_info.max),
    "int64": lambda text: _is_whole(text, 0, (1 << 63) - 1),
    "uint32": lambda text: _is_whole(text, 1, (1 << 32) - 1),  # AS 0 is none (RFC 7607)
    "bool": ("true", "false").__contains__,
}
#: By the name of a field in source rows.
_IS_STATED = {each.member: _is_value(each) for each in FIELDS if each.layer}
_IS_STATED["time_zone"] = _is_text
#: The kinds of the texts of a table's rows, in their order.
KINDS = {table: _kinds(table) for table in (LOCATION, NETWORK, COUNTRY)}
#: The values of a source row in one layer.
VALUES: tuple[Kind, ...] = ((ABSENT, is_object),)
