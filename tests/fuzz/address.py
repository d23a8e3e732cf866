"""Address text: both kernels, the column paths and ``ipaddress`` judge it alike."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator
from contextlib import ExitStack
from unittest import mock

import geolookup
from geolookup.contract import address
from geolookup.contract.fields import GROUPS
from geolookup.contract.types import Envelope
from geolookup.dataset.files import Dataset
from geolookup.kernel import python as kernel_python
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.datasets import SMALL
from tests.envelopes import compact
from tests.fuzz.target import Target
from tests.kernel.test_locate import COMPILED, REFERENCE, SUFFIXES, column, single

_LONGEST = 200
_PATHS = ("ip", "ip_type", *GROUPS)
_engine = geolookup.open(SMALL)
_reference = kernel_python.Kernel(Dataset(SMALL))
_MIXED = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))


def seeds() -> Iterator[bytes]:
    for text in (*VALID_IPV4, *VALID_IPV6, *INVALID):
        if len(text) < _LONGEST:
            yield text.encode("utf-8", "surrogatepass")


def run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    answer = _engine.lookup(text, at=0)
    assert answer == _reference.lookup(text, at=0)
    assert _engine.lookup_json(text, at=0) == _reference.lookup_json(text, at=0) == compact(answer)
    _check_many(data, text, compact(answer))
    _check(answer, _by_ipaddress(text))
    texts = [data, b"8.8.8.8", data]
    expected = list(map(single, texts))
    assert column(REFERENCE, texts) == expected
    assert column(COMPILED, texts, SUFFIXES[sum(data) % len(SUFFIXES)]) == expected


def _check_many(data: bytes, text: str, expected: bytes) -> None:
    assert _engine.lookup_many_json([text, "8.8.8.8", text], at=0)[::2] == [expected] * 2
    assert compact(_engine.lookup_many([text], at=0)[0]) == expected
    assert b"".join(_engine.iter_json([text], at=0)) == expected + b"\n"
    known = json.loads(expected)["data"] or {}
    written = []
    for state in (_engine._open_state(), _reference._open_state()):
        assert state.values([text], _PATHS, 0) == [tuple(map(known.get, _PATHS))]
        lines = state.lines()
        lines.add_text(data, 0)
        written.append(lines.take())
    assert written[0] == written[1]


def _by_ipaddress(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address as ``ipaddress`` reads it, which takes scope ids besides."""
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def _check(answer: Envelope, expected: object) -> None:
    if answer["success"]:
        assert isinstance(expected, ipaddress.IPv4Address | ipaddress.IPv6Address)
        assert answer["data"]["ip_type"] == f"ipv{expected.version}"
        assert ipaddress.ip_address(answer["data"]["ip"]) == expected
        if not any(expected in mixed for mixed in _MIXED):
            assert answer["data"]["ip"] == expected.compressed
    else:
        assert answer["error_code"] == (10001 if expected is None else 10002)


def planted() -> ExitStack:
    """Make the Python parser take octets with a leading zero."""
    stack = ExitStack()
    for octets in address.OCTETS:
        zeros = {f"0{text}": value for text, value in octets.items()}
        stack.enter_context(mock.patch.dict(octets, zeros))
    return stack


TARGET = Target(run, seeds, planted)
