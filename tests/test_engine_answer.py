"""Answers as objects: what ``engine.answer`` returns, by either kernel."""

from __future__ import annotations

import copy
import gc
import pickle
import re
from contextlib import suppress
from datetime import datetime
from html import escape
from ipaddress import ip_address, ip_network
from operator import attrgetter
from typing import Any

import pytest

import geolookup
from geolookup.errors import ClosedError
from tests.datasets import SMALL
from tests.hostile import NO_ADDRESS
from tests.internals.contract import fields
from tests.internals.dataset import Dataset, network_of
from tests.internals.kernel import kernel, restore, state_of
from tests.kernel.modules import MODULES

AT = 1768507200
DATASET = Dataset(SMALL)
TEXTS = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "203.0.112.9", "10.0.0.1", "x")
SETTABLE = {
    *("ip", "ip_type", *fields.GROUPS, "own"),
    *("prefix", "success", "error_code", "error_message"),
}


@pytest.fixture(params=MODULES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A kernel, to which pickles of answers lead too."""
    monkeypatch.setattr(kernel, "restore", request.param.restore)
    return request.param.Kernel(DATASET)


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def values(answer: Any, group: str) -> dict[str, Any]:
    """Return the members of a group, with the local time as text."""
    actual = {name: getattr(getattr(answer, group), name) for name in members(group)}
    if actual.get("current_time") is not None:
        assert isinstance(actual["current_time"], datetime)
        actual["current_time"] = actual["current_time"].isoformat()
    return actual


def members(group: str) -> tuple[str, ...]:
    return fields.members(fields.FIELDS, group)


def test_the_members_are_those_of_the_contract(engine: Any) -> None:
    answer = engine.answer("8.8.8.8")
    assert public(answer) == {*SETTABLE, "to_dict"}
    for group in fields.GROUPS:
        assert public(getattr(answer, group)) == {*members(group)}


def check(engine: Any, ip: object) -> None:
    """Hold an answer against the envelope of ``lookup``."""
    answer, envelope = engine.answer(ip, at=AT), engine.lookup(ip, at=AT)
    assert answer.to_dict() == envelope
    assert bool(answer) is answer.success is envelope["success"]
    data: Any = envelope["data"] or {}
    for name in ("error_code", "error_message", "ip", "ip_type"):
        assert getattr(answer, name) == (envelope if "error" in name else data).get(name)
    assert answer.prefix == (network_of(state_of(engine).dataset, ip) if answer else None)
    for group in fields.GROUPS:
        expected = data.get(group, {})
        assert values(answer, group) == {name: expected.get(name) for name in members(group)}


def test_an_answer_of_each_kind(engine: Any) -> None:
    for ip in TEXTS:
        check(engine, ip)
    assert engine.answer(" 8.8.8.8:53 ", at=AT, clean=True) == engine.answer("8.8.8.8", at=AT)


def test_no_address_and_a_bad_at(engine: Any) -> None:
    """Missing values have no answer; a list, a number or an engine is a mistake of the caller."""
    for thing in (None, float("nan"), object(), "", "8.8.8.8/24"):
        answer = engine.answer(thing)
        assert (bool(answer), answer.error_code) == (False, 10001)
        assert (answer.location.city_name, answer.time.current_timestamp) == (None, None)
        assert engine.get(thing, "city") is None
        assert engine.get(thing, "city", "asn", default="") == ("", "")
    mistakes: tuple[object, ...] = (
        ["8.8.8.8"],
        ("8.8.8.8",),
        {},
        b"8.8.8.8",
        5,
        True,
        ip_network("8.8.8.8"),
        engine,
    )
    for thing in mistakes:
        for call, names in (("answer", ()), ("get", ("city",)), ("get", ("city", "asn"))):
            problem = f"^{call}: ip is of type {type(thing).__name__}; pass the text of one address"
            with pytest.raises(TypeError, match=problem):
                getattr(engine, call)(thing, *names)
    for thing in NO_ADDRESS:
        with suppress(TypeError):
            assert not engine.answer(thing)
    for at in ("now", True, datetime(2026, 1, 1), 1e30):  # noqa: DTZ001
        with pytest.raises((TypeError, ValueError)):
            engine.answer("10.0.0.1", at=at)


def test_nothing_can_be_set(engine: Any) -> None:
    for answer in map(engine.answer, TEXTS):
        views = [getattr(answer, group) for group in fields.GROUPS]
        for thing, name in (
            *((answer, name) for name in (*SETTABLE, "other", "_state")),
            *((view, name) for view in views for name in (*public(view), "other", "_answer")),
        ):
            with pytest.raises(AttributeError):
                setattr(thing, name, None)
            with pytest.raises(AttributeError):
                delattr(thing, name)
        for view in views:
            with pytest.raises(AttributeError):
                view.country  # noqa: B018


def test_a_member_that_is_not_there_names_the_near_one(engine: Any) -> None:
    for answer in map(engine.answer, TEXTS):
        for thing, owner, name, hint in (
            (answer.location, ".location", "city", "; did you mean 'city_name'?"),
            (answer.location, ".location", "citty_name", "; did you mean 'city_name'?"),
            (answer.network, ".network", "as_number", "; did you mean 'asn'?"),
            (answer.time, ".time", "timezone", "; did you mean 'zone'?"),
            (answer.currency, ".currency", "asn", "; known are code, name, symbol"),
            (answer, "", "city", "; did you mean 'location.city_name'?"),
            (answer, "", "locaton", "; did you mean 'location'?"),
            (answer, "", "__other__", ""),
        ):
            with pytest.raises(AttributeError) as caught:
                getattr(thing, name)
            assert str(caught.value) == f"geolookup.Answer{owner} has no member {name!r}{hint}"
            assert not hasattr(thing, name)
            # Else a traceback would add a name of its own.
            assert (caught.value.name, caught.value.obj) == (name, None)


def test_what_is_read_is_the_callers(engine: Any) -> None:
    answer = engine.answer("8.8.8.8", at=AT)
    for item in (answer, pickle.loads(pickle.dumps(answer))):  # noqa: S301
        before = copy.deepcopy(item.to_dict())
        languages = item.location.country_languages
        assert languages
        languages.append("xx")
        envelope: Any = item.to_dict()
        envelope["data"]["location"]["country_neighbors"].clear()
        envelope["data"]["network"].clear()
        assert item.to_dict() == before


def test_copies_and_pickles(engine: Any) -> None:
    members_of = attrgetter(*SETTABLE)
    for answer in (engine.answer(ip, at=AT) for ip in TEXTS):
        assert copy.copy(answer) is answer is copy.deepcopy(answer)
        once = pickle.loads(pickle.dumps(answer))  # noqa: S301
        twice = pickle.loads(pickle.dumps(once))  # noqa: S301
        for item in (once, twice):
            assert type(item) is type(answer)
            assert (item, hash(item), repr(item)) == (answer, hash(answer), repr(answer))
            assert (bool(item), item.to_dict()) == (bool(answer), answer.to_dict())
            assert (members_of(item), hash(members_of(item))) == (
                (members_of(answer), hash(members_of(answer)))
            )
            for view in (getattr(answer, group) for group in fields.GROUPS):
                assert pickle.loads(pickle.dumps(view)) == view  # noqa: S301


def test_equality(engine: Any) -> None:
    answer = engine.answer("8.8.8.8", at=AT)
    assert answer == engine.answer(ip_address("8.8.8.8"), at=AT)
    assert len({answer, engine.answer("8.8.8.8", at=AT)}) == 1
    assert answer != engine.answer("8.8.8.8", at=AT + 1)
    assert answer != engine.answer("8.8.4.4", at=AT)
    assert answer != answer.to_dict()
    assert answer.location == engine.answer("8.8.8.8", at=0).location
    assert answer.location != answer.network
    assert answer.location != "8.8.8.8"


def test_a_repr_does_not_act_on_a_terminal(engine: Any) -> None:
    data: Any = engine.lookup("8.8.8.8", at=AT)["data"]
    data["location"]["city_name"] = "\x1b]0;b\x07\x9b\n"
    answer = restore(data, "8.8.8.0/24", 0)
    assert repr(answer).isprintable()
    assert repr(answer.location).isprintable()
    for ip in (*TEXTS[:-1], "nonsense"):
        answer = engine.answer(ip)
        views = answer.location, answer.network, answer.time, answer.currency
        assert ip not in f"{answer!r} {answer} {views!r}"
    assert repr(engine.answer("10.0.0.1")) == "<geolookup.Answer error 10002>"
    assert repr(engine.answer("203.0.112.9")) == "<geolookup.Answer unknown>"
    answer = engine.answer("8.8.8.8")
    assert repr(answer) == "<geolookup.Answer US, Mountain View, AS15169>"
    assert repr(answer.currency) == "CurrencyView(code='USD', name='US Dollar', symbol='$')"


def test_the_card_of_a_notebook(engine: Any) -> None:
    card = engine.answer("8.8.8.8", at=AT)._repr_html_()
    for text in ("Mountain View", "8.8.8.8", "8.8.8.0/24", "2026-01-15", "AS15169", "USD"):
        assert text in card
    assert "10002" in engine.answer("10.0.0.1")._repr_html_()
    assert "None" not in engine.answer("203.0.112.9")._repr_html_()
    data: Any = engine.lookup("8.8.8.8", at=AT)["data"]
    data["location"] |= dict.fromkeys(("city_name", "region_name", "country_name"), "Singapore")
    data["network"] |= {"asn_organization": None, "isp": None, "organization": "Acme"}
    card = restore(data, "8.8.8.0/24", 0)._repr_html_()
    assert card.count("Singapore") == 1
    assert "AS15169 Acme" in card


def test_a_card_escapes_what_a_dataset_says(engine: Any) -> None:
    for attack in ("<script>alert(1)</script>", '"><img src=x onerror=a()>', "&lt;"):
        data: Any = engine.lookup("8.8.8.8", at=AT)["data"]
        for group in fields.GROUPS:
            for name, value in data[group].items():
                if isinstance(value, str) and name != "current_time":
                    data[group][name] = attack
        card = restore(data, "8.8.8.0/24", 0)._repr_html_()
        assert escape(attack) in card
        without = card.replace(escape(attack), "")
        assert not re.search(
            r"<(?!/?(table|caption|tbody|tr|th|td)\b)|https?:|&(?!amp|lt|gt|quot)", without
        )


def test_the_collector_does_not_visit_answers() -> None:
    """A million of them cost no collections. Envelopes can be in cycles: it does visit these."""
    with geolookup.open(SMALL) as engine:
        answer = engine.answer("8.8.8.8")
        tracked = [answer, answer.location, answer.network, answer.time, answer.currency]
        assert any(map(gc.is_tracked, tracked)) is (engine.kernel == "python")
        envelope: Any = engine.lookup("8.8.8.8")
        data = envelope["data"]
        within = (envelope, data, data["location"], data["location"]["country_languages"])
        assert all(map(gc.is_tracked, within))


def test_an_answer_outlives_its_engine() -> None:
    engine = geolookup.open(SMALL)
    answer = engine.answer("8.8.8.8", at=AT)
    before = engine.lookup("8.8.8.8", at=AT)
    engine.close()
    with pytest.raises(ClosedError):
        engine.answer("8.8.8.8")
    assert answer.to_dict() == before
    assert answer.prefix is not None


def test_an_answer_is_of_one_instant(engine: Any) -> None:
    answer = engine.answer("8.8.8.8", at=AT)
    time = answer.time
    engine.lookup("8.8.8.8")  # of another second: the kernel replaces the time that it keeps
    assert time.current_timestamp == AT
    assert time.current_time is not None
    assert time.current_time.timestamp() == AT
    assert time.current_time.tzinfo is not None
