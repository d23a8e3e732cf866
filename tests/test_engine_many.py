"""Many addresses at once: the answers of the single calls, in order, from one generation."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from tests.hostile import NO_ADDRESS
from tests.store.numbered import numbered

AT = 1768507200
#: More than a chunk, and not a multiple of a block.
MIXED = [
    *("8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "::1", "nonsense", "", "::ffff:8.8.8.8"),
] * 91


def calls(engine: geolookup.Engine) -> list[Any]:
    return [
        engine.lookup_many,
        engine.lookup_many_json,
        lambda ips, at=None: list(engine.json_lines(ips, at=at)),
        lambda ips, at=None: engine.get_many(ips, ["time.zone", "network.asn"], at=at),
    ]


def test_the_single_calls_in_order(sample: geolookup.Engine) -> None:
    for ips in (MIXED, [], MIXED[:1], MIXED[:64], MIXED[:256]):
        texts = [sample.lookup_json(ip, at=AT) for ip in ips]
        assert sample.lookup_many(ips, at=AT) == [sample.lookup(ip, at=AT) for ip in ips]
        assert sample.lookup_many_json(ips, at=AT) == texts
        lines = b"".join(text + b"\n" for text in texts)
        assert b"".join(sample.json_lines(iter(ips), at=AT)) == lines
    # More bytes than a writer keeps for the next lines.
    line = sample.lookup_json("8.8.8.8", at=0) + b"\n"
    assert b"".join(sample.json_lines(["8.8.8.8"] * 5000, at=0)) == line * 5000
    network = IPv4Network("8.8.8.0/30")
    expected = sample.lookup_many(list(network), at=0)
    for item in (network, map(str, network), tuple(network), dict.fromkeys(network)):
        assert sample.lookup_many(item, at=0) == expected


def test_short_lists_of_any_kind(sample: geolookup.Engine) -> None:
    """A list is answered as a whole, also where an address is changed or removes others."""

    class Removes(list[Any]):
        def __str__(self) -> str:
            ips.clear()
            return "8.8.8.8"

    for call in calls(sample):
        ips: list[object] = ["8.8.8.8", Removes(), *MIXED[:200]]
        assert len(call(ips, at=None)) == len(call([*ips], at=None)) > 0


@pytest.mark.parametrize("count", [0, 1, 10, 64, 65, 256, 257])
def test_short_lists_and_other_iterables(sample: geolookup.Engine, count: int) -> None:
    """Without ``at`` a short list is answered as a whole."""

    def now(envelopes: list[Any]) -> list[Any]:
        for envelope in envelopes:
            if envelope["success"]:
                assert abs(envelope["data"].pop("time")["current_timestamp"] - time.time()) < 60
        return envelopes

    ips = MIXED[:count]
    expected = now(sample.lookup_many(tuple(ips), at=time.time()))
    assert now(sample.lookup_many(ips)) == expected
    assert now([json.loads(text) for text in sample.lookup_many_json(ips)]) == expected
    lines = b"".join(sample.json_lines(ips)).splitlines()
    assert now([json.loads(line) for line in lines]) == expected
    values = sample.get_many(tuple(ips), "country", "asn")
    assert sample.get_many(ips, "country", "asn") == values
    assert sample.get_many(ips, "country", default="?") == [
        sample.get(ip, "country", default="?") for ip in ips
    ]


def test_the_collector_is_as_before(sample: geolookup.Engine) -> None:
    """The compiled kernel pauses it while it makes envelopes."""
    try:
        for is_on, change in ((True, gc.enable), (False, gc.disable)):
            change()
            assert sample.lookup_many(MIXED, at=0)
            assert gc.isenabled() == is_on
    finally:
        gc.enable()


def test_one_field_or_several(sample: geolookup.Engine) -> None:
    ips = ["8.8.8.8", "10.0.0.1", "x", "203.0.112.9"]
    assert sample.get_many(ips, "asn") == [15169, None, None, None]
    assert sample.get_many(ips, ["asn"]) == [(15169,), (None,), (None,), (None,)]
    assert sample.get_many(ips, "country", "asn") == sample.get_many(ips, ["country", "asn"])
    assert sample.get_many(ips, ("country", "asn"))[:2] == [("US", 15169), (None, None)]
    assert sample.get_many(ips, "asn", default=0) == [15169, 0, 0, 0]
    assert sample.get_many(ips, "asn", "ip", default="") == [
        *((15169, "8.8.8.8"), ("", ""), ("", "")),
        ("", "203.0.112.9"),
    ]
    networks: Any = sample.get_many(ips, "network", default={})
    assert (networks[0]["asn"], networks[1]) == (15169, {})
    call: Any
    for call in (sample.get_many, sample.get):
        with pytest.raises(TypeError):
            call(ips)


def test_unknown_paths_and_arguments_in_the_wrong_order(sample: geolookup.Engine) -> None:
    for ips in (["8.8.8.8"], []):
        with pytest.raises(ValueError, match="get_many: no field 'contry'"):
            sample.get_many(ips, ["ip", "contry"])
    swapped: Any = "location.city_name", "8.8.8.8"
    table = pa.table({"ip": ["8.8.8.8"]})
    for call in (
        lambda: sample.get(*swapped),
        lambda: sample.get_many([swapped[0]], swapped[1]),
        lambda: sample.enrich(table, ["network", "8.8.8.8"]),
    ):
        with pytest.raises(ValueError, match="an address is not a field") as caught:
            call()
        assert "8.8.8.8" not in str(caught.value)


def test_no_address_and_no_iterable(sample: geolookup.Engine) -> None:
    actual = [envelope["error_code"] for envelope in sample.lookup_many(NO_ADDRESS)]
    actual += [json.loads(block)["error_code"] for block in sample.lookup_many_json(NO_ADDRESS)]
    assert actual == [10001] * 2 * len(NO_ADDRESS)

    def broken() -> Iterator[str]:
        yield from MIXED
        raise LookupError

    for call in calls(sample):
        for ips in ("8.8.8.8", b"8.8.8.8", 5, None):
            with pytest.raises(TypeError):
                call(ips)
        with pytest.raises(LookupError):
            call(broken())


def test_instants_of_each(sample: geolookup.Engine) -> None:
    instants = [0, float(AT), datetime.fromtimestamp(AT, UTC), -5] * 91
    ips = MIXED[: len(instants)]
    pairs = list(zip(ips, instants, strict=True))
    expected = [sample.lookup_json(ip, at=at) for ip, at in pairs]
    assert sample.lookup_many_json(ips, at=instants) == expected
    assert sample.lookup_many(ips, at=iter(instants)) == list(map(json.loads, expected))
    assert b"".join(sample.json_lines(ips, at=instants)).splitlines() == expected
    assert sample.get_many(ips, "time", at=instants) == [
        (json.loads(value)["data"] or {}).get("time") for value in expected
    ]
    at: Any = np.array(AT)  # of no dimensions: a number for ``lookup``, and not iterable
    expected = [sample.lookup_json(ip, at=at) for ip in MIXED]
    assert sample.lookup_many_json(MIXED, at=at) == expected
    for call in calls(sample):
        for count in (0, 1, len(MIXED) - 1, len(MIXED) + 1):
            with pytest.raises(ValueError, match="instants than there are addresses"):
                call(MIXED, at=[0] * count)
        for at, error in (("now", TypeError), (True, TypeError), (1e30, ValueError)):
            for ips in ([], ["8.8.8.8"]):
                with pytest.raises(error):
                    call(ips, at=at)
                with pytest.raises(error):
                    call(["8.8.8.8", *ips], at=[at] * (len(ips) + 1))


def test_one_call_answers_from_one_generation(tmp_path: Path) -> None:
    datasets = [numbered(tmp_path / str(number), number) for number in (1, 2)]
    path = tmp_path / "current"
    path.symlink_to(datasets[0])

    def reloading() -> Iterator[str]:
        for at in range(600):
            if at == 300:
                path.unlink()
                path.symlink_to(datasets[1])
                assert engine.reload()
            yield "8.8.8.8"

    with geolookup.open(path) as engine:
        for before, call in enumerate(calls(engine)[:2]):
            if before:
                path.unlink()
                path.symlink_to(datasets[0])
                engine.reload()
            result = call(reloading(), at=0)
            assert all(answer == result[0] for answer in result)
            assert call(["8.8.8.8"], at=0)[0] != result[0]
