"""Answers as objects: what ``engine.answer`` returns, by either kernel."""

from __future__ import annotations

import copy
import pickle
import re
from datetime import datetime
from html import escape
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from geolookup.contract import fields
from geolookup.errors import ClosedError
from geolookup.kernel.answers import restored
from tests.datasets import SMALL
from tests.hostile import NO_ADDRESS

AT = 1768507200
TEXTS = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "203.0.112.9", "10.0.0.1", "x")
SETTABLE = {"ip", "ip_type", *fields.GROUPS, "prefix", "success", "error_code", "error_message"}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def values(answer: Any, group: str) -> dict[str, Any]:
    """Return the members of a group, with the local time as text."""
    found = {name: getattr(getattr(answer, group), name) for name in members(group)}
    if found.get("current_time") is not None:
        assert isinstance(found["current_time"], datetime)
        found["current_time"] = found["current_time"].isoformat()
    return found


def members(group: str) -> tuple[str, ...]:
    return fields.members(fields.FIELDS, group)


def test_the_members_are_those_of_the_contract(sample: geolookup.Engine) -> None:
    answer = sample.answer("8.8.8.8")
    assert public(answer) == {*SETTABLE, "to_dict"}
    for group in fields.GROUPS:
        assert public(getattr(answer, group)) == {*members(group)}


def check(engine: geolookup.Engine, ip: object) -> None:
    """Hold an answer against the envelope of ``lookup``."""
    answer, envelope = engine.answer(ip, at=AT), engine.lookup(ip, at=AT)
    assert answer.to_dict() == envelope
    assert bool(answer) is answer.success is envelope["success"]
    assert answer.error_code == envelope["error_code"]
    assert answer.error_message == envelope["error_message"]
    data: Any = envelope["data"] or {}
    assert (answer.ip, answer.ip_type) == (data.get("ip"), data.get("ip_type"))
    assert answer.prefix == (engine.network(ip) if answer else None)
    for group in fields.GROUPS:
        expected = data.get(group, {})
        assert values(answer, group) == {name: expected.get(name) for name in members(group)}


@given(
    st.one_of(
        st.integers(0, 2**32 - 1).map(lambda value: str(ip_address(value))),
        st.integers(0, 2**128 - 1).map(ip_address),
        st.integers(0x2001 << 112, 0x2A10 << 112).map(lambda value: str(ip_address(value))),
    )
)
def test_an_answer_says_what_lookup_says(ip: object) -> None:
    check(geolookup._engine(), ip)


@pytest.mark.parametrize("ip", TEXTS)
def test_an_answer_of_each_kind(sample: geolookup.Engine, ip: str) -> None:
    check(sample, ip)


def test_no_address_raises(sample: geolookup.Engine) -> None:
    for thing in NO_ADDRESS:
        answer = sample.answer(thing)
        assert (bool(answer), answer.error_code) == (False, 10001)
        assert (answer.location.city_name, answer.time.current_timestamp) == (None, None)


