"""The row codec: a row is the JSON texts of its values, joined by line feeds, with a CRC-32.

No JSON text holds a raw line feed, so a row is split at them, and a comma in
their place makes a JSON array of it. A value that the answer leaves out where
it is unknown has an empty text; it is the first of its row. The compiler
writes whole columns of rows by these definitions, the compiled kernel splits
rows in C, and ``integrity`` checks both independently.
"""

from __future__ import annotations

import json
from zlib import crc32

from geolookup.contract.fields import (
    COUNTRY_MEMBERS,
    CURRENCY_MEMBERS,
    NETWORK_MEMBERS,
    NETWORK_MEMBERS_WITHOUT_ASN,
    PLACE_MEMBERS,
)
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.contract.envelope import Object

SEPARATOR = "\n"
#: The text of an unknown value, and of one that the answer then leaves out.
UNKNOWN, ABSENT = "null", ""
_SEPARATOR = SEPARATOR.encode()
#: What ``json.loads`` comes down to; its wrapping would cost more than a row does.
_scan = json.JSONDecoder().raw_decode


class Texts:
    """The rows of a table, each checked when it is first read."""

    __slots__ = ("_checked", "_members", "data", "offsets", "path", "sums")

    def __init__(
        self, path: str, offsets: memoryview, data: memoryview, sums: memoryview, members: int
    ) -> None:
        if len(offsets) != len(sums) + 1:
            raise DatasetError(path, "the columns differ in length", REBUILD)
        self.path = path
        self.offsets, self.data, self.sums = offsets, data, sums
        self._members = members
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
        if crc32(row) != self.sums[number] or not self._has_members(row):
            raise DatasetError(self.path, f"row {number} is damaged", REBUILD)

    def _has_members(self, row: bytes) -> bool:
        texts = split(row)
        stated = texts if texts[0] else texts[1:]  # the first may be absent
        try:
            found = json.loads(b"[" + b",".join(stated) + b"]")
        except (ValueError, RecursionError):
            return False
        return len(texts) == self._members and len(found) == len(stated)


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
