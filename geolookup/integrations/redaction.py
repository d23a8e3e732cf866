"""Removes one address from a log record or an event.

Strategy: the address is known. Text that reads as an address is parsed and compared; after that,
the usual spellings of the address are replaced wherever they are left. Containers are rebuilt where
something in them changes, and an object whose text has the address becomes that text without it.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv6Address
from itertools import chain, islice
from logging import LogRecord
from operator import is_
from struct import iter_unpack
from typing import Any
from urllib.parse import quote

from geolookup.contract.address import IPV4_MAX, MAPPED, canonical
from geolookup.contract.cleaning import Address
from geolookup.kernel import find_addresses

#: Replaces an address.
REMOVED = "[address]"
_REMOVED = REMOVED.encode()
#: A dot or colon inside a text: host names have one, words do not.
_NAME = re.compile(r"\w[.:]\w")
_IPV4 = re.compile(r"[0-9.]+")
#: Containers in containers that are looked into; deeper ones are compared as text.
_DEPTH = 6
#: The most addresses in a given text of which spellings in longer tokens are removed too.
_MANY = 16
_CONTAINERS: tuple[Any, ...] = (Mapping, list, tuple, set, frozenset)


class Redaction:
    """Removes the addresses in ``address``: a text, or any object whose text has them.

    A text without an address is removed literally if it has a dot or a colon, as host names do;
    any other text could be part of a word.
    """

    def __init__(self, address: object) -> None:
        text = plain(address)
        raw = text.encode("utf-8", "surrogatepass")
        self._addresses = {address for _, _, address in _addresses_in(raw)}
        few = islice(self._addresses, _MANY)
        self._spellings = {spelling for address in few for spelling in _spellings(*address)}
        if _NAME.search(text):
            self._spellings |= {text.lower(), quote(text, safe="").lower()}
        self._is_empty = not self._spellings

    def text(self, text: str) -> str:
        """Return a text without the address."""
        if self._is_empty:
            return text
        raw, at, pieces = text.encode("utf-8", "surrogatepass"), 0, []
        for start, end, address in _addresses_in(raw):
            if address in self._addresses:
                pieces += [raw[at:start], _REMOVED]
                at = end
        if pieces:
            text = b"".join([*pieces, raw[at:]]).decode("utf-8", "surrogatepass")
        # Spellings in longer tokens are left: "lib-8.8.8.8", "2001%3Adb8%3A%3A1", a name.
        lower = text.lower()
        left = [spelling for spelling in self._spellings if spelling in lower]
        return _without(text, left) if left else text

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return a value without the address; the same object if it has none."""
        if value is None or isinstance(value, (int, float, LogRecord)):
            return value
        try:
            return self._without(value, depth + 1)
        except Exception:  # noqa: BLE001 - a log call must not raise, whatever it is given
            return _type_text(value)

    def _without(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (bytes, bytearray)):
            text = self.text(old := value.decode("latin-1"))
            return value if text is old else text.encode("latin-1")
        kind = next((kind for kind in _CONTAINERS if isinstance(value, kind)), None)
        if depth > _DEPTH or kind is None:
            return self._object(value)
        items = [*(chain.from_iterable(value.items()) if kind is Mapping else value)]
        left = [self.value(item, depth) for item in items]
        if all(map(is_, items, left)):
            return value
        return dict(zip(left[::2], left[1::2], strict=True)) if kind is Mapping else kind(left)

    def _object(self, value: object) -> object:
        texts = plain(value), plain(value, repr)
        return value if all(self.text(text) == text for text in texts) else self.text(texts[0])

    def exception(self, error: BaseException) -> str:
        """Return the traceback of an exception without the address.

        The objects of a traceback are not kept: their local variables may hold the address.
        """
        return self.text("".join(traceback.format_exception(error)).rstrip("\n"))


def plain(value: object, write: Callable[[object], str] = str) -> str:
    """Return the text of any object, a description if it has none."""
    try:
        return write(value)
    except Exception:  # noqa: BLE001 - as above
        return _type_text(value)


def _type_text(value: object) -> str:
    return f"<{type(value).__name__}>"


def _without(text: str, spellings: list[str]) -> str:
    # A longer spelling may begin with a shorter one.
    for spelling in sorted(spellings, key=len, reverse=True):
        # Not inside a longer address: "1.2.3.4" is not removed from "11.2.3.45".
        digit = "[0-9]" if _IPV4.fullmatch(spelling) else "[0-9A-Fa-f]"
        pattern = rf"(?<!{digit}){re.escape(spelling)}(?!{digit})"
        text = re.sub(pattern, REMOVED, text, flags=re.IGNORECASE)
    return text


def _addresses_in(text: bytes) -> Iterator[tuple[int, int, Address]]:
    """Yield begin, end and value of the addresses in a text; IPv4-mapped ones are IPv4."""
    records = find_addresses(text, 0, len(text))
    for start, end, family, high, low in iter_unpack("=qqqQQ", records):
        if family == 6 and not high and low >> 32 == MAPPED >> 32:
            yield start, end, (4, low & IPV4_MAX)
        else:
            yield start, end, (family, high << 64 | low)


def _spellings(family: int, value: int) -> set[str]:
    """Return the usual spellings of an address in lower case."""
    texts = {canonical(family, value), *([IPv6Address(value).exploded] if family == 6 else [])}
    return texts | {quote(text, safe="").lower() for text in texts}
