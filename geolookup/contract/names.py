"""Names of regions and cities as sources spell them, made comparable."""

from __future__ import annotations

import re
import unicodedata

#: ASCII replacements of characters that NFKD does not decompose.
_REPLACEMENTS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "\u0131": "i", "æ": "ae", "œ": "oe"}
)
_APOSTROPHES = re.compile("[\u0060\u00b4\u02bb\u02bc\u02be\u02bf\u2018\u2019']")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def fold(name: str) -> str:
    """Return a name without case, accents, punctuation and repeated spaces."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", name).casefold())
    unmarked = "".join(each for each in decomposed if not unicodedata.combining(each))
    return _BETWEEN_WORDS.sub(" ", unmarked.translate(_REPLACEMENTS)).strip()
