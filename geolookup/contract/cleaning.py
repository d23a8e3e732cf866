"""What may surround an address: the grammar of nodes, of lists of nodes, and of ``clean=True``.

A *node* is an address with brackets, a port or a zone id, or without (RFC 7239, section 6)::

    8.8.8.8    8.8.8.8:53    [2001:db8::1]:443    [2001:db8::1%eth0]    fe80::1%eth0

A list of nodes is an ``X-Forwarded-For`` or a ``Forwarded`` header. Strategy: one pattern,
``NODE``, describes a node; Python's ``re`` and Arrow's RE2 both read it. The strict parser of
``address`` decides about the address in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geolookup.contract.address import (
    IPV4_MAX,
    MAPPED,
    canonical,
    effective,
    is_address,
    parse_text,
)
from geolookup.contract.special import is_private
from geolookup.errors import InvalidAddressError

#: An address as ``(family, integer)``.
Address = tuple[int, int]
#: The longest text that ``clean_text`` reads, in characters without blanks; usual for a header.
LONGEST = 8192
#: White space that may surround an address.
BLANKS = " \t\r\n\v\f"
_NAME = r"_[0-9A-Za-z._-]+"  # of an obfuscated node or port
# 0 to 65535; RE2 and ``re`` read the same pattern, so no test of the number follows.
_NUMBER = r"[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
_PORT = rf"(?::(?:{_NUMBER}|{_NAME}))?"
_ZONE = r"%[0-9A-Za-z._~-]{1,64}"
_IPV4 = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_IPV6 = r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,44}"
#: A node: its port is 0 to 65535 or obfuscated, its zone id one of RFC 4007, section 11. A host's
#: length, ``/32`` or ``/128``, is of PostgreSQL's inet. One of the groups is the address.
NODE = (
    rf"^(?:\[(?P<bracketed>{_IPV6})(?:{_ZONE})?\]{_PORT}|(?P<plain>{_IPV4})(?:/32|{_PORT})"
    rf"|\[(?P<literal>{_IPV4})\]{_PORT}|(?P<zoned>{_IPV6})(?:/128|{_ZONE})?)$"
)
_NODE = re.compile(NODE)
#: An entry that states no address: absent, unknown, or obfuscated (RFC 7239, section 6).
_WITHOUT_ADDRESS = re.compile(rf"-?|unknown|_|{_NAME}", re.IGNORECASE | re.ASCII)
#: Characters of an element of ``Forwarded`` with its comma: a longer one is malformed.
_LONGEST_ELEMENT = 512
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - of RFC 9110, section 5.6.2
_QUOTED = r'"(?:[^"\\]|\\.)*"'
#: A parameter, possibly empty, of an element of ``Forwarded``, and the semicolon after it.
#: Brackets and colons should be in quotes, but not every proxy writes the quotes.
# for="[2001:db8::1]:443";proto=https has two matches, the first with a semicolon.
_PARAMETER = re.compile(
    rf"[ \t]*(?:({_TOKEN})=([!#$%&'*+.^_`|~0-9A-Za-z:\[\]-]+|{_QUOTED})[ \t]*)?(?=(;)|$)"
)
_DECIMAL = re.compile(r"[1-9][0-9]{7,9}")
#: 1.0.0.0: a smaller number is rather an identifier than an address of 0.0.0.0/8.
_FIRST_DECIMAL = 1 << 24
_DEFANGED = re.compile(r"[\[(]([.:])[\])]")
_LIST_BLANK = re.compile(r",(?:\+|%20)")
_ENCLOSED = re.compile(r"""(\\?["'])(.*)\1""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")


def clean_text(value: object) -> object:
    """Return the address in a text; any other value, and a text without one, unchanged.

    Removes white space, quotes and backslashes around the text, brackets, a port, a zone id and
    the length of a host: ``" [2001:db8::1%eth0]:443 "`` gives ``"2001:db8::1"``. Reads
    ``8[.]8[.]8[.]8``, and a number of eight digits or more as IPv4. Of a list separated by commas
    (``X-Forwarded-For``, or the ``for`` of ``Forwarded``, RFC 7239) the first public address
    is returned, else the first address; a list with a malformed entry is returned unchanged.
    A client can write any address into such a list. Takes time in proportion to the length;
    texts longer than 8,192 characters are returned unchanged.
    """
    if not issubclass(type(value), str):
        return value
    text = str.__str__(value).strip(BLANKS)
    address = _address_in(text) if len(text) <= LONGEST else None
    return value if address is None else address


def _address_in(text: str) -> str | None:
    if _DECIMAL.fullmatch(text) and _FIRST_DECIMAL <= int(text) <= IPV4_MAX:
        return canonical(4, int(text))
    text = _DEFANGED.sub(r"\1", text)
    if "," in text or "=" in text:
        # Quotes around the whole list, as logs write it, but not around its entries.
        text = _unquote(text) if text.count('"') == 2 else text
        # Logs write the blank after a comma as "+" (IIS) or "%20" (CloudFront).
        return _first_public(_LIST_BLANK.sub(",", text))
    return node_address(_unquote(text).lstrip("\\"))


def node_address(text: str) -> str | None:
    """Return the address of a node, None if the node is malformed."""
    node = _NODE.fullmatch(text)  # not ``match``: "$" matches before a final line feed too
    address: str = node[node.lastgroup or 0] if node else ""
    return address if is_address(address) else None


def x_forwarded_for(line: str) -> Iterator[str | None]:
    """Yield the address of each entry of a list, from right to left.

    It is empty if the entry states none, None if the entry is malformed.
    """
    end = len(line)
    while end >= 0:
        comma = line.rfind(",", 0, end)  # -1 before the first entry
        yield _entry(line[comma + 1 : end].strip(BLANKS))
        end = comma


def forwarded(line: str) -> Iterator[str | None]:
    """Yield the address of the ``for`` of each element, as ``x_forwarded_for`` does.

    RFC 7239, section 4. From right to left, because each proxy adds an element at the right: quotes
    that a client opens and does not close hide none of them.
    """
    # RFC 9110, section 5.6.1: empty elements are ignored.
    elements = (text for text in _elements(line) if text is None or text.strip(BLANKS))
    return map(_for_address, elements)


def address_of(text: str | None) -> Address | None:
    """Parse an address, IPv4-mapped as IPv4; None if the text is not an address."""
    try:
        family, value = parse_text(text or "")
    except InvalidAddressError:
        return None
    is_mapped = family == 6 and value & ~IPV4_MAX == MAPPED  # the upper 96 bits are ::ffff:0:0
    return (4, value & IPV4_MAX) if is_mapped else (family, value)


def _unquote(text: str) -> str:
    enclosed = _ENCLOSED.fullmatch(text)
    return enclosed[2].strip(BLANKS) if enclosed else text


def _first_public(text: str) -> str | None:
    """Return the first public address of a list, else the first; None if an entry is malformed."""
    entries = list(forwarded(text) if "=" in text else x_forwarded_for(text))
    if None in entries:
        return None
    addresses = [entry for entry in reversed(entries) if entry]
    public = (text for text in addresses if not is_private(*effective(*parse_text(text))))
    return next(public, addresses[0] if addresses else None)


def _entry(text: str) -> str | None:
    node = _unquote(text)
    return "" if _WITHOUT_ADDRESS.fullmatch(node) else node_address(node)


def _elements(line: str) -> Iterator[str | None]:
    """Yield the elements from right to left, at last None if one is too long.

    A comma in quotes separates none. Example: of ``for=8.8.8.8;host="a,b"`` the part after the
    comma, ``b"``, has one quote, so the comma is in quotes. Escaped quotes do not count.
    """
    end = comma = len(line)
    quotes = 0
    while end >= 0:
        before, comma = comma, line.rfind(",", 0, comma)
        if end - comma > _LONGEST_ELEMENT:
            yield None
            return
        quotes += _ESCAPED.sub("", line[comma + 1 : before]).count('"')
        if quotes % 2 == 0 or comma < 0:
            yield line[comma + 1 : end]
            end, quotes = comma, 0


def _for_address(element: str | None) -> str | None:
    """Return the address of ``for``; empty if it states none, None if the element is malformed."""
    if element is None:
        return None
    parameters: dict[str, str] = {}
    at, semicolon = 0, ";"
    while semicolon:
        parameter = _PARAMETER.match(element, at)
        if parameter is None or (parameter[1] or "").lower() in parameters:
            return None
        name, value, semicolon = (group or "" for group in parameter.groups())
        if name:
            parameters[name.lower()] = value
        at = parameter.end() + 1
    value = parameters.get("for", "")
    return _entry(_ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value)
