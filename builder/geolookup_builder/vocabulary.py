"""Vendors' words for connections and users, translated into the words of the contract.

One table for each field serves all vendors: vendor word in lower case to contract word. None marks
a known word without a counterpart in the contract; a word in no table is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from geolookup.contract.fields import BY_SOURCE_COLUMN, Field

Words = Mapping[str, str | None]
NO_WORD = ""

_CONNECTION_TYPES: Words = {
    # Lines sold to households; user_type states who uses one.
    "cable/dsl": "Residential",
    "cable": "Residential",
    "dsl": "Residential",
    "fttx": "Residential",
    # DB-IP's CSV says wireless where its MMDB says Cellular.
    "cellular": "Mobile",
    "wireless": "Mobile",
    "sat": "Satellite",
    # IP2Location's COMP is a company's line; a T1 is leased; only companies lease.
    "comp": "Corporate",
    "t1": "Corporate",
    "dial": "Dialup",
    # An ISDN line is dialled as well; no other type of the contract is as slow.
    "isdn": "Dialup",
}

_USER_TYPES: Words = {
    # DB-IP.
    "corporate": "business",
    "consumer": "residential",
    # IPinfo. Its education includes schools, but most such networks are of universities.
    "isp": "residential",  # IP2Location too: a fixed line of a subscriber
    "education": "college",
    # IP2Location.
    "com": "business",
    "org": "business",  # the contract's type for an organization's office
    "gov": "government",
    "mil": "military",
    "edu": "college",  # universities, colleges and schools, as education
    "lib": "library",
    "cdn": "content_delivery_network",
    "mob": "cellular",
    "dch": "hosting",
    "ses": "search_engine_spider",
    "rsv": None,  # reserved: not in use
}

_OF_VENDORS = {"connection_type": _CONNECTION_TYPES, "user_type": _USER_TYPES}
#: The translations of every field with a list of words, its own words included.
VOCABULARY: Mapping[str, Words] = {
    name: {**{word.lower(): word for word in field.words}, **_OF_VENDORS.get(name, {})}
    for name, field in BY_SOURCE_COLUMN.items()
    if field.words
}


def translate(cells: pa.Array, field: Field, _reference: object = None) -> pa.Array:
    """Return the contract's words for cells of a field: ``NO_WORD`` for none, null if unknown.

    Of joined words (``ISP/MOB``) the first with a counterpart in the contract is used: a
    field holds one word, and vendors state the fixed line first.
    """
    words = VOCABULARY[field.source_column]
    return pa.array((_translated(cell, words) for cell in cells.to_pylist()), pa.string())


def _translated(cell: str | None, words: Words) -> str | None:
    if cell is None:
        return None
    word = cell.lower()
    # "isp/mob" -> "residential"; "foo/mob" has an unknown part and is invalid as a whole.
    parts = [word] if word in words else [part.strip() for part in word.split("/")]
    if not all(part in words for part in parts):
        return None
    return next(filter(None, map(words.get, parts)), NO_WORD)
