"""The answer for a client: looked up on demand, and no exception for an application."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import MutableMapping
from operator import attrgetter
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import geolookup
from geolookup.errors import DatasetError, SettingsError
from geolookup.integrations.middleware import AsgiMiddleware, ClientAnswer, WsgiMiddleware
from tests.datasets import SMALL
from tests.own_sources import own_dataset

IP, PROXY = "8.8.8.8", "10.0.0.1"


def asgi(
    engine: geolookup.Engine | None, scope: dict[str, Any], proxies: tuple[str, ...] = ()
) -> Any:
    """Return the answer in the scope of an application."""
    answers = []

    async def application(scope: MutableMapping[str, Any], _receive: Any, _send: Any) -> None:
        answers.append(scope.get("geo"))

    middleware = AsgiMiddleware(application, engine, trusted_proxies=proxies)
    asyncio.run(middleware({"type": "http", "headers": [], **scope}, None, None))  # type: ignore[arg-type]
    return answers[0]


def wsgi(
    engine: geolookup.Engine | None, environ: dict[str, Any], proxies: tuple[str, ...] = ()
) -> Any:
    """Return the answer in the environment of an application."""
    answers = []

    def application(environ: dict[str, Any], _start_response: Any) -> list[bytes]:
        answers.append(environ["geolookup.geo"])
        return []

    WsgiMiddleware(application, engine, trusted_proxies=proxies)(environ, None)  # type: ignore[arg-type]
    return answers[0]


def clients(engine: geolookup.Engine, address: str) -> tuple[Any, Any]:
    return asgi(engine, {"client": (address, 1)}), wsgi(engine, {"REMOTE_ADDR": address})


def test_the_answer_is_that_of_the_engine(sample: geolookup.Engine) -> None:
    read = attrgetter("success", "ip", "prefix", "error_code", "location", "network")
    for address in (IP, "10.0.0.1", "", "x", "fe80::1"):
        answer = sample.answer(address, at=0)
        for geo in clients(sample, address.replace("fe80::1", "fe80::1%2")):  # a scope is ignored
            assert (bool(geo), read(geo)) == (bool(answer), read(answer)), address
            assert geo.to_dict()["error_code"] == answer.error_code
            assert not geo or geo.time.current_time.tzinfo


def test_a_misspelt_member_names_the_near_one(sample: geolookup.Engine) -> None:
    """Alike for a client with an answer, a private one, and an engine that is closed."""
    closed = geolookup.open(SMALL)
    clients: list[ClientAnswer] = [asgi(sample, {"client": (ip, 1)}) for ip in (IP, "10.0.0.1")]
    clients.append(asgi(closed, {"client": (IP, 1)}))
    closed.close()
    for geo in clients:
        with pytest.raises(AttributeError, match=r"Answer has no member 'locaton'.*'location'"):
            _ = geo.locaton  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match=r"location has no member 'city'.*'city_name'"):
            _ = geo.location.city  # type: ignore[attr-defined]


def test_sockets_without_addresses(sample: geolookup.Engine) -> None:
    headers = [(b"x-forwarded-for", IP.encode())]
    environ = {"HTTP_X_FORWARDED_FOR": IP}
    for client in (None, ("", 0), (None, 0)):
        assert not asgi(sample, {"client": client, "headers": headers})
        assert asgi(sample, {"client": client, "headers": headers}, ("unix:",)).ip == IP
    for more in ({}, {"REMOTE_ADDR": ""}, {"REMOTE_ADDR": "localhost"}, {"REMOTE_ADDR": None}):
        assert not wsgi(sample, {**environ, **more})
        assert wsgi(sample, {**environ, **more}, ("unix:",)).ip == IP


def test_headers_of_proxies(sample: geolookup.Engine) -> None:
    for name, value, ip in (
        ("X-Forwarded-For", f"1.2.3.4, {IP}:51000", IP),
        ("X-Forwarded-For", "\u20ac", None),
        ("Forwarded", f'for=1.2.3.4, for="{IP}:80"', IP),
    ):
        headers = [(name.lower().encode(), value.encode("utf-8"))]
        scope = {"client": (PROXY, 1), "headers": headers}
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value, "REMOTE_ADDR": PROXY}
        assert asgi(sample, scope, (PROXY,)).ip == wsgi(sample, environ, (PROXY,)).ip == ip, value
        assert not asgi(sample, scope)
        assert not wsgi(sample, environ)
    assert not wsgi(sample, {**environ, "HTTP_X_FORWARDED_FOR": "1.1.1.1"}, (PROXY,))


def test_web_sockets_have_an_answer_and_the_life_of_a_server_has_none(
    sample: geolookup.Engine,
) -> None:
    assert asgi(sample, {"type": "websocket", "client": (IP, 1)}).ip == IP
    assert asgi(sample, {"type": "lifespan"}) is None


class Counting:
    def __init__(self, engine: geolookup.Engine) -> None:
        self._engine, self.asked = engine, 0

    def answer(self, ip: object) -> object:
        self.asked += 1
        return self._engine.answer(ip)


def test_nothing_is_looked_up_until_it_is_asked_for(sample: geolookup.Engine) -> None:
    engine = Counting(sample)
    geo = wsgi(engine, {"REMOTE_ADDR": IP})  # type: ignore[arg-type]
    before = engine.asked
    assert IP not in repr(geo)
    copy.copy(geo)
    assert engine.asked == before
    assert geo.location.country_code
    assert geo
    assert geo.network.asn
    assert engine.asked == before + 1


def test_a_closed_engine_gives_an_answer_without_values(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geolookup.integrations.middleware.monotonic", lambda: 5.0)
    engine = geolookup.open(SMALL)
    answers: list[ClientAnswer] = []

    def application(environ: dict[str, Any], _start_response: Any) -> list[bytes]:
        answers.append(environ["geolookup.geo"])
        return []

    middleware = WsgiMiddleware(application, engine)
    with caplog.at_level(logging.ERROR, "geolookup"):
        for _ in range(3):
            middleware({"REMOTE_ADDR": IP}, None)  # type: ignore[arg-type]
        engine.close()
        for geo in answers:
            _assert_unavailable(geo)
    assert [record.getMessage() for record in caplog.records] == [
        "the engine is closed; open the dataset again"
    ]


def _assert_unavailable(geo: ClientAnswer) -> None:
    assert not geo
    assert geo.success is False
    assert geo.error_code is None
    assert geo.error_message
    assert "see the log 'geolookup'" in geo.error_message
    assert geo.location.country_code is None
    assert geo.prefix is None
    envelope = geo.to_dict()
    assert (envelope["success"], envelope["error"], envelope["data"]) == (False, True, None)


@pytest.mark.parametrize("file", ["location.arrow", "network.arrow", "own.arrow"])
def test_damaged_rows_give_an_answer_without_values(tmp_path: Path, file: str) -> None:
    is_own = file == "own.arrow"
    folder = copytree(own_dataset() if is_own else SMALL, tmp_path / "dataset")
    damaged = (folder / file).read_bytes().replace(b'"', b"'")
    (folder / file).write_bytes(damaged)
    with geolookup.open(folder) as engine:
        with pytest.raises(DatasetError):
            _ = engine.own("8.8.8.9") if is_own else engine.lookup(IP)
        for geo in clients(engine, "8.8.8.9" if is_own else IP):
            if is_own:
                assert (geo.success, geo.own.site_id, geo.error_code) == (False, None, None)
            else:
                _assert_unavailable(geo)


def test_what_is_wrong_shows_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^trusted_proxies 'x' is not a network"):
        wsgi(None, {}, ("x",))
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(tmp_path))
    with pytest.raises(DatasetError):
        wsgi(None, {})


#: Client: its site, country and error; own columns of private clients are known too.
OWN = {
    "10.1.2.3": ("Branch", None, 10002),
    "100.64.0.1": ("CGNAT", None, 10002),
    "fd00::1": ("ULA", None, 10002),
    "127.0.0.1": (None, None, 10002),
    "8.8.8.9": ("Mountain View", "US", None),
    "": (None, None, 10001),
}


def test_own_columns_of_clients(sample: geolookup.Engine) -> None:
    with geolookup.open(own_dataset()) as engine:
        for address, (site, country, code) in OWN.items():
            for geo in clients(engine, address):
                assert geo.own.site_id == site
                assert (geo.location.country_code, geo.error_code) == (country, code)
                assert bool(geo) == (code is None)
                with pytest.raises(AttributeError, match="did you mean 'site_id'"):
                    _ = geo.own.site
                assert "own" not in geo.to_dict()
        (geo, _), (earlier, _) = clients(engine, "10.1.2.3"), clients(engine, "10.1.2.3")
        assert earlier.own.site_id == "Branch"
    assert (geo.own.site_id, geo.error_code) == (None, None)  # closed
    for geo in clients(sample, IP):
        with pytest.raises(AttributeError, match="has no member 'site_id'; declare it"):
            _ = geo.own.site_id
