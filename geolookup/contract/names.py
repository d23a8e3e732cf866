"""Names: of a place and of a network as people read them, without marks, and made comparable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

#: ASCII replacements of characters that NFKD does not decompose.
_LOWER = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "\u0131": "i", "æ": "ae", "œ": "oe"}
_UPPER = {"Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Æ": "AE", "Œ": "OE"}
_REPLACEMENTS = str.maketrans({**_LOWER, **_UPPER, "ß": "ss"})
_APOSTROPHES = re.compile("[\u0060\u00b4\u02bb\u02bc\u02be\u02bf\u2018\u2019']")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def fold(name: str) -> str:
    """Return a name without case, accents, punctuation and repeated spaces."""
    plain = without_marks(_APOSTROPHES.sub("", name).casefold())
    return _BETWEEN_WORDS.sub(" ", plain).strip()


def without_marks(text: str) -> str:
    """Return text without accents and other combining marks (Unicode Standard Annex 15, NFKD)."""
    decomposed = unicodedata.normalize("NFKD", text)
    unmarked = "".join(each for each in decomposed if not unicodedata.combining(each))
    return unmarked.translate(_REPLACEMENTS)


def place_name(location: Mapping[str, Any]) -> str | None:
    """Return the names from the city to the country, each once, else the continent's."""
    known = [location[f"{each}_name"] for each in ("city", "region", "country")]
    return ", ".join(dict.fromkeys(filter(None, known))) or location["continent_name"]


def network_name(network: Mapping[str, Any]) -> str | None:
    """Return the AS and its organization, or else who uses the network: ``AS15169 Google LLC``."""
    asn = f"AS{network['asn']}" if network["asn"] else None
    user = network["asn_organization"] or network["organization"] or network["isp"]
    return " ".join(filter(None, (asn, user))) or None