@pytest.mark.parametrize("at", ["now", True, datetime(2026, 1, 1), 1e30])  # noqa: DTZ001
def test_a_bad_at_is_the_callers_error(sample: geolookup.Engine, at: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        sample.answer("10.0.0.1", at)


@pytest.mark.parametrize("ip", TEXTS)
def test_nothing_can_be_set(sample: geolookup.Engine, ip: str) -> None:
    answer = sample.answer(ip)
    views = [getattr(answer, group) for group in fields.GROUPS]
    for thing, name in (
        *((answer, name) for name in (*SETTABLE, "other", "_state")),
        *((view, name) for view in views for name in (*public(view), "other", "_answer")),
    ):
        with pytest.raises(AttributeError):
            setattr(thing, name, None)
        with pytest.raises(AttributeError):
            delattr(thing, name)
    with pytest.raises(AttributeError):
        answer.location.country  # type: ignore[attr-defined]  # noqa: B018


def test_what_is_read_is_the_callers(sample: geolookup.Engine) -> None:
    answer = sample.answer("8.8.8.8", AT)
    for each in (answer, pickle.loads(pickle.dumps(answer))):  # noqa: S301
        before = copy.deepcopy(each.to_dict())
        languages = each.location.country_languages
        assert languages
        languages.append("xx")
        envelope: Any = each.to_dict()
        envelope["data"]["location"]["country_neighbors"].clear()
        envelope["data"]["network"].clear()
        assert each.to_dict() == before


@pytest.mark.parametrize("ip", TEXTS)
def test_copies_and_pickles(sample: geolookup.Engine, ip: str) -> None:
    answer = sample.answer(ip, AT)
    assert copy.copy(answer) is answer
    assert copy.deepcopy(answer) is answer
    restored = pickle.loads(pickle.dumps(answer))  # noqa: S301
    again = pickle.loads(pickle.dumps(restored))  # noqa: S301
    for each in (restored, again):
        assert type(each) is type(answer)
        assert (each, hash(each), repr(each)) == (answer, hash(answer), repr(answer))
        assert each.to_dict() == answer.to_dict()
        assert each.prefix == answer.prefix
        for group in fields.GROUPS:
            view = getattr(answer, group)
            assert getattr(each, group) == view
            assert hash(getattr(each, group)) == hash(view)
            assert pickle.loads(pickle.dumps(view)) == view  # noqa: S301


def test_the_type_is_public(sample: geolookup.Engine) -> None:
    assert isinstance(sample.answer("8.8.8.8"), geolookup.Answer)
    assert isinstance(sample.answer("10.0.0.1"), geolookup.Answer)


def test_clean(sample: geolookup.Engine) -> None:
    assert sample.answer(" 8.8.8.8:53 ", AT, clean=True) == sample.answer("8.8.8.8", AT)


def test_equality(sample: geolookup.Engine) -> None:
    answer = sample.answer("8.8.8.8", AT)
    assert answer == sample.answer(ip_address("8.8.8.8"), AT)
    assert len({answer, sample.answer("8.8.8.8", AT)}) == 1
    assert answer != sample.answer("8.8.8.8", AT + 1)
    assert answer != sample.answer("8.8.4.4", AT)
    assert answer != answer.to_dict()
    assert answer.location == sample.answer("8.8.8.8", 0).location
    assert answer.location != answer.network
    assert answer.location != "8.8.8.8"


@pytest.mark.parametrize("ip", TEXTS)
def test_a_repr_does_not_hold_the_address(sample: geolookup.Engine, ip: str) -> None:
    answer = sample.answer(ip)
    assert ip not in f"{answer!r} {answer} {answer.location!r} {answer.network!r} {answer.time!r}"


def test_reprs(sample: geolookup.Engine) -> None:
    assert repr(sample.answer("10.0.0.1")) == "<geolookup.Answer error 10002>"
    assert repr(sample.answer("203.0.112.9")) == "<geolookup.Answer unknown>"
    answer = sample.answer("8.8.8.8")
    assert repr(answer) == "<geolookup.Answer US, Mountain View, AS15169>"
    assert repr(answer.currency) == "CurrencyView(code='USD', name='US Dollar', symbol='$')"


def test_a_repr_does_not_act_on_a_terminal(sample: geolookup.Engine) -> None:
    data: Any = sample.lookup("8.8.8.8", at=AT)["data"]
    data["location"]["city_name"] = "\x1b]0;b\x07\x9b\n"
    answer = restored(data, "8.8.8.0/24", 0)
    assert repr(answer).isprintable()
    assert repr(answer.location).isprintable()


def test_the_card_of_a_notebook(sample: geolookup.Engine) -> None:
    card = sample.answer("8.8.8.8", AT)._repr_html_()
    for text in ("Mountain View", "8.8.8.8", "8.8.8.0/24", "2026-01-15", "AS15169", "USD"):
        assert text in card
    assert "10002" in sample.answer("10.0.0.1")._repr_html_()
    assert "None" not in sample.answer("203.0.112.9")._repr_html_()


def test_a_card_names_the_place_once_and_who_uses_the_network(sample: geolookup.Engine) -> None:
    data: Any = sample.lookup("8.8.8.8", at=AT)["data"]
    data["location"] |= dict.fromkeys(("city_name", "region_name", "country_name"), "Singapore")
    data["network"] |= {"asn_organization": None, "isp": None, "organization": "Acme"}
    card = restored(data, "8.8.8.0/24", 0)._repr_html_()
    assert card.count("Singapore") == 1
    assert "AS15169 Acme" in card


@pytest.mark.parametrize(
    "attack", ["<script>alert(1)</script>", '"><img src=x onerror=a()>', "&lt;"]
)
def test_a_card_escapes_what_a_dataset_says(sample: geolookup.Engine, attack: str) -> None:
    data: Any = sample.lookup("8.8.8.8", at=AT)["data"]
    for group in fields.GROUPS:
        for name, value in data[group].items():
            if isinstance(value, str) and name != "current_time":
                data[group][name] = attack
    card = restored(data, "8.8.8.0/24", 0)._repr_html_()
    assert escape(attack) in card
    without = card.replace(escape(attack), "")
    assert not re.search(
        r"<(?!/?(table|caption|tbody|tr|th|td)\b)|https?:|&(?!amp|lt|gt|quot)", without
    )


def test_an_answer_outlives_its_engine() -> None:
    engine = geolookup.open(SMALL)
    answer = engine.answer("8.8.8.8", AT)
    before = engine.lookup("8.8.8.8", at=AT)
    engine.close()
    with pytest.raises(ClosedError):
        engine.answer("8.8.8.8")
    assert answer.to_dict() == before
    assert answer.prefix is not None


def test_an_answer_is_of_one_instant(sample: geolookup.Engine) -> None:
    answer = sample.answer("8.8.8.8", AT)
    time = answer.time
    sample.lookup("8.8.8.8")  # of another second: the kernel replaces the time that it keeps
    assert time.current_timestamp == AT
    assert time.current_time is not None
    assert time.current_time.timestamp() == AT
    assert time.current_time.tzinfo is not None
