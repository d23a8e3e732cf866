"""The address is removed from any object, and nothing else."""

from __future__ import annotations

import json
import traceback
from logging import LogRecord
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.integrations.redaction import REMOVED, Redaction, plain

IP, IPV6 = "8.8.8.8", "2001:4860:4860::8888"
#: Text beside an address that does not make it another one.
_BESIDE = st.text(alphabet="xyz [](){}<>=,;'\"/\\\n\u20ac")
_TEXTS = st.tuples(_BESIDE, st.sampled_from([IP, IPV6]), _BESIDE).map("".join)
_LEAVES = _TEXTS | st.none() | st.integers() | st.booleans() | _TEXTS.map(lambda t: t.encode())


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=3)
    return lists | lists.map(tuple) | st.dictionaries(_TEXTS, inner, max_size=3)


@given(st.recursive(_LEAVES, _containers, max_leaves=10))
def test_no_container_keeps_it(value: object) -> None:
    left = value
    for given_text in (IP, IPV6):
        left = Redaction(given_text).value(left)
    assert IP not in repr(left)
    assert IPV6 not in repr(left)


@given(st.recursive(st.text(alphabet="0123456789abc.: ") | st.floats(), _containers, max_leaves=5))
def test_what_has_no_address_stays_the_same_object(value: object) -> None:
    """No text has an f, and other addresses stay."""
    assert Redaction("fdff::f").value(value) is value


def test_texts() -> None:
    for address, text, left in (
        (IP, f"source:{IP}", f"source:{REMOVED}"),
        (IPV6, f"source:{IPV6}", f"source:{REMOVED}"),
        (IPV6, IPV6.upper(), REMOVED),
        (IPV6, "2001:4860:4860:0::8888:", f"{REMOVED}:"),
        (IPV6, f"[{IPV6}]:443 {IPV6}%eth0", f"[{REMOVED}]:443 {REMOVED}%eth0"),
        (IPV6, f"face {IPV6}.", f"face {REMOVED}."),
        (IPV6, "/?ip=2001%3a4860%3a4860%3a%3a8888", f"/?ip={REMOVED}"),
        (IP, f"::ffff:{IP}", REMOVED),
        ("::ffff:808:808", IP, REMOVED),
        (IP, "18.8.8.8 8.8.8.80 8.8.8", "18.8.8.8 8.8.8.80 8.8.8"),
        (IPV6, f"{IPV6}1 1{IPV6}", f"{IPV6}1 1{IPV6}"),
        ("host.example", "from HOST.example.", f"from {REMOVED}."),
        ("-", "a-b", "a-b"),
        (".", "a.b", "a.b"),
        (f"{IP}, 10.0.0.1", f"10.0.0.1 {IP} 10.0.0.2", f"{REMOVED} {REMOVED} 10.0.0.2"),
        (f"{IP}:443", f"{IP}:80", f"{REMOVED}:80"),
        (f"for {IPV6}", "/?ip=2001%3a4860%3a4860%3a%3a8888", f"/?ip={REMOVED}"),
        (IP, f"%22{IP}%22 q=%20{IP}", f"%22{REMOVED}%22 q=%20{REMOVED}"),
        (
            IP,
            f"lib-{IP} Chrome/{IP} a{IP} {IP}.",
            f"lib-{REMOVED} Chrome/{REMOVED} a{REMOVED} {REMOVED}.",
        ),
        (IPV6, "source:2001:4860:4860:0000:0000:0000:0000:8888", f"source:{REMOVED}"),
        ("2001:db8::1, host.a", "h=2001%3adb8%3a%3a1%2c%20host.a", f"h={REMOVED}"),
    ):
        assert Redaction(address).text(text) == left, (address, text)


def test_with_many_addresses_only_those_are_removed() -> None:
    """A client may send a header of thousands of addresses: time is in proportion to its length."""
    many = ", ".join(f"10.0.{number >> 8}.{number & 255}" for number in range(1000))
    assert Redaction(many).text(f"{IP} and 10.0.1.1") == f"{IP} and {REMOVED}"
    hops = Redaction(many).value({"hops": many.split(", ")[:2]})["hops"]
    assert json.loads(json.dumps(hops)) == [REMOVED, REMOVED]


def test_containers_deeper_than_six_become_texts() -> None:
    for wrapped in (lambda value: {"a": value}, lambda value: [value]):
        value: Any = IP
        for _ in range(7):
            value = wrapped(value)
        left = Redaction(IP).value(value)
        for _ in range(6):
            assert isinstance(left, type(wrapped(0)))
            left = next(iter(left.values() if isinstance(left, dict) else left))
        assert left == str(wrapped(IP)).replace(IP, REMOVED)


def test_exceptions() -> None:
    with pytest.raises(ValueError, match="by X") as raised:
        raise ValueError(f"{IP} by X\n")
    parts = traceback.format_exception(raised.value)
    assert len(parts) > 1
    expected = "".join(parts).rstrip("\n").replace(IP, REMOVED)
    assert Redaction(IP).exception(raised.value) == expected


def test_objects() -> None:
    """An object becomes its text if that or its ``repr`` has the address; log records stay."""

    class Client:
        def __str__(self) -> str:
            return "a client"

        def __repr__(self) -> str:
            return f"<client {IP}>"

    class Refusing(dict[str, str]):
        def items(self) -> Any:
            raise RuntimeError(IP)

        __str__ = items

    redaction = Redaction(IP)
    assert redaction.value(Client()) == "a client"
    assert redaction.value(Refusing(ip=IP)) == plain(Refusing()) == "<Refusing>"
    several = np.array([IP, "a"])  # its comparison with a text has no truth value
    assert redaction.value(several) == f"['{REMOVED}' 'a']"
    record = LogRecord("name", 20, "path", 1, IP, None, None)
    assert redaction.value(record) is record
