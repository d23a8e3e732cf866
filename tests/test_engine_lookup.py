"""Asking an engine: any thing for an address, any instant, answers that are the caller's."""

from __future__ import annotations

import ipaddress
import json
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import geolookup
from tests.envelopes import compact
from tests.hostile import NO_ADDRESS, AddressThatSaysText, HostileText, LyingText

INVALID = 10001
AT = 1768507200


@pytest.mark.parametrize("number", range(len(NO_ADDRESS)))  # pytest would look into the things
def test_hostile_things_are_answered(sample: geolookup.Engine, number: int) -> None:
    thing = NO_ADDRESS[number]
    assert sample.lookup(thing)["error_code"] == INVALID
    assert json.loads(sample.lookup_json(thing))["error_code"] == INVALID
    for ask in (sample.data, sample.network):
        with pytest.raises(geolookup.InvalidAddressError):
            ask(thing)


@pytest.mark.parametrize("kind", [HostileText, LyingText])
@pytest.mark.parametrize("text", ["8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "8.8.8"])
def test_text_of_a_subclass(sample: geolookup.Engine, kind: type[str], text: str) -> None:
    assert compact(sample.lookup(kind(text), at=0)) == compact(sample.lookup(text, at=0))
    assert sample.lookup_json(kind(text), at=0) == sample.lookup_json(text, at=0)
    if sample.lookup(text)["success"]:
        assert type(sample.data(kind(text))["ip"]) is str
        assert sample.network(kind(text)) == sample.network(text)


def test_address_objects(sample: geolookup.Engine) -> None:
    expected = sample.lookup_json("8.8.8.8", at=0)
    for given in (ipaddress.IPv4Address("8.8.8.8"), AddressThatSaysText("8.8.8.8")):
        assert sample.lookup_json(given, at=0) == expected
        assert compact(sample.lookup(given, at=0)) == expected
        assert sample.network(given) == sample.network("8.8.8.8")


def test_the_answer_is_the_callers_own(sample: geolookup.Engine) -> None:
    before = sample.lookup_json("8.8.8.8", at=0)
    for _ in range(2):
        answer: Any = sample.lookup("8.8.8.8", at=0)
        assert compact(answer) == before
        answer["data"]["location"]["country_languages"].append("xx")
        answer["data"]["location"]["country_neighbors"].clear()
        for member in ("location", "time", "currency", "network"):
            answer["data"][member].clear()
        answer["data"].clear()
        answer.clear()
    _, record = next(sample.networks("8.8.8.8/32"))
    for member in record.values():
        member.clear()
    assert sample.lookup_json("8.8.8.8", at=0) == before


@pytest.mark.parametrize(
    "at",
    [
        AT,
        float(AT),
        AT + 0.999,
        datetime.fromtimestamp(AT, UTC),
        datetime.fromtimestamp(AT, timezone(timedelta(hours=-7, minutes=30))),
        datetime.fromtimestamp(AT + 0.9, UTC),
    ],
)
def test_at(sample: geolookup.Engine, at: Any) -> None:
    assert sample.data("8.8.8.8", at=at)["time"]["current_timestamp"] == AT
    assert sample.lookup_json("8.8.8.8", at=at) == sample.lookup_json("8.8.8.8", at=AT)


def test_at_is_floored(sample: geolookup.Engine) -> None:
    assert sample.data("8.8.8.8", at=-0.5)["time"]["current_timestamp"] == -1


def test_now(sample: geolookup.Engine) -> None:
    before = int(time.time())
    stamps = [sample.data("8.8.8.8")["time"]["current_timestamp"]]
    stamps.append(json.loads(sample.lookup_json("8.8.8.8"))["data"]["time"]["current_timestamp"])
    assert before <= stamps[0] <= stamps[1] <= int(time.time())


@pytest.mark.parametrize(
    ("at", "error"),
    [
        *[("now", TypeError), (b"0", TypeError), (True, TypeError), ([], TypeError)],
        (datetime(2026, 1, 1), TypeError),  # noqa: DTZ001 - naive is the point
        *[(1e30, ValueError), (-(10**20), ValueError), (float("nan"), ValueError)],
        (float("-inf"), ValueError),
    ],
)
@pytest.mark.parametrize("ip", ["8.8.8.8", "10.0.0.1", "nonsense"])
def test_a_bad_at_is_the_callers_error(
    sample: geolookup.Engine, ip: str, at: Any, error: type[Exception]
) -> None:
    for ask in (sample.lookup, sample.lookup_json, sample.data):
        with pytest.raises(error) as caught:
            ask(ip, at=at)
        assert ip not in str(caught.value)
