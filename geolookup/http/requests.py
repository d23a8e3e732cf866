"""The parts of a request that an answer depends on: host, key, ``ip``, forwarding headers.

Strategy: Granian's interface RSGI shows header lines as texts. It leaves out a line with bytes
beyond ASCII, but not its name. ``get`` returns the first line of a name, None if that is left out;
``get_all`` returns the other ones. So a name is in doubt if its first line is hidden. A hidden
line after a visible one cannot be seen: docs/operate/http.md states how a proxy refuses it.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any
from urllib.parse import unquote_plus

#: Granian's annotations lack ``get_all``.
Headers = Any
#: The parameter ``ip``, also with an encoded name, and its value if it has one.
_IP = re.compile(r"(?:\A|&)(?:i|%69)(?:p|%70)(?:=([^&]*))?(?=&|\Z)")
#: The longest value that is decoded: an address has 45 characters, encoded as three each.
_LONGEST = 3 * 45
#: Not an address: a repeated parameter gives the same answer as an empty one (10001).
_NO_ADDRESS = ""


def only_line(headers: Headers, name: str) -> str | None:
    """Return the only line of a name: None if absent, empty if repeated or beyond ASCII."""
    lines: list[str] = headers.get_all(name)
    if len(lines) == 1 and headers.get(name) is not None:
        return lines[0]
    return "" if name in headers else None


def forwarding_lines(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the header lines as ``TrustedProxies`` reads them.

    A hidden first line of a name becomes an empty one. Otherwise a client could hide the header
    that its proxy writes, and forge the other one.
    """
    hidden = [(name.encode(), b"") for name in headers if headers.get(name) is None]
    return hidden + [(name.encode(), value.encode()) for name, value in headers.items()]


def ip_parameter(query: str) -> str | None:
    """Return the ``ip`` parameter, or None if it is absent. Other parameters are ignored.

    Names and values are decoded as form fields (``%41``, ``+``). Bytes that are not
    UTF-8 become U+FFFD, so the text is not an address. Repeated or too long: an empty text.
    """
    # The usual request: no separator, no encoding.
    if query.startswith("ip=") and not ("&" in query or "%" in query or "+" in query):
        return query[3:]
    values = [match[1] or "" for match in islice(_IP.finditer(query), 2)]
    if not values:
        return None
    is_one = len(values) == 1 and len(values[0]) <= _LONGEST
    return unquote_plus(values[0]) if is_one else _NO_ADDRESS
