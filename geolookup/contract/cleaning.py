"""Reads the address out of a text that has more than the address: what ``clean=True`` means.

Strategy: one pattern, ``NODE``, describes an address with brackets, a port or a zone id; Python's
``re`` and Arrow's RE2 both read it. The text of a list is split at its commas. The strict
parser of ``address`` decides about what remains. A text in which anything is left that is not
described here is returned unchanged, and is as malformed as before.
"""

from __future__ import annotations

import re

from geolookup.contract.address import effective, is_address, parse_text
from geolookup.contract.special import is_private

#: The longest text that is read, in characters without blanks; usual for a line of a header.
LONGEST = 8192
#: White space that may surround an address.
BLANKS = " \t\r\n\v\f"
_PORT = r"(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
_ZONE = r"%[0-9A-Za-z._~-]{1,64}"
_IPV4 = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_IPV6 = r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,44}"
#: An address with brackets, a port (0 to 65535) or a zone id (RFC 4007, section 11), or without.
#: One of the groups is the address.
NODE = (
    rf"^(?:\[(?P<bracketed>{_IPV6})(?:{_ZONE})?\]{_PORT}|(?P<plain>{_IPV4}){_PORT}"
    rf"|\[(?P<literal>{_IPV4})\]{_PORT}|(?P<zoned>{_IPV6})(?:{_ZONE})?)$"
)
_NODE = re.compile(NODE)
#: Entries of a list that state no address: absent, unknown, or obfuscated (RFC 7239, section 6).
_WITHOUT_ADDRESS = re.compile(r"-?|unknown|_[0-9A-Za-z._-]*", re.IGNORECASE | re.ASCII)


def clean_text(value: object) -> object:
    """Return the address in a text; any other value, and a text without one, unchanged.

    Removes white space and a pair of double quotes around the text, brackets, a port and a zone
    id: ``" [2001:db8::1%eth0]:443 "`` gives ``"2001:db8::1"``. Of a list separated by commas
    (``X-Forwarded-For``, or the ``for`` of ``Forwarded``, RFC 7239) the first public address
    is returned, else the first address; a list with a malformed entry is returned unchanged.
    A client can write any address into such a list. Takes time in proportion to the length;
    texts longer than 8,192 characters are returned unchanged.
    """
    if not issubclass(type(value), str):
        return value
    text = str.__str__(value).strip(BLANKS)
    if len(text) > LONGEST:
        return value
    is_list = "," in text or "=" in text
    found = _first_of_list(text) if is_list else _address(_unquoted(text))
    return value if found is None else found


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].strip(BLANKS)
    return text


def _address(text: str) -> str | None:
    """Return the address of a node, None if it is malformed."""
    node = _NODE.match(text)
    if node is None or node.end() != len(text):  # "$" also matches before a final line feed
        return None
    found: str = node[node.lastgroup or 0]
    return found if is_address(found) else None


def _first_of_list(text: str) -> str | None:
    """Return the first public address of a list, else the first; None if an entry is malformed."""
    entries = [_entry(each.strip(BLANKS)) for each in _unquoted_list(text).split(",")]
    if None in entries:
        return None
    addresses = [each for each in entries if each]
    return next(filter(_is_public, addresses), addresses[0] if addresses else None)


def _unquoted_list(text: str) -> str:
    """Remove the quotes around a whole list, as logs write it; not those of its entries."""
    return _unquoted(text) if text.count('"') == 2 else text


def _entry(text: str) -> str | None:
    """Return the address of an entry, empty if it states none, None if it is malformed."""
    node = _for(text) if "=" in text else text
    if node is None:
        return None
    node = _unquoted(node)
    return "" if _WITHOUT_ADDRESS.fullmatch(node) else _address(node)


def _for(element: str) -> str | None:
    """Return the ``for`` of an element of ``Forwarded``; None without exactly one."""
    parameters = element.split(";")
    if any(each.count('"') % 2 for each in parameters):  # a delimiter in quotes
        return None
    pairs = [each.strip(BLANKS).partition("=") for each in parameters]
    found = [value for name, _, value in pairs if name.lower() == "for"]
    return found[0] if len(found) == 1 else None


def _is_public(text: str) -> bool:
    return not is_private(*effective(*parse_text(text)))
