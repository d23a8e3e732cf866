"""Address text: both kernels, the column paths and ``ipaddress`` judge it alike."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator

import geolookup
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6, by_ipaddress
from tests.datasets import SMALL
from tests.envelopes import compact
from tests.fuzz.target import Target
from tests.internals.contract import GROUPS, Envelope, address
from tests.internals.dataset import Dataset
from tests.internals.kernel import python as kernel_python
from tests.internals.kernel import state_of
from tests.kernel.test_locate import COMPILED, REFERENCE, SUFFIXES, column, single

_PATHS = ("ip", "ip_type", *GROUPS)
_engine = geolookup.open(SMALL)
_reference = kernel_python.Kernel(Dataset(SMALL))
_MIXED = (address.MAPPED >> 32, address.NAT64 >> 32)


def _seeds() -> Iterator[bytes]:
    for text in (*VALID_IPV4, *VALID_IPV6, *INVALID):
        if len(text) < 200:
            yield text.encode("utf-8", "surrogatepass")


def _run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    answer = _engine.lookup(text, at=0)
    assert answer == _reference.lookup(text, at=0)
    assert _engine.lookup_json(text, at=0) == _reference.lookup_json(text, at=0) == compact(answer)
    _check_many(text, compact(answer))
    _check(answer, by_ipaddress(text))
    texts = [data, b"8.8.8.8", data]
    expected = list(map(single, texts))
    assert column(REFERENCE, texts) == expected
    assert column(COMPILED, texts, SUFFIXES[sum(data) % len(SUFFIXES)]) == expected


def _check_many(text: str, expected: bytes) -> None:
    assert _engine.lookup_many_json([text, "8.8.8.8", text], at=0)[::2] == [expected] * 2
    assert compact(_engine.lookup_many([text], at=0)[0]) == expected
    assert b"".join(_engine.json_lines([text], at=0)) == expected + b"\n"
    known = json.loads(expected)["data"] or {}
    written = []
    for state in (state_of(_engine), state_of(_reference)):
        assert state.values([text], _PATHS, 0) == [tuple(map(known.get, _PATHS))]
        lines = state.lines()
        lines.add([text], 0)
        written.append(lines.take())
    assert written[0] == written[1]


def _check(answer: Envelope, expected: tuple[int, int] | None) -> None:
    if answer["data"]:
        assert expected is not None
        family, value = expected
        assert answer["data"]["ip_type"] == f"ipv{family}"
        assert by_ipaddress(answer["data"]["ip"]) == expected
        if family == 4 or value >> 32 not in _MIXED:
            kind = ipaddress.IPv4Address if family == 4 else ipaddress.IPv6Address
            assert answer["data"]["ip"] == kind(value).compressed
    else:
        assert answer["error_code"] == (10001 if expected is None else 10002)


TARGETS = {"address": Target(_run, _seeds)}
