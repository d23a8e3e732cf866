"""The address asked for, from a query string."""

from __future__ import annotations

from urllib.parse import unquote_plus

#: A text that is no address: what is given twice is answered as what is given empty.
_NO_ADDRESS = ""


def address_asked(query: str) -> str | None:
    """Return the ``ip`` parameter, None where there is none; other parameters are ignored.

    Names and values are decoded as forms are (``%41``, ``+``); bytes that are
    no UTF-8 become U+FFFD, of which no address is made. Repeated: an empty text.
    """
    found = None
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        if name == "ip" or unquote_plus(name) == "ip":
            if found is not None:
                return _NO_ADDRESS
            found = unquote_plus(value)
    return found
