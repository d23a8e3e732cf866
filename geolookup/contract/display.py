"""Answers for people: meanings of fields, names of places and networks, tables for notebooks.

No lookup needs this module.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from geolookup.contract.fields import BOOLEAN, ENTRIES, OBJECT, REAL, TEXT, TEXTS, Field

if TYPE_CHECKING:
    from geolookup.contract.types import FieldName

# --- the meaning of fields

#: JSON types by the type of a field; all others are integers.
_JSON_TYPES = {TEXT: "string", TEXTS: "strings", REAL: "number", BOOLEAN: "boolean"}


class FieldInfo(NamedTuple):
    """A field or group of an answer.

    ``type`` is a JSON type: ``string``, ``number``, ``integer``, ``boolean``, ``strings`` (a list
    of them) or ``object``. ``unit`` may be empty; ``example`` is None for an object.
    """

    path: FieldName
    short_name: FieldName
    type: str
    unit: str
    meaning: str
    example: Any


def fields() -> tuple[FieldInfo, ...]:
    """Return every field and group of an answer, in contract order.

    A group (``"location"``) comes before its members (``"location.city_name"``). Every call and
    option accepts a field by its path, its short name or, except in currency, its member
    (``"city_name"``).
    """
    return tuple(
        FieldInfo(
            cast("FieldName", entry.path),
            cast("FieldName", entry.short_name),
            json_type(entry),
            entry.unit,
            meaning(entry) + "; absent if unknown" * entry.optional,
            entry.example,
        )
        for entry in ENTRIES
    )


def json_type(entry: Field) -> str:
    """Return the type of a field's values as JSON has it; see ``FieldInfo``."""
    return "object" if entry.type == OBJECT else _JSON_TYPES.get(entry.type, "integer")


def meaning(entry: Field) -> str:
    """Return the meaning of a field, with its words if it has a few: ``kind: `a`, `b` or `c```."""
    words = [f"`{word}`" for word in entry.words]
    return f"{entry.meaning}: {', '.join(words[:-1])} or {words[-1]}" if words else entry.meaning


# --- names

#: ASCII replacements of characters that NFKD does not decompose.
_LOWER = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "\u0131": "i", "æ": "ae", "œ": "oe"}
_UPPER = {"Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Æ": "AE", "Œ": "OE"}
_REPLACEMENTS = str.maketrans({**_LOWER, **_UPPER, "ß": "ss"})
#: Removed, not replaced by a blank: "L'Aquila" is "laquila" in any spelling.
_APOSTROPHES = re.compile("[\u0060\u00b4\u02bb\u02bc\u02be\u02bf\u2018\u2019']")
#: "Saint-Denis" and "Saint Denis" are the same name.
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def fold(name: str) -> str:
    """Return a name without case, accents, punctuation and repeated spaces."""
    plain = without_marks(_APOSTROPHES.sub("", name).casefold())
    return _BETWEEN_WORDS.sub(" ", plain).strip()


def without_marks(text: str) -> str:
    """Return text without accents and other combining marks (Unicode Standard Annex 15, NFKD)."""
    if text.isascii():  # most names: a sixth of the time
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    # U+00E9 (e with acute) is "e" and U+0301, a combining mark, in NFKD.
    unmarked = "".join(mark for mark in decomposed if not unicodedata.combining(mark))
    return unmarked.translate(_REPLACEMENTS)


def place_name(location: Mapping[str, Any]) -> str | None:
    """Return the names from the city to the country, each once, else the continent's."""
    names = [location[f"{unit}_name"] for unit in ("city", "region", "country")]
    return ", ".join(dict.fromkeys(filter(None, names))) or location["continent_name"]


def network_name(network: Mapping[str, Any]) -> str | None:
    """Return the AS and its organization, or else who uses the network: ``AS15169 Google LLC``."""
    number = network.get("asn")  # the one field that is absent if unknown
    asn = f"AS{number}" if number else None
    user = network["asn_organization"] or network["organization"] or network["isp"]
    return " ".join(filter(None, (asn, user))) or None


# --- tables for notebooks
# Values are escaped, because texts of a dataset may hold markup. It has neither scripts nor links.
# The table takes the colours of the notebook, light or dark.

_LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.4);padding:.3em .6em;text-align:left"
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;max-width:48em"
_CAPTION = "caption-side:top;color:inherit;font-weight:bold;padding:.3em .6em;text-align:left"


def html_table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values; None and empty values are left out."""
    body = "".join(_row(name, value) for name, value in rows if value not in (None, ""))
    return (
        f'<table style="{_TABLE}"><caption style="{_CAPTION}">{escape(caption)}</caption>'
        f"<tbody>{body}</tbody></table>"
    )


def _row(name: str, value: object) -> str:
    return (
        f'<tr><th scope="row" style="{_LINE}">{escape(name)}</th>'
        f'<td style="{_LINE}">{escape(str(value))}</td></tr>'
    )


def join_values(*values: object, by: str = ", ") -> str:
    """Return the known values as one text."""
    return by.join(str(value) for value in values if value is not None)
