"""Query strings: read as ``urllib`` reads forms, and never anything raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from unittest import mock
from urllib.parse import parse_qsl, unquote

from geolookup.http.application import address_asked
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.fuzz.target import Target

_FORMS = (
    *("", "ip", "ip=", "ip=8.8.8.8", "ip=%3A%3A1", "%69p=8.8.8.8", "i%70=1&ip=2", "ip=8.8.8.8&x=1"),
    *("a=1&&ip=1.1.1.1", "ip=1.1.1.1;b", "ip=8.8.8.8+", "ip=%ff", "ip=%", "ip=%2", "IP=8.8.8.8"),
    *("ip==", "=ip", "&", "ip[]=1", "ip=%00", "ip=a%26ip=b"),
)


def seeds() -> Iterator[bytes]:
    for form in _FORMS:
        yield form.encode()
    for text in (*VALID_IPV4[:3], *list(VALID_IPV6)[:20], *(t for t in INVALID if len(t) < 40)):
        yield b"ip=" + text.encode("utf-8", "surrogatepass")


def run(data: bytes) -> None:
    query = data.decode("latin-1")  # as a server hands it on
    given = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "ip"]
    expected = None if not given else given[0] if len(given) == 1 else ""
    assert address_asked(query) == expected


def planted() -> AbstractContextManager[object]:
    """Forget that ``+`` is a blank."""
    return mock.patch("geolookup.http.application.unquote_plus", unquote)


TARGET = Target(run, seeds, planted)
