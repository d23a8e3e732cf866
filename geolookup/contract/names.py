"""Names without marks, and names of regions and cities made comparable."""

from __future__ import annotations

import re
import unicodedata

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
