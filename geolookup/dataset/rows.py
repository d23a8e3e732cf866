"""The row codec: a row is the JSON texts of its values, joined by line feeds.

No JSON text holds a raw line feed, so a row is split at them, and a comma in their place makes a
JSON array of it. A value that the answer leaves out if it is unknown has an empty text; it is the
first of its row. The compiler writes whole columns of rows by these definitions, and the compiled
kernel splits rows in C.

The files of a dataset have digests, so the texts of a row are trusted: JSON answers copy them. But
whatever the bytes are, a row has as many texts as its table has fields, or it is a DatasetError; so
is a value whose type is not the field's.
"""

from __future__ import annotations

import json

from geolookup.contract.fields import BOOLEAN, REAL, TEXT, TEXTS
from geolookup.errors import REBUILD, DatasetError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

    from geolookup.contract.envelope import Object
    from geolookup.contract.fields import Field

SEPARATOR = "\n"
#: The text of an unknown value, and of one that the answer then leaves out.
UNKNOWN, ABSENT = "null", ""
_SEPARATOR = SEPARATOR.encode()
#: The decoder of ``json.loads``; the steps around it would take longer than a row.
_scan = json.JSONDecoder().raw_decode
#: Whole numbers below have no exponent: they have 15 digits at most.
WHOLE_BELOW = 1e15
#: The types of values by the type of a field; integers of all sizes are ``int``.
_TYPES: dict[str, tuple[type, ...]] = {
    TEXT: (str,),
    TEXTS: (list,),
    REAL: (float, int),
    BOOLEAN: (bool,),
}


class Texts:
    """The rows of a table, as JSON texts and as values; one of each field in a row."""

    __slots__ = ("data", "fields", "offsets", "path")

    def __init__(
        self, path: str, offsets: memoryview, data: memoryview, fields: Sequence[Field]
    ) -> None:
        if not len(offsets):
            raise DatasetError(path, "the texts of its rows have no offsets", REBUILD)
        self.path, self.offsets, self.data, self.fields = path, offsets, data, tuple(fields)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def texts(self, number: int) -> list[bytes]:
        """Return the JSON texts of a row; DatasetError if there are more or fewer than fields."""
        if not number < len(self):
            raise DatasetError(self.path, f"row {number} does not exist", REBUILD)
        begin, end = self.offsets[number], self.offsets[number + 1]
        if not 0 <= begin <= end <= len(self.data):
            raise DatasetError(self.path, f"row {number} lies outside the file", REBUILD)
        texts = bytes(self.data[begin:end]).split(_SEPARATOR)
        if len(texts) != len(self.fields):
            raise self._damaged(number)
        return texts

    def values(self, number: int) -> list[object]:
        """Return the values of a row; DatasetError if one is not of its field's type."""
        texts = self.texts(number)
        if not texts[0] and self.fields[0].optional:
            texts[0] = UNKNOWN.encode()
        try:
            # 15169\n"Google" becomes [15169,"Google"].
            values: list[object] = _scan(f"[{b','.join(texts).decode()}]")[0]
            pairs = zip(self.fields, values, strict=True)
            is_right = all(value is None or is_of(field, value) for field, value in pairs)
        except (ValueError, RecursionError):
            is_right = False
        if not is_right:
            raise self._damaged(number)
        return values

    def members(self, number: int) -> Object:
        """Return the values of a row by the members of its fields."""
        return {f.member: value for f, value in zip(self.fields, self.values(number), strict=True)}

    def _damaged(self, number: int) -> DatasetError:
        return DatasetError(self.path, f"row {number} is damaged", REBUILD)


def is_of(field: Field, value: object) -> bool:
    """Return whether a value has a field's type; ValueError for half of a surrogate pair."""
    for text in value if isinstance(value, list) else (value,):
        if isinstance(text, str):
            text.encode()
        elif text is not value:
            return False  # an item of a list
    return type(value) in _TYPES.get(field.type, (int,))


def number_text(value: float) -> str:
    """Return the JSON text of a number: 48 and 48.5, not 48.0 or 4.85e1; from 1e15 as Python."""
    return str(int(value)) if value.is_integer() and abs(value) < WHOLE_BELOW else repr(value)
