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


def test_hostile_things_are_answered(sample: geolookup.Engine) -> None:
    for thing in NO_ADDRESS:
        assert sample.lookup(thing)["error_code"] == INVALID
        assert json.loads(sample.lookup_json(thing))["error_code"] == INVALID
        with pytest.raises(geolookup.InvalidAddressError):
            sample.explain(thing)


def test_text_of_a_subclass_and_address_objects(sample: geolookup.Engine) -> None:
    for text in ("8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "8.8.8"):
        expected = sample.lookup_json(text, at=0)
        for item in (HostileText(text), LyingText(text)):
            assert compact(sample.lookup(item, at=0)) == sample.lookup_json(item, at=0) == expected
            if sample.lookup(text)["success"]:
                assert type(sample.get(item, "ip")) is str
                assert sample.answer(item).prefix == sample.answer(text).prefix
    for address in (ipaddress.IPv4Address("8.8.8.8"), AddressThatSaysText("8.8.8.8")):
        expected = sample.lookup_json("8.8.8.8", at=0)
        assert compact(sample.lookup(address, at=0)) == expected
        assert sample.lookup_json(address, at=0) == expected
        assert sample.answer(address).prefix == sample.answer("8.8.8.8").prefix


def test_the_answer_is_the_callers_own(sample: geolookup.Engine) -> None:
    before = sample.lookup_json("8.8.8.8", at=0)
    answers: list[Any] = [
        sample.lookup("8.8.8.8", at=0),
        *sample.lookup_many(["8.8.8.8"] * 9, at=0),
    ]
    for answer in answers:
        assert compact(answer) == before
        answer["data"]["location"]["country_languages"].append("xx")
        answer["data"]["location"]["country_neighbors"].clear()
        for member in ("location", "time", "currency", "network"):
            answer["data"][member].clear()
        answer["data"].clear()
        answer.clear()
    _, groups = next(sample.prefixes(within="8.8.8.8/32", by=["location", "currency", "network"]))
    for group in groups:
        group.clear()
    assert sample.lookup_json("8.8.8.8", at=0) == before


def test_at(sample: geolookup.Engine) -> None:
    instants: tuple[Any, ...] = (
        *(AT, float(AT), AT + 0.999, datetime.fromtimestamp(AT, UTC)),
        datetime.fromtimestamp(AT, timezone(timedelta(hours=-7, minutes=30))),
        datetime.fromtimestamp(AT + 0.9, UTC),
    )
    for at in instants:
        assert sample.get("8.8.8.8", "time.current_timestamp", at=at) == AT
        assert sample.lookup_json("8.8.8.8", at=at) == sample.lookup_json("8.8.8.8", at=AT)
    assert sample.get("8.8.8.8", "time.current_timestamp", at=-0.5) == -1
    before = int(time.time())
    stamps: list[Any] = [sample.get("8.8.8.8", "time.current_timestamp")]
    stamps.append(json.loads(sample.lookup_json("8.8.8.8"))["data"]["time"]["current_timestamp"])
    assert before <= stamps[0] <= stamps[1] <= int(time.time())


def test_a_bad_at_is_the_callers_error(sample: geolookup.Engine) -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - that is the point
    types: tuple[Any, ...] = ("now", b"0", True, [], naive)
    values: tuple[Any, ...] = (1e30, -(10**20), float("nan"), float("-inf"))
    for at in (*types, *values):
        for ask in (sample.lookup, sample.lookup_json):
            for ip in ("8.8.8.8", "10.0.0.1", "nonsense"):
                with pytest.raises(ValueError if at in values else TypeError) as caught:
                    ask(ip, at=at)
                assert ip not in str(caught.value)
