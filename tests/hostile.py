"""Objects that are no address and try to break whoever looks at them."""

from __future__ import annotations

import ipaddress
from typing import Any, NoReturn
from unittest.mock import Mock


class TrapError(Exception):
    """Raised by the hostile objects; nobody but the tests knows it."""


def _trap(*_args: object, **_kwargs: object) -> NoReturn:
    raise TrapError


_TRAPPED = (
    *("__len__", "__iter__", "__contains__", "__getitem__", "__eq__", "__ne__", "__hash__"),
    *("__lt__", "__bool__", "__str__", "__format__", "__int__", "__index__", "__add__"),
    *("split", "partition", "encode", "rfind", "find", "isascii", "strip", "lower", "join"),
)
_traps: dict[str, Any] = dict.fromkeys(_TRAPPED, _trap)

#: Text whose every method raises; the text itself is what counts.
HostileText = type("HostileText", (str,), {**_traps, "__repr__": lambda _self: "HostileText()"})


class LyingText(str):
    """Text that says it is another one."""

    __slots__ = ()

    def __str__(self) -> str:
        return "9.9.9.9"

    def __len__(self) -> int:
        return 7


class _HostileAddress(ipaddress.IPv4Address):
    def __int__(self) -> int:
        raise TrapError

    def __repr__(self) -> str:
        return "_HostileAddress()"


class _HostileScope(ipaddress.IPv6Address):
    @property
    def scope_id(self) -> str | None:
        raise TrapError

    def __repr__(self) -> str:
        return "_HostileScope()"


class _LargeAddress(ipaddress.IPv4Address):
    def __int__(self) -> int:
        return 1 << 40


class _NoInteger(ipaddress.IPv6Address):
    def __int__(self) -> int:
        return -1


class _SaysText:
    """An object that ``isinstance`` takes for text."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return str


class _SaysAddress:
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return ipaddress.IPv4Address


class _SaysNothing:
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise TrapError

    def __repr__(self) -> str:
        return "_SaysNothing()"


class AddressThatSaysText(ipaddress.IPv4Address):
    """An address object that ``isinstance`` takes for text: an address all the same."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return str


_Opaque = type("_Opaque", (), {**_traps, "__getattr__": _trap, "__repr__": lambda _self: "_"})

NO_ADDRESS: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 134744072, 1 << 200, 8.8, float("nan"), 1j, ...),
    *(b"8.8.8.8", bytearray(b"8.8.8.8"), memoryview(b"8.8.8.8"), b"\x08\x08\x08\x08", b"::1"),
    *([], ["8.8.8.8"], ("8.8.8.8",), {}, {"ip": "8.8.8.8"}, {"8.8.8.8"}, iter("8.8.8.8")),
    *(str, object, object(), len, lambda: "8.8.8.8", ipaddress, NotImplemented, TrapError()),
    ipaddress.ip_network("8.8.8.0/24"),
    ipaddress.ip_network("2001:4860::/32"),
    ipaddress.ip_address("fe80::1%eth0"),
    ipaddress.ip_address("2001:4860:4860::8888%1"),
    ipaddress.IPv4Address.__new__(ipaddress.IPv4Address),
    *(Mock(), Mock(spec=str), Mock(spec=ipaddress.IPv4Address), Mock(spec=ipaddress.IPv6Address)),
    *(_HostileAddress("8.8.8.8"), _HostileScope("::1")),
    *(_LargeAddress("8.8.8.8"), _NoInteger("::1")),
    *(_SaysText(), _SaysAddress(), _SaysNothing(), _Opaque()),
)
