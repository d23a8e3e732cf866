"""Objects that are not addresses and try to break whoever looks at them."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
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


def _shown(_self: object) -> str:
    return "hostile"


def _says(kind: type) -> property:
    """What ``isinstance`` takes for the class of an object."""
    return property(lambda _self: kind)


_HostileAddress = type("_HostileAddress", (IPv4Address,), {"__int__": _trap, "__repr__": _shown})
_HostileScope = type("_Scope", (IPv6Address,), {"scope_id": property(_trap), "__repr__": _shown})
_LargeAddress = type("_LargeAddress", (IPv4Address,), {"__int__": lambda _self: 1 << 40})
_NoInteger = type("_NoInteger", (IPv6Address,), {"__int__": lambda _self: -1})
_SaysText = type("_SaysText", (), {"__class__": _says(str)})
_SaysAddress = type("_SaysAddress", (), {"__class__": _says(IPv4Address)})
_SaysNothing = type("_SaysNothing", (), {"__class__": property(_trap), "__repr__": _shown})
#: An address object that ``isinstance`` takes for text: an address all the same.
AddressThatSaysText = type("AddressThatSaysText", (IPv4Address,), {"__class__": _says(str)})
_Opaque = type("_Opaque", (), {**_traps, "__getattr__": _trap, "__repr__": lambda _self: "_"})

NO_ADDRESS: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 134744072, 1 << 200, 8.8, float("nan"), 1j, ...),
    *(b"8.8.8.8", bytearray(b"8.8.8.8"), memoryview(b"8.8.8.8"), b"\x08\x08\x08\x08", b"::1"),
    *([], ["8.8.8.8"], ("8.8.8.8",), {}, {"ip": "8.8.8.8"}, {"8.8.8.8"}, iter("8.8.8.8")),
    *(str, object, object(), len, lambda: "8.8.8.8", ipaddress, NotImplemented, TrapError()),
    *(ip_network("8.8.8.0/24"), ip_network("2001:4860::/32"), ip_address("fe80::1%eth0")),
    *(ip_address("2001:4860:4860::8888%1"), IPv4Address.__new__(IPv4Address)),
    *(Mock(), Mock(spec=str), Mock(spec=IPv4Address), Mock(spec=IPv6Address)),
    *(_HostileAddress("8.8.8.8"), _HostileScope("::1")),
    *(_LargeAddress("8.8.8.8"), _NoInteger("::1")),
    *(_SaysText(), _SaysAddress(), _SaysNothing(), _Opaque()),
)
