"""What vendors' words for connections and users mean in the words of the contract.

Strategy: one table a field, for all vendors at once: vendor word in lower case to contract
word. None marks a word that is known and says nothing of the contract's kinds; a word that
is in no table is unusable.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder import schema

Words = Mapping[str, str | None]

CONNECTION_TYPES: Words = {
    **{word.lower(): word for word in schema.CONNECTION_TYPES},
    # Lines that households are sold; who sits behind one of them is user_type's business.
    "cable/dsl": "Residential",
    "cable": "Residential",
    "dsl": "Residential",
    "fttx": "Residential",
    # DB-IP's CSV says wireless where its MMDB says Cellular.
    "cellular": "Mobile",
    "wireless": "Mobile",
    "sat": "Satellite",
    # IP2Location's COMP is a company's line; a T1 is leased, which only companies do.
    "comp": "Corporate",
    "t1": "Corporate",
    "dial": "Dialup",
    # An ISDN line is dialled as well; nothing else of the contract is as narrow.
    "isdn": "Dialup",
}

USER_TYPES: Words = {
    **{word: word for word in schema.USER_TYPES},
    # DB-IP.
    "corporate": "business",
    "consumer": "residential",
    # IPinfo. Its education holds schools too, but most such networks are of universities.
    "isp": "residential",  # IP2Location as well: a fixed line, that is, a subscriber's
    "education": "college",
    # IP2Location.
    "com": "business",
    "org": "business",  # of the contract's kinds the one for an organization's office
    "gov": "government",
    "mil": "military",
    "edu": "college",  # universities, colleges and schools in one word: as education
    "lib": "library",
    "cdn": "content_delivery_network",
    "mob": "cellular",
    "dch": "hosting",
    "ses": "search_engine_spider",
    "rsv": None,  # reserved: nobody uses such an address
}

#: The fields that are told in a vocabulary.
VOCABULARY: Mapping[str, Words] = {"connection_type": CONNECTION_TYPES, "user_type": USER_TYPES}


def translated(cells: pa.Array, words: Words) -> tuple[pa.Array, pa.Array]:
    """Return the contract's words for distinct cells, null for none, and which cells are known.

    Joined words (``ISP/MOB``) say what the first of them says that is any kind of
    the contract's: there is room for one, and vendors state the fixed line first.
    """
    lower = pc.utf8_lower(cells)
    table = {**words, **_joined(lower, words)}
    found = pc.index_in(lower, pa.array(list(table), pa.string()))
    return pa.array(list(table.values()), pa.string()).take(found), pc.is_valid(found)


def _joined(lower: pa.Array, words: Words) -> dict[str, str | None]:
    """Return the meanings of the cells that join words, all of them known, with slashes."""
    chosen = pc.match_substring(lower, "/")
    cells = [cell for cell in lower.filter(chosen).to_pylist() if cell not in words]
    parts = {cell: [part.strip() for part in cell.split("/")] for cell in cells}
    return {
        cell: next((words[part] for part in each if words[part]), None)
        for cell, each in parts.items()
        if all(part in words for part in each)
    }
